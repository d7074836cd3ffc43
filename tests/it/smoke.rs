//! The binary starts and names itself.

use crate::common::Sandbox;

#[test]
fn says_its_version() {
    let ran = Sandbox::with_repo().with_remote().endwell(&["--version"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout, format!("endwell {}\n", env!("CARGO_PKG_VERSION")));
}
