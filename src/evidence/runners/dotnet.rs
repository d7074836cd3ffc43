//! .NET: `dotnet test`.

use super::{Told, after};

/// `  Failed Namespace.Class.Test [12 ms]` lines, and one `Failed!  - Failed: 1, Passed: 2, …` line a test project.
pub(super) fn vstest(text: &str) -> Option<Told> {
    let (mut passed, mut failed, mut skipped, mut seen) = (0, 0, 0, false);
    let mut failing = Vec::new();
    for line in text.lines() {
        let test = line.trim_start();
        let total = ["Failed! ", "Passed! ", "Skipped! "].iter().any(|word| test.starts_with(word));
        if total && test.contains("Passed:") {
            seen = true;
            passed += after(test, "Passed:");
            failed += after(test, "- Failed:");
            skipped += after(test, "Skipped:");
        } else if let Some(rest) = test.strip_prefix("Failed ").filter(|_| line.starts_with("  ")) {
            let name = rest.rsplit_once(" [").filter(|(_, time)| time.ends_with("s]")).map(|(name, _)| name);
            failing.extend(name.map(|name| name.trim().to_owned()));
        }
    }
    failing.sort();
    failing.dedup();
    seen.then(|| Told::counted(passed, failed, skipped, failing))
}
