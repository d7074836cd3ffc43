//! The name of a dirty work tree is the tree that `git add -A` would give, and finding it changes nothing.

use std::path::Path;

use endwell::env::Env;
use endwell::git::{Content, Objects, Repo};

use crate::common::Sandbox;

fn content(sandbox: &Sandbox) -> Content {
    content_but(sandbox, &|_| false)
}

fn content_but(sandbox: &Sandbox, own: &dyn Fn(&[u8]) -> bool) -> Content {
    let path = std::env::var_os("PATH").unwrap();
    let home = sandbox.root().join("home").into_os_string();
    let config = sandbox.root().join("home/.gitconfig").into_os_string();
    let vars =
        [("PATH", path), ("HOME", home), ("GIT_CONFIG_GLOBAL", config), ("GIT_CONFIG_NOSYSTEM", "1".into())];
    let repo = Repo::discover(&Env::made_of(sandbox.repo(), vars)).unwrap();
    let objects = Objects::open(&repo).unwrap();
    repo.content(&objects, &repo.status().unwrap(), own).unwrap()
}

/// What `git add -A` gives, found in a copy.
fn added(sandbox: &Sandbox) -> String {
    let copy = sandbox.root().join("copy");
    let ran = sandbox.command("cp", ".", &["-a", "repo", copy.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    sandbox.git("copy", &["add", "-A", "--sparse", "--", ":/"]);
    let tree = sandbox.git("copy", &["write-tree"]);
    std::fs::remove_dir_all(copy).unwrap();
    tree
}

/// Everything in the git dir, by name, size and content.
fn traces(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(traces(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// A repository with some files, one of them executable and one a link.
fn start() -> Sandbox {
    let sandbox = Sandbox::with_repo();
    sandbox.write("a.txt", "one\ntwo\n");
    sandbox.write("docs/d.md", "doc\n");
    sandbox.write("run.sh", "#!/bin/sh\n");
    sandbox.write(".gitignore", "*.log\n");
    sandbox.commands("chmod +x run.sh; ln -s a.txt link");
    sandbox.commit("files");
    sandbox
}

trait Shell {
    fn commands(&self, script: &str);
}

impl Shell for Sandbox {
    fn commands(&self, script: &str) {
        let ran = self.command("sh", "repo", &["-ec", script]);
        assert_eq!(ran.code, Some(0), "{script}: {ran:?}");
    }
}

/// States, each as a shell script in a fresh repository.
const STATES: &[&str] = &[
    "echo x >> a.txt",
    "echo x >> a.txt; git add a.txt; echo y >> a.txt",
    "echo x >> a.txt; git add a.txt; printf 'one\\ntwo\\n' > a.txt; echo z > z",
    "rm a.txt",
    "git rm -q a.txt; echo new > a.txt",
    "git rm -q --cached a.txt",
    "echo n > new; mkdir -p deep/er; echo d > deep/er/file; echo l > x.log",
    "chmod -x run.sh; chmod +x a.txt",
    "ln -sfn docs/d.md link; ln -s nowhere dangling",
    "rm link; cp a.txt link",
    "rm a.txt; mkdir a.txt; echo in > a.txt/in",
    "rm -r docs; echo file > docs",
    "mv a.txt b.txt; echo q > q; git add -N q",
    "printf x > 'sp ace'; printf y > \"$(printf 'caf\\351')\"; printf z > \"$(printf 'new\\nline')\"; echo p > -p; echo q > '\"quoted\"'",
    "echo '*.txt text eol=crlf' > .gitattributes; printf 'one\\r\\ntwo\\r\\n' > a.txt; printf 'n\\r\\n' > n.txt",
    "git config core.autocrlf input; printf 'c\\r\\nr\\r\\n' > crlf.txt; printf 'one\\r\\ntwo\\r\\nthree\\r\\n' > a.txt",
    "echo '*.up filter=up' > .gitattributes; git config filter.up.clean 'tr a-z A-Z'; echo low > f.up",
    "git update-index --index-version 4; echo x >> a.txt",
    "git update-index --split-index; echo x >> a.txt; echo n > n",
    "git config core.fileMode false; chmod +x a.txt; echo x >> docs/d.md",
    "git sparse-checkout set --cone docs; echo x >> docs/d.md",
    "mkdir -p big/in; echo b > big/in/b; git add -A; git commit -qm big; git sparse-checkout set --cone --sparse-index docs; echo x >> docs/d.md; echo n > docs/n",
    "git switch -qc side; echo s > a.txt; git commit -qam s; git switch -q main; echo m > a.txt; git commit -qam m; git merge -q side || true",
    // an edit of the same size in the moment of `git add`: only the index's own time tells that it may be one
    "git config core.trustctime false; printf 'AAA\\n' > a.txt; touch -d @1700000000 a.txt; git add a.txt; \
     printf 'BBB\\n' > a.txt; touch -d @1700000000 a.txt .git/index",
    // a file replaced by a folder in the index already
    "rm a.txt; mkdir a.txt; echo in > a.txt/in; git add a.txt; echo '*.md text=auto' > .gitattributes",
    "rm a.txt; mkdir a.txt; echo in > a.txt/in; git add a.txt; echo x >> docs/d.md",
    "rm -r docs; ln -s a.txt docs; echo '*.md text=auto' > .gitattributes",
    "printf 'one\\r\\n' > crlf.txt; git add crlf.txt; git commit -qm crlf; git config core.autocrlf input; printf 'two\\r\\n' >> crlf.txt",
    "echo '*.txt text' > docs/.gitattributes; git add docs; rm docs/.gitattributes; printf 'a\\r\\n' > docs/a.txt",
    "git checkout -q --orphan lone; git rm -rqf .; echo o > o",
];

#[test]
fn it_is_the_tree_that_adding_everything_would_give() {
    for script in STATES {
        let sandbox = start();
        sandbox.commands(script);
        let before = traces(&sandbox.repo().join(".git"));
        let found = content(&sandbox);
        assert_eq!(traces(&sandbox.repo().join(".git")), before, "{script}: something was written");
        assert_eq!(found, Content::Named { tree: added(&sandbox), clean: false }, "{script}");
    }
}

#[test]
fn a_clean_work_tree_is_its_head() {
    let sandbox = start();
    let tree = sandbox.git("repo", &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(content(&sandbox), Content::Named { tree: tree.clone(), clean: true });
    sandbox.commands("touch -d 2030-01-01 a.txt; echo ignored > x.log");
    assert_eq!(content(&sandbox), Content::Named { tree: tree.clone(), clean: true });
    sandbox.commands("echo own > own.json; git add own.json; echo x >> a.txt");
    let own = |path: &[u8]| path == b"own.json" || path == b"a.txt";
    assert_eq!(content_but(&sandbox, &own), Content::Named { tree: tree.clone(), clean: true });
    sandbox.commands("git add a.txt; echo y >> docs/d.md");
    let named = content_but(&sandbox, &own);
    sandbox.commands("git reset -q; git checkout -q -- a.txt; rm own.json; git commit -qam docs");
    let tree = sandbox.git("repo", &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(named, Content::Named { tree, clean: false });
}

#[test]
fn hidden_edits_dirty_submodules_and_nested_repositories_have_no_name() {
    for script in [
        "git update-index --assume-unchanged a.txt; echo x >> a.txt",
        "git update-index --skip-worktree a.txt; echo x >> a.txt",
        "git update-index --assume-unchanged a.txt; rm a.txt",
        "git init -q nested; echo x > nested/f",
        "git init -q sub; git -C sub commit -qm e --allow-empty; git add sub 2>/dev/null; git commit -qm sub; echo x > sub/new",
        "echo '*.up filter=up' > .gitattributes; git config filter.up.clean no-such-program-xyz; git config filter.up.required true; echo low > f.up",
    ] {
        let sandbox = start();
        sandbox.commands(script);
        assert!(matches!(content(&sandbox), Content::Unnamed { .. }), "{script}: {:?}", content(&sandbox));
    }
}
