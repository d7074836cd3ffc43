//! Recorded test runs: one atomic file a key in the folder that all work trees share. A file that can't be read or
//! that a newer version wrote counts as missing, never as green.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::{Parts, differences, digest_of};
use crate::model::SCHEMA_VERSION;
use crate::model::issue::sha256_hex;
use crate::model::report::Evidence;

/// So many records stay, the newest ones.
const MOST: usize = 1000;
/// And none that is older.
const OLDEST: Duration = Duration::from_hours(180 * 24);

/// What a run is bound to, besides its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub tree: String,
    pub argv: Vec<String>,
    /// From the top of the work tree; empty for the top itself.
    pub cwd: String,
    /// In a fresh checkout of the commit: another thing than a run in a work tree.
    pub clean_room: bool,
}

/// What is recorded for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// For this environment.
    Same(Box<Evidence>),
    /// For others only; the parts that differ from the newest of them.
    Other {
        changed: Vec<String>,
    },
    Nothing,
}

/// The folder of records.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Key {
    fn command_id(&self) -> String {
        command_id(&self.argv, &self.cwd)
    }
}

fn command_id(argv: &[String], cwd: &str) -> String {
    sha256_hex(format!("{cwd}\0{}", argv.join("\0")).as_bytes())[..12].to_owned()
}

impl Store {
    /// The store below endwell's shared folder.
    pub fn in_shared(shared: &Path) -> Self {
        Self { folder: shared.join("evidence") }
    }

    /// The store of runs that are claimed by somebody who may not write this one: nothing in it is evidence.
    #[must_use]
    pub fn claimed(&self) -> Self {
        Self { folder: self.folder.join("claimed") }
    }

    /// The file whose lock makes sure that a key's tests run once at a time.
    pub fn lock_path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!(".lock-{}-{}", &key.tree[..key.tree.len().min(16)], key.command_id()))
    }

    /// Looks a key up. A work tree without a record of its own in this environment is answered by a green run in a
    /// fresh checkout; a red one says nothing about it.
    pub fn find(&self, key: &Key, parts: &Parts) -> io::Result<Found> {
        let mut records = self.read(|name| name.starts_with(&key.tree))?;
        records.retain(|record| {
            record.tree == key.tree && record.run.command == key.argv && record.cwd == key.cwd
        });
        records
            .retain(|record| record.clean_room == key.clean_room || record.clean_room && record.is_green());
        newest_first(&mut records);
        records.sort_by_key(|record| record.clean_room != key.clean_room);
        let mut nearest: Option<Vec<String>> = None;
        for record in records {
            let mut changed = differences(&record.environment, parts);
            changed.retain(|name| !(record.volatile.contains(name) || record.clean_room && is_local(name)));
            if changed.is_empty() {
                return Ok(Found::Same(Box::new(record)));
            }
            nearest.get_or_insert(changed);
        }
        Ok(nearest.map_or(Found::Nothing, |changed| Found::Other { changed }))
    }

    /// Every record of a tree, the newest first.
    pub fn by_tree(&self, tree: &str) -> io::Result<Vec<Evidence>> {
        let mut records = self.read(|name| name.starts_with(tree))?;
        records.retain(|record| record.tree == tree);
        newest_first(&mut records);
        Ok(records)
    }

    /// As [`Store::by_tree`], without the acceptance commands of a board.
    pub fn tests_of(&self, tree: &str) -> io::Result<Vec<Evidence>> {
        let mut records = self.by_tree(tree)?;
        records.retain(|record| !record.acceptance);
        Ok(records)
    }

    /// Whatever anything is recorded about.
    pub fn trees(&self) -> io::Result<BTreeSet<String>> {
        let names = crate::fs::list(&self.folder)?.into_iter().filter(|path| is_record(path));
        Ok(names.filter_map(|path| file_name(&path).split('-').next().map(str::to_owned)).collect())
    }

    /// The newest record of a command on whatever tree, that `wanted` takes.
    pub fn newest(
        &self,
        argv: &[String],
        cwd: &str,
        wanted: impl Fn(&Evidence) -> bool,
    ) -> io::Result<Option<Evidence>> {
        let id = command_id(argv, cwd);
        let mut records = self.read(|name| name.contains(&id))?;
        records.retain(|record| record.run.command == argv && record.cwd == cwd && wanted(record));
        newest_first(&mut records);
        Ok(records.into_iter().next())
    }

    /// Writes a record, in the place of the former one of its key and environment.
    pub fn write(&self, evidence: &Evidence) -> io::Result<()> {
        let environment = digest_of(&evidence.environment, &evidence.volatile);
        let command = command_id(&evidence.run.command, &evidence.cwd);
        let room = if evidence.clean_room { "-clean" } else { "" };
        let name = format!("{}-{command}-{}{room}.json", evidence.tree, &environment[..12]);
        let mut text = serde_json::to_string_pretty(evidence).map_err(io::Error::other)?;
        text.push('\n');
        crate::fs::write_atomic(&self.folder.join(name), text.as_bytes())
    }

    /// Removes what is old or too much, but nothing of the trees in `keep` (packets name them), which is asked only
    /// where something is.
    pub fn prune(&self, keep: impl FnOnce() -> BTreeSet<String>) -> io::Result<()> {
        let now = crate::clock::now().as_second();
        let mut records: Vec<(i64, PathBuf)> = Vec::new();
        for path in crate::fs::list(&self.folder)? {
            if let Some(meta) = crate::fs::stat(&path).filter(|_| is_record(&path) || is_lock(&path)) {
                records.push((std::os::unix::fs::MetadataExt::mtime(&meta), path));
            }
        }
        records.sort_by(|one, two| two.cmp(one));
        let oldest = now - i64::try_from(OLDEST.as_secs()).unwrap_or(i64::MAX);
        let over: Vec<PathBuf> = records
            .into_iter()
            .enumerate()
            .filter(|(index, (written, _))| *index >= MOST || *written < oldest)
            .map(|(_, (_, path))| path)
            .collect();
        if over.is_empty() {
            return Ok(());
        }
        let keep = keep();
        for path in over {
            let name = file_name(&path);
            if is_lock(&path) || !keep.contains(name.split('-').next().unwrap_or_default()) {
                crate::fs::remove(&path)?;
            }
        }
        Ok(())
    }

    fn read(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Evidence>> {
        let mut records = Vec::new();
        for path in crate::fs::list(&self.folder)? {
            let name = file_name(&path);
            if name.starts_with('.') || !is_record(&path) || !wanted(&name) {
                continue;
            }
            let Some(bytes) = crate::fs::read_optional(&path)? else { continue };
            if let Ok(evidence) = serde_json::from_slice::<Evidence>(&bytes)
                && evidence.schema_version == SCHEMA_VERSION
            {
                records.push(evidence);
            }
        }
        Ok(records)
    }
}

/// A part that a fresh checkout does not have: a run in one does not depend on it.
fn is_local(part: &str) -> bool {
    part.starts_with("file:") || part.starts_with("folder:")
}

fn is_lock(path: &Path) -> bool {
    file_name(path).starts_with(".lock-")
}

fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// RFC 3339 in UTC to the millisecond does not sort as text where the milliseconds are zero, so times are compared.
fn newest_first(records: &mut [Evidence]) {
    let time =
        |record: &Evidence| record.recorded_at.parse::<jiff::Timestamp>().unwrap_or(jiff::Timestamp::MIN);
    records.sort_by(|one, two| {
        time(two).cmp(&time(one)).then_with(|| one.environment_digest.cmp(&two.environment_digest))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::TestRun;

    fn evidence(tree: &str, exit: i32, at: &str) -> Evidence {
        Evidence {
            schema_version: SCHEMA_VERSION,
            tree: tree.to_owned(),
            environment: Parts::from([
                ("platform".to_owned(), "p".to_owned()),
                ("file:a".to_owned(), "1".to_owned()),
            ]),
            run: TestRun { command: vec!["t".to_owned()], exit_code: Some(exit), ..TestRun::default() },
            recorded_at: at.to_owned(),
            ..Evidence::default()
        }
    }

    fn key(tree: &str) -> Key {
        Key { tree: tree.to_owned(), argv: vec!["t".to_owned()], cwd: String::new(), clean_room: false }
    }

    #[test]
    fn a_clean_rooms_record_and_a_work_trees_stand_beside_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_shared(dir.path());
        let room = Evidence { clean_room: true, ..evidence("aaaa", 1, "2026-01-02T00:00:00Z") };
        let parts = room.environment.clone();
        let in_room = Key { clean_room: true, ..key("aaaa") };
        store.write(&room).unwrap();
        assert_eq!(store.find(&key("aaaa"), &parts).unwrap(), Found::Nothing, "red there says nothing here");
        let plain = evidence("aaaa", 0, "2026-01-01T00:00:00Z");
        store.write(&plain).unwrap();
        assert_eq!(store.find(&key("aaaa"), &parts).unwrap(), Found::Same(Box::new(plain)));
        assert_eq!(store.find(&in_room, &parts).unwrap(), Found::Same(Box::new(room.clone())));
        let green = Evidence { run: TestRun { exit_code: Some(0), ..room.run.clone() }, ..room };
        store.write(&green).unwrap();
        let red = evidence("aaaa", 1, "2026-01-01T00:00:00Z");
        store.write(&red).unwrap();
        assert_eq!(
            store.find(&key("aaaa"), &parts).unwrap(),
            Found::Same(Box::new(red)),
            "its own comes first"
        );
        assert_eq!(store.by_tree("aaaa").unwrap().len(), 2);
    }

    #[test]
    fn a_record_answers_for_its_tree_command_folder_and_environment_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_shared(dir.path());
        let green = evidence("aaaa", 0, "2026-01-01T00:00:00Z");
        store.write(&green).unwrap();
        let same = green.environment.clone();
        assert_eq!(store.find(&key("aaaa"), &same).unwrap(), Found::Same(Box::new(green.clone())));
        assert_eq!(store.find(&key("aaa"), &same).unwrap(), Found::Nothing);
        assert_eq!(store.find(&Key { cwd: "sub".to_owned(), ..key("aaaa") }, &same).unwrap(), Found::Nothing);
        assert_eq!(
            store.find(&Key { argv: vec!["u".to_owned()], ..key("aaaa") }, &same).unwrap(),
            Found::Nothing
        );
        let mut other = same;
        other.insert("file:a".to_owned(), "2".to_owned());
        let changed = vec!["file:a".to_owned()];
        assert_eq!(store.find(&key("aaaa"), &other).unwrap(), Found::Other { changed });
        let volatile = Evidence { volatile: vec!["file:a".to_owned()], ..green };
        store.write(&volatile).unwrap();
        assert_eq!(store.find(&key("aaaa"), &other).unwrap(), Found::Same(Box::new(volatile)));
    }

    #[test]
    fn a_torn_or_newer_file_counts_as_missing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_shared(dir.path());
        let newer = Evidence { schema_version: 9, ..evidence("aaaa", 0, "2026-01-01T00:00:00Z") };
        store.write(&newer).unwrap();
        crate::fs::write_plain(&dir.path().join("evidence/aaaa-x-y.json"), b"{\"schema_").unwrap();
        assert_eq!(store.find(&key("aaaa"), &newer.environment).unwrap(), Found::Nothing);
        assert_eq!(store.by_tree("aaaa").unwrap(), []);
    }

    #[test]
    fn an_acceptance_command_says_nothing_about_the_tests() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_shared(dir.path());
        store.write(&evidence("aaaa", 1, "2026-01-01T00:00:00Z")).unwrap();
        let mut acceptance = Evidence { acceptance: true, ..evidence("aaaa", 0, "2026-01-02T00:00:00Z") };
        acceptance.run.command = vec!["accept".to_owned()];
        store.write(&acceptance).unwrap();
        assert!(store.by_tree("aaaa").unwrap()[0].is_green());
        let tests = store.tests_of("aaaa").unwrap();
        assert_eq!((tests.len(), tests[0].is_green()), (1, false));
    }

    #[test]
    fn the_newest_record_of_a_command_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_shared(dir.path());
        store.write(&evidence("aaaa", 0, "2026-01-01T00:00:00Z")).unwrap();
        store.write(&evidence("bbbb", 1, "2026-01-01T00:00:00.5Z")).unwrap();
        let newest =
            |wanted: fn(&Evidence) -> bool| store.newest(&key("").argv, "", wanted).unwrap().unwrap().tree;
        assert_eq!(newest(|_| true), "bbbb");
        assert_eq!(newest(Evidence::is_green), "aaaa");
    }
}
