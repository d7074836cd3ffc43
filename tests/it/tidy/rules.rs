//! The rules as functions on text: a source goes in, sentences about what is wrong come out. No I/O, so that each
//! can be tried on a made-up source.

use std::path::{Path, PathBuf};

/// One row of the house: modules that name only lower rows.
pub struct Row {
    modules: Vec<String>,
    /// The doors to the outside are small and lean on one another; elsewhere two modules of a row never do.
    neighbours: bool,
}

/// The rows, top first, as the crate's table of contents has them: groups of `mod` lines, each under a comment.
pub fn rows(table_of_contents: &str) -> Vec<Row> {
    let group = |group: &str| Row {
        modules: group.lines().filter_map(declared).map(str::to_owned).collect(),
        neighbours: group.contains("// one door each"),
    };
    table_of_contents.split("\n\n").map(group).filter(|row| !row.modules.is_empty()).collect()
}

/// The module that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    line.strip_prefix("mod ")?.strip_suffix(';')
}

/// The most lines that a file may have before its tests.
const MOST_LINES: usize = 400;

/// A Rust source.
pub struct Source {
    /// From the top of the package, with `/`.
    pub path: String,
    text: String,
    /// The text with comments and string literals blanked out, the same length and lines.
    code: String,
}

impl Source {
    pub fn new(path: &Path, text: String) -> Self {
        let path = path.to_string_lossy().replace('\\', "/");
        let code = blank(&text);
        Self { path, text, code }
    }

    /// The top-level module below `src/`: `git` for `src/git/status.rs`; none for `lib.rs` and `main.rs`.
    fn top_module(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src/")?;
        let first = below.split('/').next()?;
        let name = first.strip_suffix(".rs").unwrap_or(first);
        (!matches!(name, "lib" | "main")).then_some(name)
    }

    /// The file's name without its end.
    fn stem(&self) -> &str {
        self.path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).unwrap_or_default()
    }

    /// How deep the file's module lies: 1 for `src/fs.rs` and `src/git/mod.rs`.
    fn depth(&self) -> usize {
        self.path.matches('/').count() - usize::from(self.stem() == "mod")
    }

    /// The code before the unit tests.
    fn product_code(&self) -> &str {
        &self.code[..self.tests_start()]
    }

    fn tests_start(&self) -> usize {
        let mut at = 0;
        for line in self.code.split_inclusive('\n') {
            if line.starts_with("#[cfg(test)]") {
                let rest = self.code[at + line.len()..].trim_start();
                let inline =
                    rest.lines().next().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
                if inline {
                    return at;
                }
            }
            at += line.len();
        }
        self.code.len()
    }
}

/// Blanks comments, string and character literals.
fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let cut = literal_or_comment(rest).unwrap_or(0);
        if cut > 0 {
            out.extend(rest[..cut].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[cut..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            if c.is_alphanumeric() || c == '_' {
                // the rest of a word, so that the `r` of a raw string is not looked for inside one
                let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                out.push_str(&rest[..word]);
                rest = &rest[word..];
            }
        }
    }
    out
}

/// The length of the comment or literal that the text starts with.
fn literal_or_comment(text: &str) -> Option<usize> {
    let to = |from: usize, end: &str| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(to(2, "*/"));
    }
    let raw = text.strip_prefix("br").or_else(|| text.strip_prefix('r'));
    if let Some(raw) = raw {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let start = text.len() - raw.len() + hashes + 1;
            return Some(to(start, &format!("\"{}", "#".repeat(hashes))));
        }
        return None;
    }
    if text.starts_with('"') {
        return Some(string_end(text, '"'));
    }
    if let Some(quoted) = text.strip_prefix('\'') {
        let mut chars = quoted.chars();
        let (first, second) = (chars.next()?, chars.next()?);
        // `'a'` and `'\n'` are characters, `'a` is a lifetime
        return (first == '\\' || second == '\'').then(|| string_end(text, '\''));
    }
    None
}

fn string_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Paths against the direction of the layers.
pub fn layers(source: &Source, rows: &[Row]) -> Vec<String> {
    let row = |module: &str| rows.iter().position(|row| row.modules.iter().any(|name| name == module));
    let Some(own) = source.top_module() else { return Vec::new() };
    let Some(own_row) = row(own) else {
        return vec![format!("{}: `{own}` stands in no row of the layers", source.path)];
    };
    let mut named: Vec<(usize, String)> = named_from_crate(&source.code);
    named.extend(named_by_super(source));
    let mut found: Vec<String> = named
        .into_iter()
        .filter(|(_, module)| module != own)
        .filter_map(|(line, module)| {
            let other = row(&module)?;
            let down = other > own_row || (other == own_row && rows[own_row].neighbours);
            (!down).then(|| format!("{}:{line}: `{own}` names `{module}`", source.path))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The first segments behind `crate::`, groups included, with their lines.
fn named_from_crate(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let behind = &code[at + "crate::".len()..];
        found.extend(heads(behind).into_iter().map(|head| (line, head)));
    }
    found
}

/// The first segment of a path, or of each path of a group.
fn heads(path: &str) -> Vec<String> {
    let path = path.trim_start();
    let Some(group) = path.strip_prefix('{') else {
        return vec![path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()];
    };
    let mut depth = 0_usize;
    let mut item = String::new();
    let mut items = Vec::new();
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            c => item.push(c),
        }
    }
    items.push(item);
    items.iter().flat_map(|item| heads(item)).filter(|head| !head.is_empty()).collect()
}

/// Modules that are named by climbing out with `super::`.
fn named_by_super(source: &Source) -> Vec<(usize, String)> {
    let chain = "super::".repeat(source.depth());
    let code = source.product_code();
    code.match_indices(&chain)
        .filter(|(at, _)| !code[..*at].ends_with("super::"))
        .flat_map(|(at, _)| {
            let line = code[..at].matches('\n').count() + 1;
            heads(&code[at + chain.len()..]).into_iter().map(move |head| (line, head))
        })
        .collect()
}

/// Crates that only their own door may name.
pub fn doors(source: &Source) -> Vec<String> {
    const DOORS: [(&str, &str); 4] = [
        ("gix", "src/git/"),
        ("duct", "src/process/"),
        ("fs_err", "src/fs.rs"),
        ("signal_hook", "src/process/"),
    ];
    let mut found = Vec::new();
    for (name, door) in DOORS {
        if source.path.starts_with(door) {
            continue;
        }
        for (at, _) in source.product_code().match_indices(&format!("{name}::")) {
            if !source.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                let line = source.code[..at].matches('\n').count() + 1;
                found.push(format!("{}:{line}: `{name}` belongs to `{door}`", source.path));
            }
        }
    }
    found
}

/// A file without its opening lines.
pub fn opening(source: &Source) -> Option<String> {
    let told =
        source.text.starts_with("//! ") && source.text.lines().next().is_some_and(|line| line.len() > 15);
    (!told).then(|| format!("{}: does not open with `//!`", source.path))
}

/// A file that is too long.
pub fn size(source: &Source) -> Option<String> {
    let lines = source.product_code().lines().count();
    (lines > MOST_LINES)
        .then(|| format!("{}: {lines} lines before its tests, {MOST_LINES} are the most", source.path))
}

/// Tests that are switched off, and lints that are silenced without a word.
pub fn switched_off(source: &Source) -> Vec<String> {
    let marks = [concat!("#[", "ignore"), concat!("#[", "allow"), concat!("#![", "allow")];
    let found = source.code.lines().enumerate().filter_map(|(at, line)| {
        let mark = marks.iter().find(|mark| line.contains(**mark))?;
        Some(format!("{}:{}: `{mark}`", source.path, at + 1))
    });
    found.collect()
}

/// Files that no `mod` line names.
pub fn unlisted(sources: &[Source], roots: &[&str]) -> Vec<String> {
    sources
        .iter()
        .filter(|source| !roots.contains(&source.path.as_str()))
        .filter(|source| {
            let (parents, name) = parents_of(&source.path);
            let lists = |parent: &Source| {
                parents.contains(&parent.path)
                    && parent.code.lines().any(|line| declared(line) == Some(name.as_str()))
            };
            !sources.iter().any(lists)
        })
        .map(|source| format!("{}: no `mod` line names it", source.path))
        .collect()
}

/// The files in which a file's module may be declared, and the module's name.
fn parents_of(path: &str) -> (Vec<String>, String) {
    let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap_or(path);
    let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
    let parents = ["lib.rs", "main.rs", "mod.rs"].iter().map(|file| format!("{folder}/{file}"));
    (parents.chain(std::iter::once(format!("{folder}.rs"))).collect(), name.to_owned())
}

/// Checks, clients and commands that their list does not name.
pub fn unregistered(sources: &[Source]) -> Vec<String> {
    let list = |folder: &str| sources.iter().find(|source| source.path == format!("{folder}/mod.rs"));
    let mut found = Vec::new();
    for (folder, kind) in
        [("src/check", " Check for "), ("src/agent", " AGENT: Agent"), ("src/cli", " struct Args")]
    {
        for source in sources {
            let (parents, name) = parents_of(&source.path);
            let direct =
                parents.contains(&format!("{folder}/mod.rs")) && source.path != format!("{folder}/mod.rs");
            if !direct || !source.product_code().contains(kind) {
                continue;
            }
            let named = list(folder).is_some_and(|list| names_item_of(list.product_code(), &name));
            if !named {
                found.push(format!("{}: `{folder}/mod.rs` has no `{name}::…` in its list", source.path));
            }
        }
    }
    found
}

/// Whether the code uses something out of a module, beyond declaring it.
fn names_item_of(code: &str, module: &str) -> bool {
    let path = format!("{module}::");
    code.match_indices(&path).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Paths of the machine on which a file was written, and hosts of package registries.
pub fn machine_paths(file: &Path, text: &str, here: &[String]) -> Vec<String> {
    let fixed = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/Us", "ers/"),
        concat!("static.", "crates.io"),
        concat!("index.", "crates.io"),
        concat!("registry.", "npmjs"),
        concat!("pypi", ".org"),
        concat!("files.", "pythonhosted"),
    ];
    let needles = fixed.into_iter().chain(here.iter().map(String::as_str));
    let mut found = Vec::new();
    for needle in needles {
        for (at, _) in text.match_indices(needle) {
            // a folder of that name inside another one is nobody's secret
            let inside = needle.starts_with('/')
                && text[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '*'));
            if !inside {
                let line = text[..at].matches('\n').count() + 1;
                found.push(format!("{}:{line}: `{needle}`", file.display()));
            }
        }
    }
    found
}

mod tried_on_made_up_sources {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(&PathBuf::from(path), text.to_owned())
    }

    fn house() -> Vec<Row> {
        rows(
            "//! x\n\n// top\npub mod cli;\n\npub mod flow;\n\n// domains\npub mod board;\npub mod check;\n\
             pub mod evidence;\npub mod packet;\n\npub mod git;\n\n// one door each to the outside\npub mod exit;\n\
             pub mod failure;\n\npub mod model;\n",
        )
    }

    #[test]
    fn layers_see_paths_groups_and_climbs() {
        let upward = source("src/model/x.rs", "//! x\nuse crate::git::Repo;\n");
        assert_eq!(layers(&upward, &house()), ["src/model/x.rs:2: `model` names `git`"]);
        let sideways = source("src/board/x.rs", "use crate::{model::Issue, packet::{self, build}};\n");
        assert_eq!(layers(&sideways, &house()), ["src/board/x.rs:1: `board` names `packet`"]);
        let inline = source("src/check/x.rs", "fn f() { crate::flow::check::run() }\n");
        assert_eq!(layers(&inline, &house()), ["src/check/x.rs:1: `check` names `flow`"]);
        let climb = source("src/check/x.rs", "use super::super::evidence::Store;\n");
        assert_eq!(layers(&climb, &house()), ["src/check/x.rs:1: `check` names `evidence`"]);
        let nobody = source("src/extra/mod.rs", "");
        assert_eq!(layers(&nobody, &house()), ["src/extra/mod.rs: `extra` stands in no row of the layers"]);
    }

    #[test]
    fn layers_let_pass_what_goes_down_and_what_is_only_said() {
        let down = "use crate::model::{CheckId, Issue};\nuse super::Context;\n\
            // crate::flow is above\nfn f() { g(\"crate::cli\", 'x', r#\"crate::cli\"#) }\n";
        assert!(layers(&source("src/check/x.rs", down), &house()).is_empty());
        assert!(layers(&source("src/failure.rs", "use crate::exit::ExitStatus;\n"), &house()).is_empty());
        assert!(layers(&source("src/main.rs", "fn main() { endwell::cli::main() }\n"), &house()).is_empty());
    }

    #[test]
    fn doors_are_kept() {
        let text = "use gix::ObjectId;\nfn f() { my_gix::open() }\n";
        assert_eq!(
            doors(&source("src/packet/x.rs", text)),
            ["src/packet/x.rs:1: `gix` belongs to `src/git/`"]
        );
        assert!(doors(&source("src/git/x.rs", text)).is_empty());
        assert_eq!(doors(&source("src/flow/x.rs", "fs_err::read(p)")).len(), 1);
    }

    #[test]
    fn openings_are_asked_for() {
        assert!(opening(&source("src/x.rs", "use std::io;\n")).is_some());
        assert!(opening(&source("src/x.rs", "//! x\n")).is_some(), "a word is no purpose");
        assert!(opening(&source("src/x.rs", "//! What it is for, in a sentence.\n")).is_none());
    }

    #[test]
    fn sizes_leave_the_tests_out() {
        let long = "fn f() {}\n".repeat(MOST_LINES);
        assert!(size(&source("src/x.rs", &format!("{long}fn g() {{}}\n"))).is_some());
        let tested = format!("{long}#[cfg(test)]\nmod tests {{\n{long}}}\n");
        assert!(size(&source("src/x.rs", &tested)).is_none());
        let fooled = format!("#[cfg(test)]\nmod tests;\n{long}{long}");
        assert!(size(&source("src/x.rs", &fooled)).is_some(), "a declared test file is no tail");
    }

    #[test]
    fn switched_off_tests_and_silenced_lints_are_found() {
        let text = format!(
            "{}]\n{}(dead_code)]\n// {}]\n",
            concat!("#[", "ignore"),
            concat!("#[", "allow"),
            concat!("#[", "ignore")
        );
        assert_eq!(switched_off(&source("src/x.rs", &text)).len(), 2);
    }

    #[test]
    fn unlisted_files_are_found() {
        let tree = [
            source("src/lib.rs", "pub mod git;\nmod fs;\n"),
            source("src/fs.rs", ""),
            source("src/git/mod.rs", "pub(crate) mod status;\n// mod lost;\n"),
            source("src/git/status.rs", ""),
            source("src/git/lost.rs", ""),
        ];
        assert_eq!(unlisted(&tree, &["src/lib.rs"]), ["src/git/lost.rs: no `mod` line names it"]);
    }

    #[test]
    fn unregistered_kinds_are_found() {
        let tree = [
            source(
                "src/check/mod.rs",
                "mod branch;\nmod tests;\nmod help;\nconst ALL: [&dyn Check; 1] = [&branch::Branch];\n",
            ),
            source("src/check/branch.rs", "impl Check for Branch {}\n"),
            source("src/check/tests.rs", "impl Check for Tests {}\n"),
            source("src/check/help.rs", "fn f() {}\n"),
            source("src/check/temp/mod.rs", "impl Check for Temp {}\n"),
        ];
        let found = unregistered(&tree);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("src/check/tests.rs") && found[1].starts_with("src/check/temp/mod.rs"),
            "{found:?}"
        );
    }

    #[test]
    fn machine_paths_are_found_and_others_are_not() {
        let file = Path::new("x");
        let bad = format!("a {}x\nb {}y\n", concat!("/ro", "ot/"), concat!("/wo", "rk/"));
        assert_eq!(machine_paths(file, &bad, &[]).len(), 2);
        let fine = format!("packages{}x C:{}x\n", concat!("/wo", "rk/"), "\\Users\\");
        assert!(machine_paths(file, &fine, &[]).is_empty());
        assert_eq!(machine_paths(file, "at /srv/me/x\n", &["/srv/me".to_owned()]).len(), 1);
    }
}
