//! endwell's own log in this person's state folder, or in the file that `ENDWELL_LOG` names: what a hook met and must
//! not say to the client. Bounded.

use std::fmt::Display;

use crate::env::Env;
use crate::fs;

/// Bytes at which the log is put aside, once.
const LIMIT: u64 = 256 * 1024;

/// Writes a line. A log that can't be written is no reason to disturb a session.
pub fn note(env: &Env, text: impl Display) {
    let named = env.os("ENDWELL_LOG").map(|name| env.cwd().join(name));
    let Some(path) = named.or_else(|| Some(env.state_dir()?.join("endwell.log"))) else { return };
    if fs::stat(&path).is_some_and(|meta| meta.is_file() && meta.len() > LIMIT) {
        let mut former = path.clone().into_os_string();
        former.push(".1");
        fs::rename(&path, former.as_ref()).ok();
    }
    let line = format!("{} {}\n", crate::clock::now_text(), crate::ui::plain(&text.to_string()));
    fs::append(&path, line.as_bytes()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_where_it_is_told_and_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap();
        let env = Env::made_of(dir.path(), [("HOME", home)]);
        note(&env, "one\nline");
        let usual = dir.path().join(".local/state/endwell/endwell.log");
        assert!(fs::read_text_optional(&usual).unwrap().unwrap().ends_with(" one\\nline\n"));
        let env = Env::made_of(dir.path(), [("HOME", home), ("ENDWELL_LOG", "own.log")]);
        fs::write_plain(&dir.path().join("own.log"), &vec![b'x'; 300 * 1024]).unwrap();
        note(&env, "two");
        assert!(fs::read(&dir.path().join("own.log")).unwrap().ends_with(b" two\n"));
        assert_eq!(fs::stat(&dir.path().join("own.log.1")).unwrap().len(), 300 * 1024);
    }
}
