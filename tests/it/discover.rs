//! Finding the repository without git must give what git gives, or leave it to git.

use std::ffi::OsString;
use std::path::Path;

use endwell::env::Env;
use endwell::git::Repo;

use crate::common::Sandbox;

fn env(sandbox: &Sandbox, dir: &Path, path: Option<OsString>, more: &[(&str, &str)]) -> Env {
    let mut vars: Vec<(OsString, OsString)> = vec![
        ("HOME".into(), sandbox.root().join("home").into()),
        ("GIT_CONFIG_GLOBAL".into(), sandbox.root().join("home/.gitconfig").into()),
        ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
    ];
    vars.extend(path.map(|path| ("PATH".into(), path)));
    vars.extend(more.iter().map(|(key, value)| (OsString::from(key), OsString::from(value))));
    Env::made_of(dir.to_owned(), vars)
}

/// What is found, in words that can be compared.
fn found(repo: Result<Repo, endwell::git::GitError>) -> String {
    match repo {
        Ok(repo) => format!(
            "{} {} {} shallow={} files={} sha256={}",
            repo.top.display(),
            repo.git_dir.display(),
            repo.common_dir.display(),
            repo.shallow,
            repo.ref_files,
            repo.sha256
        ),
        Err(error) => format!("error: {error}"),
    }
}

/// Many layouts: how each is made from a repository `repo`, and the folder to look from.
const LAYOUTS: [(&str, &str, &str); 22] = [
    ("plain", "", "repo"),
    ("folder below", "mkdir -p a/b", "repo/a/b"),
    ("link to it", "ln -s repo ../link", "link"),
    ("linked work tree", "git worktree add -q ../tree", "tree"),
    ("below a linked work tree", "git worktree add -q ../tree && mkdir ../tree/x", "tree/x"),
    ("in the git folder", "", "repo/.git"),
    ("in its hooks", "", "repo/.git/hooks"),
    ("outside", "mkdir ../out", "out"),
    ("bare", "git clone -q --bare . ../bare", "bare"),
    ("bare inside", "git clone -q --bare . inner", "repo/inner"),
    ("bare by its settings", "git config core.bare true", "repo"),
    ("nested", "git init -q nested", "repo/nested"),
    ("broken nested", "mkdir -p nested/.git", "repo/nested"),
    ("submodule", "git -c protocol.file.allow=always submodule --quiet add ../repo sub", "repo/sub"),
    ("separate git folder", "git init -q --separate-git-dir ../apart", "repo"),
    ("shallow", "git clone -q --depth 1 file://$PWD ../shallow", "shallow"),
    ("SHA-256", "git init -q --object-format=sha256 ../big", "big"),
    ("reftable", "git init -q --ref-format=reftable ../table || git init -q ../table", "table"),
    ("work tree elsewhere", "mkdir ../away && git config core.worktree ../../away", "repo"),
    ("settings of each work tree", "git config extensions.worktreeConfig true", "repo"),
    ("unknown version", "git config core.repositoryformatversion 99", "repo"),
    ("a file named HEAD", "mkdir x && touch x/HEAD", "repo/x"),
];

#[test]
fn what_is_found_without_git_is_what_git_finds() {
    for (name, how, from) in LAYOUTS {
        let sandbox = Sandbox::with_repo();
        let ran = sandbox.command("sh", "repo", &["-ec", how]);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
        let env = env(&sandbox, &sandbox.root().join(from), std::env::var_os("PATH"), &[]);
        assert_eq!(found(Repo::discover(&env)), found(Repo::ask(&env)), "{name}");
    }
}

#[test]
fn ceilings_and_other_peoples_repositories_are_left_to_git() {
    let sandbox = Sandbox::with_repo();
    std::fs::create_dir_all(sandbox.repo().join("a/b")).unwrap();
    let (below, ceiling) = (sandbox.root().join("repo/a/b"), sandbox.root().join("repo/a"));
    let more = [("GIT_CEILING_DIRECTORIES", ceiling.to_str().unwrap())];
    let bounded = env(&sandbox, &below, std::env::var_os("PATH"), &more);
    assert!(found(Repo::discover(&bounded)).starts_with("error"), "{}", found(Repo::discover(&bounded)));
    if sandbox.command("chown", ".", &["-R", "12345", "repo"]).code != Some(0) {
        #[expect(clippy::print_stderr, reason = "a case that is skipped says so by name")]
        {
            eprintln!("skipped: somebody else's repository; only root can give one away");
        }
        return;
    }
    let foreign = env(&sandbox, &sandbox.repo(), std::env::var_os("PATH"), &[]);
    assert!(
        found(Repo::discover(&foreign)).contains("dubious ownership"),
        "{}",
        found(Repo::discover(&foreign))
    );
}

#[test]
fn an_ordinary_repository_is_found_without_a_process() {
    let sandbox = Sandbox::with_repo();
    sandbox.write("../bin/git", "#!/bin/sh\nexit 77\n");
    assert_eq!(sandbox.command("chmod", "bin", &["+x", "git"]).code, Some(0));
    for folder in ["repo", "repo/.."] {
        let path = Some(sandbox.root().join("bin").into_os_string());
        let git_fails = env(&sandbox, &sandbox.root().join(folder), path, &[]);
        let found = found(Repo::discover(&git_fails));
        assert_eq!(found.starts_with("error: exit code 77"), folder != "repo", "{found}");
    }
}
