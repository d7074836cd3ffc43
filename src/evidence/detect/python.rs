//! Python projects: pytest where the project is set up for it, by the project's own environment; tox where only that
//! is; unittest where there are test cases of it and nothing else.

use super::{Candidate, Project};

pub(crate) fn find(project: &Project<'_>) -> Option<Candidate> {
    let tests = test_files(project);
    let because = pytest_sign(project);
    if because.is_none() && tests.is_empty() {
        return tox(project);
    }
    let of_unittest = |(_, text): &(String, String)| text.contains("unittest") || text.contains("TestCase");
    let unittest = !tests.is_empty() && tests.iter().all(of_unittest);
    if unittest && because.is_none() {
        return Some(by_unittest(project, &tests));
    }
    let pytest = pytest(project, because.as_deref().unwrap_or("its test files"));
    if pytest.missing.is_none() {
        return Some(pytest);
    }
    if unittest {
        return Some(by_unittest(project, &tests));
    }
    tox(project).filter(|tox| tox.missing.is_none()).or(Some(pytest))
}

/// What says that the project uses pytest.
fn pytest_sign(project: &Project<'_>) -> Option<String> {
    if let Some(file) =
        project.first_of(&["pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py"])
    {
        return Some(format!("`{file}`"));
    }
    let signs: [(&str, &[&str]); 7] = [
        ("pyproject.toml", &["[tool.pytest", "\"pytest", "'pytest", "pytest ="]),
        ("setup.cfg", &["[tool:pytest]"]),
        ("tox.ini", &["[pytest]"]),
        ("requirements.txt", &["pytest"]),
        ("requirements-dev.txt", &["pytest"]),
        ("dev-requirements.txt", &["pytest"]),
        ("Pipfile", &["pytest"]),
    ];
    let speaks = |(file, words): &&(&str, &[&str])| {
        project.text(file).is_some_and(|text| words.iter().any(|word| text.contains(word)))
    };
    signs.iter().find(speaks).map(|(file, _)| format!("`{file}`"))
}

/// pytest as the project's own environment has it, else the one on PATH.
fn pytest(project: &Project<'_>, because: &str) -> Candidate {
    for (lock, tool) in
        [("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv")]
    {
        if project.has(lock) && project.on_path(tool) {
            let because = format!("{because} and `{lock}`");
            return project.candidate("Python", &[tool, "run", "pytest"], because);
        }
    }
    let own = [".venv/bin/pytest", "venv/bin/pytest"].into_iter().find(|path| project.is_executable(path));
    project.candidate("Python", &[own.unwrap_or("pytest")], because)
}

fn tox(project: &Project<'_>) -> Option<Candidate> {
    let file = project.first_of(&["tox.ini", "tox.toml"])?;
    project
        .text(file)?
        .contains("testenv")
        .then(|| project.candidate("Python", &["tox"], format!("`{file}`")))
}

fn by_unittest(project: &Project<'_>, tests: &[(String, String)]) -> Candidate {
    let own = [".venv/bin/python", "venv/bin/python"].into_iter().find(|path| project.is_executable(path));
    let on_path = if project.on_path("python3") { "python3" } else { "python" };
    let python = own.unwrap_or(on_path);
    let folder = tests[0].0.rsplit_once('/').map(|(folder, _)| folder);
    let because = format!("`{}`, and no pytest that could be started", tests[0].0);
    match folder {
        // without `__init__.py` discovery from the top does not go into the folder
        Some(folder) if !project.has(&format!("{folder}/__init__.py")) => {
            project.candidate("Python", &[python, "-m", "unittest", "discover", "-s", folder], because)
        }
        _ => project.candidate("Python", &[python, "-m", "unittest"], because),
    }
}

/// Test files with their texts, at the top and in the usual folders.
fn test_files(project: &Project<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["tests", "test", ""] {
        for name in project.names_with(folder, "py") {
            if !(name.starts_with("test_") || name.ends_with("_test.py")) {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if let Some(text) = project.peek(&path) {
                found.push((path, text));
            }
        }
    }
    found
}
