//! One test for each kind of work that has to come back exactly.

use super::{at, chmod, link, put, raw, round_trip, sandbox};
use crate::common::Sandbox;

#[test]
fn modified_staged_and_both() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "one\nstaged\n");
    sandbox.git("repo", &["add", "a.txt"]);
    sandbox.write("a.txt", "one\nstaged\nthen changed\n");
    sandbox.write("src/m.rs", "fn m() { 1 }\n");
    sandbox.write("docs/d.md", "staged only\n");
    sandbox.git("repo", &["add", "docs/d.md"]);
    round_trip(&sandbox);
}

#[test]
fn staged_and_then_reverted_in_the_work_tree() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "staged\n");
    sandbox.git("repo", &["add", "a.txt"]);
    sandbox.write("a.txt", "one\ntwo\nthree\n");
    round_trip(&sandbox);
}

#[test]
fn intent_to_add() {
    let sandbox = sandbox();
    sandbox.write("new.txt", "not yet\n");
    sandbox.write("gone.txt", "x\n");
    sandbox.git("repo", &["add", "-N", "new.txt", "gone.txt"]);
    std::fs::remove_file(at(&sandbox, b"gone.txt")).unwrap();
    round_trip(&sandbox);
}

#[test]
fn deletions_staged_and_not() {
    let sandbox = sandbox();
    sandbox.git("repo", &["rm", "-q", "a.txt"]);
    std::fs::remove_dir_all(at(&sandbox, b"docs")).unwrap();
    sandbox.git("repo", &["rm", "-q", "--cached", "src/m.rs"]);
    round_trip(&sandbox);
}

#[test]
fn conflict_stages_that_a_given_up_merge_left() {
    let sandbox = sandbox();
    sandbox.git("repo", &["switch", "-qc", "side"]);
    sandbox.write("a.txt", "one\nside\nthree\n");
    sandbox.git("repo", &["rm", "-q", "docs/d.md"]);
    sandbox.commit("side");
    sandbox.git("repo", &["switch", "-q", "main"]);
    sandbox.write("a.txt", "one\nmain\nthree\n");
    sandbox.write("docs/d.md", "changed\n");
    sandbox.commit("main");
    assert_eq!(sandbox.try_git("repo", &["merge", "side"]).code, Some(1));
    for name in ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE"] {
        std::fs::remove_file(sandbox.repo().join(".git").join(name)).unwrap();
    }
    assert_eq!(sandbox.git("repo", &["ls-files", "-u"]).lines().count(), 5);
    round_trip(&sandbox);
}

#[test]
fn line_ends_of_every_sort() {
    for (key, value, attributes) in [
        ("core.autocrlf", "true", ""),
        ("core.autocrlf", "input", ""),
        ("core.safecrlf", "true", "* text=auto\n"),
        ("core.eol", "crlf", "* text\n"),
    ] {
        let sandbox = sandbox();
        put(&sandbox, b"mixed.txt", b"one\r\ntwo\nthree\r\n");
        put(&sandbox, b"crlf.txt", b"one\r\ntwo\r\n");
        sandbox.commit("line ends");
        if !attributes.is_empty() {
            sandbox.write(".gitattributes", attributes);
        }
        sandbox.git("repo", &["config", key, value]);
        put(&sandbox, b"mixed.txt", b"one\ntwo\r\nthree\r\nfour\r\n");
        put(&sandbox, b"crlf.txt", b"one\ntwo\n");
        put(&sandbox, b"a.txt", b"one\r\ntwo\r\nthree\r\n");
        put(&sandbox, b"new.txt", b"new\r\nand\nmixed\r\n");
        round_trip(&sandbox);
    }
}

#[test]
fn a_blob_that_git_would_write_in_another_way() {
    let sandbox = sandbox();
    put(&sandbox, b"crlf.txt", b"one\r\ntwo\r\n");
    sandbox.commit("line ends");
    sandbox.write(".gitattributes", "*.txt text\n");
    sandbox.git("repo", &["add", ".gitattributes"]);
    sandbox.git("repo", &["commit", "-qm", "attributes, nothing renormalised"]);
    put(&sandbox, b"crlf.txt", b"one\r\ntwo\r\nthree\r\n");
    round_trip(&sandbox);
}

#[test]
fn changed_attributes_hold_for_the_work_and_not_for_the_clean_state() {
    let sandbox = sandbox();
    sandbox.git("repo", &["config", "filter.up.clean", "tr a-z A-Z"]);
    sandbox.git("repo", &["config", "filter.up.smudge", "tr A-Z a-z"]);
    sandbox.write(".gitattributes", "*.txt filter=up\n");
    sandbox.write("a.txt", "one\ntwo, mixed Case\n");
    round_trip(&sandbox);
    assert_eq!(sandbox.read("a.txt"), "one\ntwo, mixed Case\n");
}

#[test]
fn a_file_becomes_a_folder() {
    let sandbox = sandbox();
    std::fs::remove_file(at(&sandbox, b"a.txt")).unwrap();
    put(&sandbox, b"a.txt/in/deep", b"x");
    put(&sandbox, b"a.txt/more", b"y");
    round_trip(&sandbox);
}

#[test]
fn a_folder_becomes_a_file_staged() {
    let sandbox = sandbox();
    sandbox.git("repo", &["rm", "-qr", "docs"]);
    put(&sandbox, b"docs", b"now a file\n");
    sandbox.git("repo", &["add", "docs"]);
    round_trip(&sandbox);
}

#[test]
fn a_folder_becomes_a_link_to_one_outside() {
    let sandbox = sandbox();
    let outside = sandbox.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("d.md"), "not ours\n").unwrap();
    std::fs::remove_dir_all(at(&sandbox, b"docs")).unwrap();
    link(&sandbox, "docs", "../outside");
    round_trip(&sandbox);
    assert_eq!(std::fs::read_to_string(outside.join("d.md")).unwrap(), "not ours\n");
}

#[test]
fn a_folder_becomes_a_link_to_itself() {
    let sandbox = sandbox();
    std::fs::remove_dir_all(at(&sandbox, b"docs")).unwrap();
    link(&sandbox, "docs", "docs");
    round_trip(&sandbox);
}

#[test]
fn links_of_every_sort() {
    let sandbox = sandbox();
    link(&sandbox, "link", "docs/d.md");
    link(&sandbox, "dangling", "no/where at all");
    link(&sandbox, "loop", "loop");
    link(&sandbox, "a.txt", "run.sh");
    round_trip(&sandbox);
}

#[test]
fn a_link_becomes_a_file() {
    let sandbox = sandbox();
    std::fs::remove_file(at(&sandbox, b"link")).unwrap();
    sandbox.write("link", "a file now\n");
    round_trip(&sandbox);
}

#[test]
fn modes_to_the_bit() {
    let sandbox = sandbox();
    chmod(&sandbox, "a.txt", 0o755);
    chmod(&sandbox, "run.sh", 0o644);
    sandbox.write("secret", "x\n");
    chmod(&sandbox, "secret", 0o600);
    sandbox.write("tool", "x\n");
    chmod(&sandbox, "tool", 0o711);
    round_trip(&sandbox);
}

#[test]
fn modes_that_git_does_not_look_at() {
    let sandbox = sandbox();
    sandbox.git("repo", &["config", "core.fileMode", "false"]);
    sandbox.write("a.txt", "changed\n");
    chmod(&sandbox, "a.txt", 0o775);
    round_trip(&sandbox);
}

#[test]
fn empty_and_binary_files() {
    let sandbox = sandbox();
    put(&sandbox, b"empty", b"");
    put(&sandbox, b"a.txt", b"");
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    put(&sandbox, b"binary", &bytes);
    put(&sandbox, b"large", &bytes.repeat(90));
    round_trip(&sandbox);
}

#[test]
fn names_that_are_no_text() {
    let sandbox = sandbox();
    for name in [
        &b"caf\xe9.txt"[..],
        b"new\nline",
        b"-dash",
        b"e\xcc\x81",
        b"tab\there",
        b"\"quoted\"",
        b"base64:eA==",
    ] {
        put(&sandbox, name, b"x\n");
        put(&sandbox, &[b"dir/", name].concat(), b"y\n");
    }
    raw(&sandbox, "repo", &["add", "--", "dir"]);
    round_trip(&sandbox);
}

#[test]
fn folder_modes_come_back_with_their_folders() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = sandbox();
    sandbox.write("private/new", "x\n");
    chmod(&sandbox, "private", 0o700);
    round_trip(&sandbox);
    assert_eq!(at(&sandbox, b"private").metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn times_come_back() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "changed\n");
    let old = std::time::UNIX_EPOCH + std::time::Duration::new(1_500_000_000, 123_456_789);
    std::fs::File::options().write(true).open(at(&sandbox, b"a.txt")).unwrap().set_modified(old).unwrap();
    round_trip(&sandbox);
    assert_eq!(at(&sandbox, b"a.txt").metadata().unwrap().modified().unwrap(), old);
}

#[test]
fn an_index_of_version_four() {
    let sandbox = sandbox();
    sandbox.git("repo", &["update-index", "--index-version", "4"]);
    sandbox.write("a.txt", "changed\n");
    sandbox.git("repo", &["add", "a.txt"]);
    round_trip(&sandbox);
    assert_eq!(sandbox.git("repo", &["update-index", "--show-index-version"]), "4");
}

#[test]
fn a_split_index() {
    let sandbox = sandbox();
    sandbox.git("repo", &["config", "core.splitIndex", "true"]);
    sandbox.git("repo", &["update-index", "--split-index"]);
    sandbox.write("a.txt", "changed\n");
    sandbox.git("repo", &["add", "a.txt"]);
    round_trip(&sandbox);
}

#[test]
fn flags_of_other_paths_stay() {
    let sandbox = sandbox();
    sandbox.git("repo", &["update-index", "--assume-unchanged", "src/m.rs"]);
    sandbox.write("src/m.rs", "hidden\n");
    sandbox.write("a.txt", "changed\n");
    round_trip(&sandbox);
    assert_eq!(sandbox.read("src/m.rs"), "hidden\n");
}

#[test]
fn sparse_checkouts() {
    for cone in ["--cone", "--no-cone"] {
        for sparse_index in ["--sparse-index", "--no-sparse-index"] {
            if (cone, sparse_index) == ("--no-cone", "--sparse-index") {
                continue;
            }
            let sandbox = sandbox();
            sandbox.write("other/x/y", "y\n");
            sandbox.commit("more");
            sandbox.git("repo", &["sparse-checkout", "set", cone, sparse_index, "src"]);
            sandbox.write("src/m.rs", "changed\n");
            sandbox.write("src/new", "x\n");
            sandbox.git("repo", &["add", "src/m.rs"]);
            round_trip(&sandbox);
            // a file outside of what is checked out, there and edited all the same
            sandbox.write("other/x/y", "edited\n");
            sandbox.write("docs/new", "x\n");
            let before = super::picture(&sandbox);
            super::done(sandbox.endwell(&["park", super::NOTE]));
            super::assert_clean(&sandbox);
            super::done(sandbox.endwell(&["unpark"]));
            let after = super::picture(&sandbox);
            assert_eq!(after, before, "{cone} {sparse_index}");
        }
    }
}

#[test]
fn sha256_and_reftable() {
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let sandbox = Sandbox::new();
        sandbox.git(".", &["init", "-q", "-b", "main", format, "repo"]);
        sandbox.write("a.txt", "a\n");
        sandbox.commit("base");
        sandbox.write("a.txt", "b\n");
        sandbox.git("repo", &["add", "a.txt"]);
        sandbox.write("a.txt", "c\n");
        sandbox.write("new", "n\n");
        round_trip(&sandbox);
    }
}

#[test]
fn a_detached_head() {
    let sandbox = sandbox();
    sandbox.git("repo", &["checkout", "-q", "--detach"]);
    sandbox.write("a.txt", "changed\n");
    round_trip(&sandbox);
}
