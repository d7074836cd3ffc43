//! Help texts and usage errors, as they stand in `tests/cmd/`. `TRYCMD=overwrite cargo test cmd` takes the new texts.

#[test]
fn help_and_usage_errors_say_what_stands_in_their_files() {
    let cases = trycmd::TestCases::new();
    cases.case("tests/cmd/*.trycmd").env("NO_COLOR", "1").env("COLUMNS", "100");
}
