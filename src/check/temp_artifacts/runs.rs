//! Commented-out code: runs of comment lines, judged as a whole. A run with prose in it is an explanation, not code that
//! somebody switched off; what is in doubt is left alone.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::language::{Language, pattern};
use super::scan::{Comment, Scan};
use super::shapes::{Shape, judge};
use super::{Added, Found};
use crate::model::Severity;

/// A first line that says why the code below is off.
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(todo|fixme|xxx|hack|old\b|original|previous|disabled|temporar|legacy|deprecated|unused|not used|removed|for debugging|backup|was:|before|commented[ -]out|turned off|switched off|no longer|keep(ing)? (this|the old|for)|re-?enable|restore|skipp(ed|ing) for now|off for now|for now\b|dead code)",
    )
});

/// A first line that announces an illustration.
static EXPLAINS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(example|e\.g|i\.e|for instance|equivalent|same as|like this|such as|similar to|pseudo|would be|becomes?|expands? to|generates?|looks? like|roughly|uncomment|corresponds?|in other words|translates?|means|usage|output|format|syntax|layout|transforms?|compiles? (in)?to|turns? into|desugars?)\b",
    )
});

static DECLARES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((pub(\([a-z]+\))?|public|private|protected|internal|static|async|export|default|abstract|final|override|open|suspend|const|unsafe|extern|inline|virtual)\s+)*(func|type|var|const|package|def|class|module|fn|function|fun|struct|enum|trait|interface|impl|protocol|namespace|attr_\w+|alias|let|val)\b|^@\w|^#\[",
    )
});

/// One line of a run, its comment markers gone.
struct Line<'a> {
    number: usize,
    text: &'a [u8],
}

/// The runs of commented-out code among the added lines.
pub(super) fn find(text: &[u8], scan: &Scan, language: &Language, added: &Added<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut run: Vec<Line<'_>> = Vec::new();
    for comment in &scan.comments {
        let skipped = comment.doc || !comment.own;
        let follows = run.last().is_some_and(|last| last.number + 1 == comment.first);
        if !run.is_empty() && (comment.block || skipped || !follows) {
            found.extend(decide(&std::mem::take(&mut run), text, scan, language));
        }
        if skipped {
            continue;
        }
        if comment.block {
            found.extend(decide(&block_lines(text, scan, comment, language, added), text, scan, language));
        } else if added.counts(comment.first, text, scan) {
            run.push(Line { number: comment.first, text: marker_gone(text, comment) });
        } else if !run.is_empty() {
            found.extend(decide(&std::mem::take(&mut run), text, scan, language));
        }
    }
    found.extend(decide(&run, text, scan, language));
    found
}

fn marker_gone<'a>(text: &'a [u8], comment: &Comment) -> &'a [u8] {
    let line = text.get(comment.start..comment.end).unwrap_or_default();
    let marks = line.iter().take_while(|byte| matches!(byte, b'/' | b'#')).count();
    line.get(marks..).unwrap_or_default()
}

/// The lines of a block comment that count: all of them where its opener is new, else the new ones.
fn block_lines<'a>(
    text: &'a [u8],
    scan: &Scan,
    comment: &Comment,
    language: &Language,
    added: &Added<'_>,
) -> Vec<Line<'a>> {
    let whole = added.is_raw(comment.first) && !added.opener_moved(comment.first, text, scan);
    if !whole && !(comment.first..=comment.last).any(|line| added.is_raw(line)) {
        return Vec::new();
    }
    let (open, close) = language.syntax.block.unwrap_or(("", ""));
    let mut lines = Vec::new();
    for number in comment.first..=comment.last {
        let (start, end) = scan.span(number, text);
        let start = if number == comment.first { (comment.start + open.len()).min(end) } else { start };
        let mut line = text.get(start..end.max(start)).unwrap_or_default();
        if number == comment.last {
            let cut = line.trim_ascii_end();
            line = cut.strip_suffix(close.as_bytes()).unwrap_or(cut);
        }
        if whole || added.counts(number, text, scan) {
            lines.push(Line { number, text: line });
        }
    }
    let starred = |line: &Line<'_>| {
        let bare = line.text.trim_ascii();
        bare.is_empty() || bare.starts_with(b"*") || line.number == comment.first
    };
    if lines.iter().all(starred) {
        for line in lines.iter_mut().filter(|line| line.number != comment.first) {
            let bare = line.text.trim_ascii_start();
            line.text = bare.strip_prefix(b"*").unwrap_or(bare);
        }
    }
    lines
}

fn indent(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .map(|byte| if *byte == b'\t' { 4 } else { 1 })
        .sum()
}

fn is_empty(line: &[u8]) -> bool {
    line.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'#' | b'*'))
}

/// Judges a run: code if all of it is, or three quarters of at least four lines, and one line at least is beyond doubt.
fn decide(run: &[Line<'_>], text: &[u8], scan: &Scan, language: &Language) -> Option<Found> {
    let full: Vec<&Line<'_>> =
        run.iter().filter(|line| !is_empty(line.text) && !is_allow(line.text)).collect();
    let first = full.first()?;
    let first_shape = judge(first.text, language);
    let opening = first.text.trim_ascii();
    let lead = first_shape == Shape::Other && LEAD.is_match(opening);
    let prose = first_shape == Shape::Other && !lead;
    if prose && EXPLAINS.is_match(opening) {
        return None;
    }
    let need = full.len() - usize::from(lead);
    let spare = if need >= 4 { need / 4 } else { 0 };
    let shapes = shapes(run, language, lead, spare)?;
    let code = shapes.iter().filter(|(_, shape)| *shape > Shape::Other).count();
    let strong = shapes.iter().any(|(_, shape)| *shape == Shape::Strong);
    if !strong || code + spare < need || is_documentation(run, prose, text, scan, language) {
        return None;
    }
    let line = shapes.iter().find(|(_, shape)| *shape > Shape::Other).map(|(number, _)| *number)?;
    let severity = if need >= 2 { Severity::Block } else { Severity::Warn };
    let last = run.last().map_or(line, |last| last.number);
    let first = run.first().map_or(line, |first| first.number);
    let message = match need {
        1 => "A line of code is commented out".to_owned(),
        _ => format!("{need} lines of code are commented out"),
    };
    let hint =
        "Delete it (git keeps it), bring it back, or write `endwell:allow(commented-code) REASON` above it.";
    Some(Found { code: "commented-code", severity, line, first, last, message, hint })
}

fn is_allow(line: &[u8]) -> bool {
    line.trim_ascii().starts_with(b"endwell:allow(")
}

/// Prose that ends in a colon, or speaks of an example, goes with what stands below it.
fn announces(line: &[u8]) -> bool {
    line.ends_with(b":")
        || line.starts_with(b"```")
        || line.starts_with(b"Example")
        || line.starts_with(b"example")
}

/// The shape of each line that is not empty; `None` as soon as more lines than `spare` are no code.
fn shapes(run: &[Line<'_>], language: &Language, lead: bool, spare: usize) -> Option<Vec<(usize, Shape)>> {
    let mut found = Vec::new();
    let mut misses = 0;
    // text indented below a tag, or below prose and an empty line, is an illustration
    let mut below: Option<usize> = None;
    let mut last_prose: Option<usize> = None;
    let mut seen_lead = !lead;
    for line in run {
        if is_empty(line.text) {
            below = below.or(last_prose);
            continue;
        }
        if is_allow(line.text) {
            continue;
        }
        if !seen_lead {
            seen_lead = true;
            continue;
        }
        let depth = indent(line.text);
        let illustrates = below.is_some_and(|prose| depth > prose);
        below = below.filter(|_| illustrates);
        let shape = if illustrates { Shape::Other } else { judge(line.text, language) };
        last_prose = (shape == Shape::Other && !illustrates).then_some(depth);
        if shape == Shape::Other {
            if announces(line.text.trim_ascii()) {
                return None;
            }
            misses += 1;
            if line.text.trim_ascii_start().starts_with(b"@") {
                below = Some(depth);
            }
        }
        if misses > spare {
            return None;
        }
        found.push((line.number, shape));
    }
    Some(found)
}

/// A comment that begins with prose right above a declaration, or one above Go's `import "C"`.
fn is_documentation(
    run: &[Line<'_>],
    begins_with_prose: bool,
    text: &[u8],
    scan: &Scan,
    language: &Language,
) -> bool {
    let Some(last) = run.last() else { return false };
    let (start, end) = scan.span(last.number + 1, text);
    let below = text.get(start..end).unwrap_or_default().trim_ascii();
    (language.name == "go" && below.starts_with(b"import \"C\""))
        || (begins_with_prose && DECLARES.is_match(below))
}
