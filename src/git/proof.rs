//! The proof that git starts our hook: a dry push to a scratch repository, which reaches no remote and moves no ref. The
//! hook says a word back and refuses, so that no other hook behind it runs.

use std::ffi::OsString;
use std::time::Duration;

use super::push::PROOF;
use super::{ALWAYS, GitError, Repo};
use crate::process::stream::{Group, Keep, Stdin, Supervised, Tee};

/// What other hooks in front of ours may take.
const LIMIT: Duration = Duration::from_secs(30);

/// What a dry push showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// git started the hook.
    Fires,
    /// It did not; git's or another hook's last line.
    Silent(String),
    /// Nothing can be pushed here yet.
    NoCommit,
}

impl Repo {
    /// Pushes HEAD to a scratch repository, dry. `nonce` is what the hook has to say back; `only_config`: hooks from
    /// files are left out.
    pub fn prove_hook(&self, nonce: &str, only_config: bool) -> Result<Proof, GitError> {
        if self.head_commit()?.is_none() {
            return Ok(Proof::NoCommit);
        }
        let scratch = tempfile::Builder::new().prefix("endwell-proof-").tempdir().map_err(GitError::Start)?;
        let place = scratch.path().as_os_str();
        let format = if self.sha256 { "--object-format=sha256" } else { "--object-format=sha1" };
        let mut init: Vec<OsString> =
            ["init", "--quiet", "--bare", "--template=", format].iter().map(OsString::from).collect();
        init.push(place.to_owned());
        self.git(&init)?;
        let mut args: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
        args.extend(["-c", "protocol.file.allow=always", "-c", "push.gpgSign=false"].map(OsString::from));
        if only_config {
            args.extend(["-c", "core.hooksPath=/dev/null"].map(OsString::from));
        }
        args.extend(["push", "--dry-run", "--quiet", "--recurse-submodules=no"].map(OsString::from));
        args.extend([place.to_owned(), "HEAD:refs/heads/endwell-proof".into()]);
        let mut env = self.vars.clone();
        env.insert(PROOF.into(), nonce.into());
        let supervised = Supervised {
            program: "git".into(),
            args,
            dir: self.top.clone(),
            env,
            timeout: Some(LIMIT),
            tee: Tee::Quiet,
            stdin: Stdin::Closed,
            group: Group::OwnEndsWithChild,
            keep: Keep::TESTS,
        };
        let ended = supervised.run_watched(&mut |_| {}).map_err(GitError::Start)?;
        let told = format!("{}\n{}", ended.stderr.text(), ended.stdout.text());
        let word = format!("{PROOF} {nonce}");
        if told.lines().any(|line| line.trim() == word) {
            return Ok(Proof::Fires);
        }
        let last = told.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        Ok(Proof::Silent(crate::ui::plain(last)))
    }
}
