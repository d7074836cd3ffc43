//! The pre-push protocol: what git says on standard input, and what of it is new to the remote. Nothing here asks the
//! network.

use super::objects::Relation;
use super::{GitError, Objects, Refs, Repo};

/// The variable that asks the hook to say a word back and to refuse, so that it is seen to run.
pub const PROOF: &str = "ENDWELL_PROOF";

/// One ref that is about to be pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedRef {
    /// As git was given it: a ref, `HEAD`, an expression; only for messages.
    pub local_ref: String,
    /// `None`: the remote ref is deleted.
    pub local_id: Option<String>,
    pub remote_ref: String,
    /// `None`: the remote has no such ref yet.
    pub remote_id: Option<String>,
}

/// A line that is not of the protocol's form.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of git's input is not `LOCAL-REF LOCAL-ID REMOTE-REF REMOTE-ID`")]
pub struct Malformed {
    line: usize,
}

/// Reads git's lines.
pub fn read(input: &[u8]) -> Result<Vec<PushedRef>, Malformed> {
    let lines = input.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines.map(|(index, line)| read_line(line).ok_or(Malformed { line: index + 1 })).collect()
}

fn read_line(line: &[u8]) -> Option<PushedRef> {
    let text = String::from_utf8_lossy(line);
    // the local ref may be any expression, blanks included: the three other fields are counted from the end
    let mut fields = text.rsplitn(4, ' ');
    let (remote_id, remote_ref, local_id, local_ref) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    if local_ref.is_empty() || remote_ref.is_empty() {
        return None;
    }
    Some(PushedRef {
        local_ref: local_ref.to_owned(),
        local_id: id(local_id)?,
        remote_ref: remote_ref.to_owned(),
        remote_id: id(remote_id)?,
    })
}

/// An object id; zeros of either length mean none.
#[expect(clippy::option_option, reason = "no id and a bad id are two things")]
fn id(text: &str) -> Option<Option<String>> {
    let well_formed = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    well_formed.then(|| Some(text.to_owned()).filter(|text| text.bytes().any(|byte| byte != b'0')))
}

/// From where on a pushed commit is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The net difference from this commit.
    Commit(String),
    /// Everything: the remote has nothing of it.
    Nothing,
    /// The history is longer than the limit: the net difference from its newest commits' start.
    Capped { from: String, commits: usize },
}

/// Commits of a history that the remote has never seen, at most.
const CAP: usize = 1_000;

/// Finds where the new part of a pushed commit begins: at the remote's own commit, else at what the tracking refs of
/// that remote (else of all remotes) have in common with it.
pub fn start(
    repo: &Repo,
    objects: &Objects,
    refs: &Refs,
    remote: &str,
    pushed: (&str, Option<&str>),
) -> Result<Start, GitError> {
    let (tip, remote_id) = pushed;
    if let Some(old) = remote_id
        && objects.has(old)
        && let Some(commit) = objects.peel_to_commit(old)?
    {
        return Ok(Start::Commit(commit));
    }
    let names = remote_names(repo, remote)?;
    let of_remote = |name: &str| {
        names
            .iter()
            .any(|remote| name.strip_prefix(remote.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    let own: Vec<&str> = refs.tracking().filter(|(name, _)| of_remote(name)).map(|(_, id)| id).collect();
    let all: Vec<&str> = refs.tracking().map(|(_, id)| id).collect();
    for tips in [own, all] {
        if !tips.is_empty()
            && let Relation::MergeBase(base) = objects.relation_to_any(tip, &tips)?
        {
            return Ok(Start::Commit(base));
        }
    }
    let history = objects.commits_since(None, tip, CAP + 1)?;
    Ok(match history.get(CAP) {
        Some(from) => Start::Capped { from: from.clone(), commits: CAP },
        None => Start::Nothing,
    })
}

/// The configured remotes that a push's first argument means: its name, or every remote with that URL.
fn remote_names(repo: &Repo, remote: &str) -> Result<Vec<String>, GitError> {
    if !remote.contains(['/', ':', '\\']) {
        return Ok(vec![remote.to_owned()]);
    }
    let output = repo.git_any(&["config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$"])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let same =
        text.split('\0').filter_map(|record| record.split_once('\n')).filter(|(_, url)| *url == remote);
    Ok(same
        .filter_map(|(key, _)| key.strip_prefix("remote.")?.rsplit_once('.').map(|(name, _)| name.to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const ZERO: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn every_form_of_a_line_is_read() {
        let text = format!("refs/heads/main {A} refs/heads/main {ZERO}\n(delete) {ZERO} refs/heads/b {A}\n");
        let refs = read(text.as_bytes()).unwrap();
        assert_eq!(refs[0].remote_id, None);
        assert_eq!(refs[1].local_id, None);
        let spaced = format!("HEAD^{{/a b}} {A} refs/heads/x {ZERO}");
        assert_eq!(read(spaced.as_bytes()).unwrap()[0].local_ref, "HEAD^{/a b}");
        assert!(read(b"").unwrap().is_empty());
        for bad in ["x", "a b c d", &format!("a {A} r zz")] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let _read = read(&bytes);
        }
    }
}
