//! Stash entries: who made them on which branch, and whether they carry a note of their own.

use super::{GitError, Repo};

/// One entry of the stash, which all work trees share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashEntry {
    /// For example `stash@{0}`.
    pub selector: String,
    pub commit: String,
    /// The commit that it was made on.
    pub parent: Option<String>,
    /// The branch that it was made on; `None` where the message does not tell.
    pub branch: Option<String>,
    pub note: StashNote,
}

/// The note of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StashNote {
    /// Says what it is.
    Own(String),
    /// Given, but worthless.
    Empty(String),
    /// git's own words.
    None,
}

impl Repo {
    /// All entries, newest first.
    pub fn stash_entries(&self) -> Result<Vec<StashEntry>, GitError> {
        let format = "--format=%gd%x00%gs%x00%H%x00%P";
        let output = self.git(&["stash", "list", "-z", format])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let fields: Vec<&str> = text.split('\0').collect();
        Ok(fields.chunks_exact(4).map(read).collect())
    }
}

fn read(fields: &[&str]) -> StashEntry {
    let (branch, note) = note_of(fields[1]);
    StashEntry {
        selector: fields[0].to_owned(),
        commit: fields[2].to_owned(),
        parent: fields[3].split(' ').next().filter(|id| !id.is_empty()).map(str::to_owned),
        branch,
        note,
    }
}

/// Splits git's subject line into branch and note.
fn note_of(subject: &str) -> (Option<String>, StashNote) {
    if let Some(rest) = subject.strip_prefix("WIP on ") {
        return (branch_of(rest.split_once(": ").map_or(rest, |(branch, _)| branch)), StashNote::None);
    }
    let Some((branch, note)) = subject.strip_prefix("On ").and_then(|rest| rest.split_once(": ")) else {
        return (None, StashNote::None);
    };
    let note = note.trim();
    let machine = ["autostash", "lefthook auto backup"].contains(&note.to_lowercase().as_str());
    let kind = match (machine, says_nothing(note)) {
        (true, _) => StashNote::None,
        (false, true) => StashNote::Empty(note.to_owned()),
        (false, false) => StashNote::Own(note.to_owned()),
    };
    (branch_of(branch), kind)
}

/// Whether a note is too short to say anything, or one of the words that stand for none.
pub fn says_nothing(note: &str) -> bool {
    let lower = note.trim().to_lowercase();
    let letters = note.chars().filter(|c| c.is_alphabetic()).count();
    lower.starts_with("wip") || ["tmp", "temp"].contains(&lower.as_str()) || letters < 8
}

fn branch_of(name: &str) -> Option<String> {
    Some(name).filter(|name| *name != "(no branch)").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_from_gits_own_words() {
        let own = StashNote::Own("half of parser, see #12".to_owned());
        assert_eq!(note_of("On main: half of parser, see #12"), (Some("main".into()), own));
        assert_eq!(note_of("WIP on main: 1a2b3c4 subject"), (Some("main".into()), StashNote::None));
        assert_eq!(note_of("WIP on (no branch): 1a2b3c4 s"), (None, StashNote::None));
        assert_eq!(note_of("On main: WIP on main").1, StashNote::Empty("WIP on main".into()));
        assert_eq!(note_of("On s: autostash").1, StashNote::None);
        assert_eq!(note_of("Created via \"git stash store\".").1, StashNote::None);
        assert_eq!(
            note_of("On main: 解析器做了一半，等测试").1,
            StashNote::Own("解析器做了一半，等测试".into())
        );
    }
}
