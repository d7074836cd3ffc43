//! `endwell verify`.

use std::time::Duration;

use clap::Args as ClapArgs;

use crate::cli::App;
use crate::exit::ExitStatus;
use crate::failure::Result;
use crate::flow::Workbench;
use crate::flow::verify::{NOT_RECORDED, Verified, VerifyOptions, verify};
use crate::model::Severity;
use crate::model::report::{SuiteRun, TestRun, VerificationReport};
use crate::ui::{Ui, plain};

/// Run the tests, and keep the result as evidence of exactly this content.
///
/// The same content in the same environment is answered from the record. Writes the verification report. Exits with 0
/// when green, 1 when red, 3 when there is no verdict, 130 when interrupted.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Run in a fresh checkout of HEAD's commit: finds what works only because of files that were never committed.
    #[arg(long)]
    clean_room: bool,
    /// Warnings fail too.
    #[arg(long)]
    strict: bool,
    /// Run only this suite of `[[tests.suite]]`; the verification report is left as it is.
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Stop the tests after this time: `90`, `90s`, `10m` or `1h`; 0: never.
    #[arg(long, value_name = "D", value_parser = duration)]
    timeout: Option<Duration>,
}

fn duration(text: &str) -> std::result::Result<Duration, String> {
    let text = text.trim();
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(end) => text.split_at(end),
        None => (text, "s"),
    };
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("a time is a number with `s`, `m` or `h`, for example `10m`".to_owned()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "a time starts with a number, for example `90s`".to_owned())?;
    number.checked_mul(factor).map(Duration::from_secs).ok_or_else(|| "that is too long".to_owned())
}

pub fn run(args: &Args, app: &App) -> Result<ExitStatus> {
    let bench = Workbench::open(&app.env, app.ui)?;
    let options = VerifyOptions {
        strict: args.strict,
        timeout: args.timeout,
        clean_room: args.clean_room,
        suite: args.suite.clone(),
    };
    let verified = verify(&bench, &options)?;
    explain(app.ui, &verified);
    app.ui.data(line(&verified)).map_err(super::cannot_print)?;
    Ok(verified.exit)
}

/// What stands behind the verdict, on standard error.
fn explain(ui: Ui, verified: &Verified) {
    if let Some(tail) = &verified.tail {
        for line in tail.lines() {
            // what runners set apart with a tab reads as it does on a terminal
            ui.say(format_args!("  {}", plain(&line.replace('\t', "    "))));
        }
    }
    for finding in &verified.report.findings {
        let severity = crate::ui::severity(finding.severity);
        ui.say(format_args!("{severity} {}: {}", finding.code, plain(&finding.detail)));
    }
    if verified.exit != ExitStatus::Done {
        ui.hint(verified.next.clone().unwrap_or_else(|| next_step(&verified.report)));
    }
}

fn next_step(report: &VerificationReport) -> String {
    let blocking = report.findings.iter().find(|finding| finding.severity == Severity::Block);
    match blocking.map(|finding| finding.code.as_str()) {
        Some("tests-red") => {
            let name = report.tests.as_ref().and_then(|run| run.failing.first()).map(String::as_str);
            format!(
                "Mend them and run `endwell verify` again, or say why each may stay: \
                 `endwell note risk --test {} \"why\"`.",
                shell_words::quote(&plain(name.unwrap_or("NAME")))
            )
        }
        Some("tests-not-found") => "Install it, or set `[tests] command` in `endwell.toml`.".to_owned(),
        Some("tests-timeout") => {
            "Give more time: `endwell verify --timeout 1h`, or `[tests] timeout`.".to_owned()
        }
        _ => "Mend what is named, then run `endwell verify` again.".to_owned(),
    }
}

/// The verdict, on one line.
fn line(verified: &Verified) -> String {
    let report = &verified.report;
    let tree = report.tree.as_deref().map(|tree| &tree[..tree.len().min(12)]);
    let lost = report.findings.iter().any(|finding| finding.code == NOT_RECORDED);
    let record = match tree {
        Some(tree) if lost => format!(", not recorded for tree {tree}"),
        Some(tree) if verified.from_record => format!(", recorded for tree {tree}"),
        Some(tree) => format!(", now recorded for tree {tree}"),
        None => String::new(),
    };
    let word = match (verified.exit, report.passed) {
        (ExitStatus::CouldNotJudge, _) => "No verdict",
        (_, true) if report.tests.is_none() => return "Verified: no tests to run.".to_owned(),
        (_, true) => "Verified: green",
        (_, false) => "Verified: red",
    };
    let tests_passed = report.tests.as_ref().is_none_or(|run| run.exit_code == Some(0));
    if let (false, true, Some((feature, line))) = (report.passed, tests_passed, &verified.acceptance) {
        return format!("{word}, acceptance of `{}`: `{}`{record}.", plain(feature), plain(line));
    }
    let counts = report.tests.as_ref().map(|run| counts(run, &report.suites)).unwrap_or_default();
    format!("{word}{counts}{record}.")
}

fn counts(run: &TestRun, suites: &[SuiteRun]) -> String {
    let named = [(run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped")];
    let parts: Vec<String> = named
        .iter()
        .filter_map(|(count, word)| count.filter(|count| *count > 0).map(|count| format!("{count} {word}")))
        .collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let names: Vec<String> = suites.iter().map(|suite| format!("`{}`", plain(&suite.name))).collect();
    match names.as_slice() {
        [] => format!("{parts}, `{}`", plain(&shell_words::join(&run.command))),
        [one] => format!("{parts}, suite {one}"),
        several => format!("{parts}, suites {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        let seconds = |text: &str| duration(text).map(|time| time.as_secs());
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("10m"), Ok(600));
        assert_eq!(seconds("1h"), Ok(3600));
        for bad in ["", "m", "1d", "-3", "1.5h", "99999999999999999999h"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
