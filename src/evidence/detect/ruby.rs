//! Ruby projects: `RSpec`, else minitest by way of Rails or Rake.

use super::{Candidate, Project};

pub(crate) fn find(project: &Project<'_>) -> Option<Candidate> {
    let spec = project.names_in("spec").into_iter().find(|name| name.ends_with("_spec.rb"));
    let by_bundle = project.has("Gemfile") && project.on_path("bundle");
    if project.has(".rspec") || spec.is_some() {
        let because = if project.has(".rspec") { "`.rspec`".to_owned() } else { "`spec/`".to_owned() };
        let argv: &[&str] = if by_bundle { &["bundle", "exec", "rspec"] } else { &["rspec"] };
        return Some(project.candidate("Ruby", argv, because));
    }
    let tests = |name: &String| name.starts_with("test_") || name.ends_with("_test.rb");
    if project.is_executable("bin/rails") && project.path("test").is_dir() {
        return Some(project.candidate("Ruby", &["bin/rails", "test"], "`bin/rails` and `test/`"));
    }
    let rakefile = project.first_of(&["Rakefile", "rakefile", "Rakefile.rb"])?;
    let task = project.text(rakefile)?;
    if !task.contains("TestTask") && !project.names_with("test", "rb").iter().any(tests) {
        return None;
    }
    let argv: &[&str] = if by_bundle { &["bundle", "exec", "rake", "test"] } else { &["rake", "test"] };
    Some(project.candidate("Ruby", argv, format!("`{rakefile}`")))
}
