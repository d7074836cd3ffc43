//! Line coverage out of the reports that projects write: lcov, Cobertura, and the JSON of coverage.py and Istanbul.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::model::report::Coverage;

/// Where projects write them, from the top; the first that is there counts.
pub const PLACES: [&str; 10] = [
    "lcov.info",
    "coverage/lcov.info",
    "target/llvm-cov/lcov.info",
    "coverage.xml",
    "coverage/cobertura-coverage.xml",
    "cobertura.xml",
    "coverage.json",
    "coverage/coverage-summary.json",
    "coverage/coverage.json",
    "build/reports/cobertura.xml",
];

/// Reads a report; nothing where it holds no line counts.
pub fn read(path: &str, text: &str) -> Option<Coverage> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    let (covered, lines) = match extension {
        "info" => lcov(text),
        "xml" => cobertura(text),
        _ => json(text),
    }?;
    (lines > 0 && covered <= lines).then(|| Coverage { file: path.to_owned(), lines, covered })
}

fn lcov(text: &str) -> Option<(u64, u64)> {
    let sum = |key: &str| {
        let numbers =
            text.lines().filter_map(|line| line.strip_prefix(key)).map(|rest| rest.trim().parse::<u64>());
        numbers.collect::<Result<Vec<_>, _>>().ok().map(|numbers| numbers.iter().sum())
    };
    Some((sum("LH:")?, sum("LF:")?))
}

fn cobertura(text: &str) -> Option<(u64, u64)> {
    static ROOT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<coverage\b[^>]*>").ok());
    let root = ROOT.as_ref()?.find(text)?.as_str();
    let number = |key: &str| -> Option<u64> {
        let rest = root.split(&format!("{key}=\"")).nth(1)?;
        rest.split('"').next()?.parse().ok()
    };
    Some((number("lines-covered")?, number("lines-valid")?))
}

fn json(text: &str) -> Option<(u64, u64)> {
    let value: Value = serde_json::from_str(text).ok()?;
    let at = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    let python = at("/totals/covered_lines").zip(at("/totals/num_statements"));
    python.or_else(|| at("/total/lines/covered").zip(at("/total/lines/total")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_lines() {
        let counts =
            |path: &str, text: &str| read(path, text).map(|coverage| (coverage.covered, coverage.lines));
        assert_eq!(counts("lcov.info", "SF:a\nLF:4\nLH:3\nend_of_record\nSF:b\nLF:6\nLH:6\n"), Some((9, 10)));
        let xml = r#"<?xml version="1.0"?><coverage line-rate="0.5" lines-valid="8" lines-covered="4" version="7"/>"#;
        assert_eq!(counts("coverage.xml", xml), Some((4, 8)));
        assert_eq!(
            counts("coverage.json", r#"{"totals": {"covered_lines": 3, "num_statements": 4}}"#),
            Some((3, 4))
        );
        let istanbul = r#"{"total": {"lines": {"total": 4, "covered": 1}}}"#;
        assert_eq!(counts("coverage/coverage-summary.json", istanbul), Some((1, 4)));
        for (path, text) in [
            ("lcov.info", ""),
            ("coverage.xml", "<x/>"),
            ("coverage.json", "[]"),
            ("lcov.info", "LF:1\nLH:9\n"),
        ] {
            assert_eq!(read(path, text), None, "{path}");
        }
    }

    #[test]
    fn hundredths_of_a_percent_are_whole_numbers() {
        let coverage = |covered, lines| Coverage { file: String::new(), lines, covered };
        assert_eq!(coverage(2, 3).hundredths(), 6666);
        assert_eq!(coverage(3, 3).hundredths(), 10_000);
    }
}
