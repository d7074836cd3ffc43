//! Projects whose test command follows from one file.

use super::{CMAKE_TESTS, Candidate, Project};

pub(crate) fn cargo(project: &Project<'_>) -> Option<Candidate> {
    let manifest = project.text("Cargo.toml")?;
    let nextest = project.has(".config/nextest.toml") && project.on_path("cargo-nextest");
    // all test binaries run, so that every failing test is named and not only those of the first binary
    let mut argv = if nextest {
        vec!["cargo", "nextest", "run", "--no-fail-fast"]
    } else {
        vec!["cargo", "test", "--no-fail-fast"]
    };
    if manifest.lines().any(|line| line.trim() == "[workspace]" || line.trim().starts_with("[workspace.")) {
        argv.push("--workspace");
    }
    let because = if nextest { "`Cargo.toml` and `.config/nextest.toml`" } else { "`Cargo.toml`" };
    Some(project.candidate("Cargo", &argv, because))
}

pub(crate) fn go(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["go.mod", "go.work"])?;
    Some(project.candidate("Go", &["go", "test", "./..."], format!("`{file}`")))
}

pub(crate) fn maven(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["pom.xml"])?;
    let program = if project.is_executable("mvnw") { "./mvnw" } else { "mvn" };
    Some(project.candidate("Maven", &[program, "-B", "test"], format!("`{file}`")))
}

pub(crate) fn gradle(project: &Project<'_>) -> Option<Candidate> {
    let files = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    let file = project.first_of(&files)?;
    let program = if project.is_executable("gradlew") { "./gradlew" } else { "gradle" };
    Some(project.candidate("Gradle", &[program, "test"], format!("`{file}`")))
}

pub(crate) fn dotnet(project: &Project<'_>) -> Option<Candidate> {
    let first = |extension: &&str| project.names_with("", extension).into_iter().next();
    let file = ["sln", "slnx", "csproj", "fsproj"].iter().find_map(first)?;
    Some(project.candidate(".NET", &["dotnet", "test"], format!("`{file}`")))
}

pub(crate) fn phpunit(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"])?;
    let program = if project.is_executable("vendor/bin/phpunit") { "vendor/bin/phpunit" } else { "phpunit" };
    Some(project.candidate("PHPUnit", &[program], format!("`{file}`")))
}

pub(crate) fn swift(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["Package.swift"])?;
    Some(project.candidate("Swift", &["swift", "test"], format!("`{file}`")))
}

/// Only a configured build folder can be tested: configuring is the project's own business.
pub(crate) fn cmake(project: &Project<'_>) -> Option<Candidate> {
    let lists = project.text("CMakeLists.txt")?;
    let tests =
        ["enable_testing", "include(CTest)", "ENABLE_TESTING"].iter().any(|word| lists.contains(word));
    let built = project.has(CMAKE_TESTS);
    if !tests && !built {
        return None;
    }
    let argv = ["ctest", "--test-dir", "build", "--output-on-failure"];
    let mut candidate = project.candidate("CMake", &argv, "`CMakeLists.txt`");
    if !built {
        candidate.missing = Some(CMAKE_TESTS.to_owned());
    }
    Some(candidate)
}

pub(crate) fn make(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["GNUmakefile", "makefile", "Makefile"])?;
    let text = project.text(file)?;
    let target =
        ["test", "check"].into_iter().find(|target| text.lines().any(|line| is_target(line, target)))?;
    Some(project.candidate("Make", &["make", target], format!("the target `{target}` in `{file}`")))
}

pub(crate) fn just(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["justfile", "Justfile", ".justfile"])?;
    let text = project.text(file)?;
    let is_recipe = |line: &str| {
        let line = line.trim_start_matches('@');
        let rest = line.strip_prefix("test").unwrap_or_default();
        rest.starts_with([':', ' ']) && rest.contains(':') && !rest.trim_start().starts_with(":=")
    };
    let found = text.lines().any(is_recipe);
    found.then(|| project.candidate("just", &["just", "test"], format!("the recipe `test` in `{file}`")))
}

/// Whether a line of a makefile starts the rule of a target.
fn is_target(line: &str, target: &str) -> bool {
    let Some((names, rest)) = line.split_once(':') else { return false };
    !line.starts_with(['\t', '#', ' ', '.'])
        && !rest.starts_with('=')
        && !names.contains('=')
        && names.split_whitespace().any(|name| name == target)
}
