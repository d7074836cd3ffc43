//! The house's rules that no compiler checks: the direction of the layers, one door each, the size of files, the
//! lines that open them, and that nothing lies in a folder without being listed. The rules are functions on text
//! (`rules.rs`), tried on made-up sources below, so that each is known to be able to fail.

mod rules;

use std::path::{Path, PathBuf};
use std::process::Command;

use rules::Source;

/// The top of the package.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file that git would commit: tracked, or new and not ignored.
fn tracked() -> Vec<PathBuf> {
    let list = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(top())
        .output()
        .unwrap();
    assert!(list.status.success(), "git ls-files: {}", String::from_utf8_lossy(&list.stderr));
    let names = String::from_utf8(list.stdout).unwrap();
    let files: Vec<PathBuf> = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    assert!(files.len() > 20, "only {} files: not the package's list", files.len());
    files.into_iter().filter(|file| top().join(file).is_file()).collect()
}

/// The Rust sources below a folder.
fn sources(below: &str) -> Vec<Source> {
    let mut found: Vec<Source> = tracked()
        .into_iter()
        .filter(|file| file.starts_with(below) && file.extension().is_some_and(|end| end == "rs"))
        .map(|file| Source::new(&file, std::fs::read_to_string(top().join(&file)).unwrap()))
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no sources below `{below}`");
    found
}

fn nothing_found(what: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{what}\n  {}\n", findings.join("\n  "));
}

#[test]
fn a_module_names_only_lower_rows() {
    let rows = rules::rows(&std::fs::read_to_string(top().join("src/lib.rs")).unwrap());
    assert_eq!(rows.len(), 6, "`src/lib.rs` has six rows");
    let found: Vec<String> = sources("src").iter().flat_map(|source| rules::layers(source, &rows)).collect();
    nothing_found(
        "The layers stand in `src/lib.rs`; what two domains share belongs in `model`, or a flow joins them:",
        &found,
    );
}

#[test]
fn git_is_opened_by_its_own_door_only() {
    let found: Vec<String> = sources("src").iter().flat_map(rules::doors).collect();
    nothing_found("Each outside thing has one door:", &found);
}

#[test]
fn every_file_says_what_it_is_for() {
    let found: Vec<String> =
        ["src", "tests"].into_iter().flat_map(sources).filter_map(|source| rules::opening(&source)).collect();
    nothing_found("A file opens with `//!`: what it is for and what it must never do:", &found);
}

#[test]
fn no_file_grows_past_four_hundred_lines() {
    let found: Vec<String> = sources("src").iter().filter_map(rules::size).collect();
    nothing_found("Split by what the parts are for:", &found);
}

#[test]
fn no_test_is_switched_off() {
    let found: Vec<String> =
        ["src", "tests"].into_iter().flat_map(sources).flat_map(|s| rules::switched_off(&s)).collect();
    nothing_found("Mend it or take it away:", &found);
}

#[test]
fn every_source_is_part_of_the_build() {
    let mut found = rules::unlisted(&sources("src"), &["src/lib.rs", "src/main.rs"]);
    found.extend(rules::unlisted(&sources("tests/it"), &["tests/it/main.rs"]));
    nothing_found("A file that no `mod` line names is never compiled:", &found);
}

#[test]
fn every_check_command_and_client_is_registered() {
    let found = rules::unregistered(&sources("src"));
    nothing_found("A file that its list does not name is never reached:", &found);
}

#[test]
fn no_committed_file_holds_a_path_of_this_machine_or_a_registrys_host() {
    // a short path such as `/repo` is a placeholder elsewhere, even where this checkout happens to lie there
    let here: Vec<String> =
        (top().components().count() > 3).then(|| top().to_string_lossy().into_owned()).into_iter().collect();
    let mut found = Vec::new();
    for file in tracked() {
        let Ok(text) = std::fs::read_to_string(top().join(&file)) else { continue };
        found.extend(rules::machine_paths(&file, &text, &here));
    }
    nothing_found("Write it relative, or with a placeholder:", &found);
}

#[test]
fn every_shell_script_can_be_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    for file in tracked() {
        let Ok(text) = std::fs::read_to_string(top().join(&file)) else { continue };
        let executable = top().join(&file).metadata().unwrap().permissions().mode() & 0o111 != 0;
        if text.starts_with("#!/")
            && !executable
            && !file.starts_with("hooks")
            && !file.starts_with("tests/fixtures")
        {
            found.push(format!("{}: has a `#!` line and no execute bit", file.display()));
        }
    }
    nothing_found("`chmod +x`, or drop the line:", &found);
}
