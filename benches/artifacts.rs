//! How fast added lines are judged, on one core: `cargo bench --bench artifacts`. With paths as arguments it judges all
//! files below them as if each line were added, and prints every finding: `-- [--quiet] [--warn] PATH…`.
#![expect(clippy::print_stdout, reason = "a measurement prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a measurement reads files and the clock directly")]
#![expect(clippy::unwrap_used, reason = "a measurement that can't go on stops")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use endwell::check::temp_artifacts::judge;
use endwell::config::Config;
use endwell::git::changes::{Changes, FileChange, Place};
use endwell::model::Severity;

fn walk(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(meta) = path.symlink_metadata() else { return };
    if meta.is_file() && meta.len() < 4_000_000 {
        files.push(path.to_owned());
    } else if meta.is_dir() && path.file_name().is_none_or(|name| name != ".git") {
        let mut below: Vec<PathBuf> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        below.sort();
        for path in &below {
            walk(path, files);
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let (flags, paths): (Vec<String>, Vec<String>) = args.into_iter().partition(|arg| arg.starts_with("--"));
    let own = ["src", "tests", "benches"].map(|dir| format!("{}/{dir}", env!("CARGO_MANIFEST_DIR")));
    let measured = paths.is_empty();
    let mut files = Vec::new();
    let roots = if measured { own.to_vec() } else { paths };
    for root in &roots {
        walk(Path::new(root), &mut files);
    }
    let mut changes = Changes::default();
    let rounds = if measured { 20 } else { 1 };
    for round in 0..rounds {
        for path in &files {
            let text = std::fs::read(path).unwrap();
            let name = format!("{round}/{}", path.display());
            changes.push(FileChange::text(name.as_bytes(), None, &text, Place::Tracked));
        }
    }
    let lines: u32 =
        changes.files.iter().flat_map(|file| &file.added).map(|range| range.end - range.start).sum();
    let config = Config::default();
    let clock = Instant::now();
    let issues = judge(&changes, &|_| false, &config).unwrap();
    let seconds = clock.elapsed().as_secs_f64();
    let count = |severity: Severity| issues.iter().filter(|issue| issue.severity == severity).count();
    if !measured && !flags.iter().any(|flag| flag == "--quiet") {
        let least = if flags.iter().any(|flag| flag == "--warn") { Severity::Warn } else { Severity::Block };
        for issue in issues.iter().filter(|issue| issue.severity >= least) {
            let path = issue.path.as_deref().unwrap_or_default().trim_start_matches("0/");
            let line = issue.line.map_or(0, |line| line as usize);
            println!("{} {path}:{line} {}", issue.code, issue.message);
            if let Ok(text) = std::fs::read_to_string(path) {
                for shown in text.lines().skip(line.saturating_sub(2)).take(7) {
                    println!("    | {}", shown.chars().take(140).collect::<String>());
                }
            }
        }
    }
    println!(
        "{lines} lines in {} files, {:.3} s, {:.0} lines a second; {} blocking, {} warnings",
        changes.files.len(),
        seconds,
        f64::from(lines) / seconds,
        count(Severity::Block),
        count(Severity::Warn)
    );
}
