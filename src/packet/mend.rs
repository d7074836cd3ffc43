//! What a writer that was killed leaves behind, put in order again under the lock: temporary files, a write that
//! stopped half-way, a packet without a receipt, a status that the pointer contradicts. A packet is never thrown away.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::store::{Pointer, Receipt, Store, StoreError, json, order, put, read};
use crate::fs;
use crate::model::SCHEMA_VERSION;
use crate::model::issue::sha256_hex;
use crate::model::packet::{Packet, PacketStatus};

/// A temporary file younger than this may have a writer still.
const LEFT_OVER_SECONDS: i64 = 60;

impl Store {
    /// Whether [`Store::mend`] has anything to do. Needs no lock.
    pub fn needs_mending(&self, now: Timestamp) -> bool {
        !self.left_over(now).is_empty() || !self.unfinished().is_empty() || !self.contradicted().is_empty()
    }

    /// Puts in order what killed writers left. Call it under [`Store::lock`].
    pub fn mend(&self, now: Timestamp) -> Result<(), StoreError> {
        for path in self.left_over(now) {
            fs::remove(&path)?;
        }
        for folder in self.unfinished() {
            self.finish(&folder)?;
        }
        self.settle()?;
        Ok(())
    }

    /// Makes every packet's status say what the pointers say. Call it under [`Store::lock`].
    pub(super) fn settle(&self) -> Result<bool, StoreError> {
        let mut changed = false;
        for (receipt, status) in self.contradicted() {
            if status == PacketStatus::Active {
                changed |= self.point(&receipt)?;
            }
            if receipt.status != status {
                changed |= self.mark(receipt, status)?;
            }
        }
        Ok(changed)
    }

    /// An id for a packet that a person hands over: another branch's, topic's or work tree's packet of the same commit
    /// keeps its own. The same packet always gets the same id.
    pub fn manual_id(&self, id: &str, branch: Option<&str>, topic: &str) -> String {
        let top = self.top.display().to_string();
        let is_free = |id: &str| {
            let Some(kept) = read::<Receipt>(&self.kept(id).join("receipt.json")) else { return true };
            // a work tree that was moved or removed has no claim any more
            let elsewhere = kept.worktree != top && fs::exists(Path::new(&kept.worktree));
            kept.branch.as_deref() == branch && kept.topic == topic && !elsewhere
        };
        let mut candidate = id.to_owned();
        let mut number = 1;
        while !is_free(&candidate) {
            number += 1;
            candidate = format!("{id}-{number}");
        }
        candidate
    }

    fn left_over(&self, now: Timestamp) -> Vec<PathBuf> {
        let mut folders = vec![self.shared.join("active"), self.outputs.clone()];
        folders.extend(self.outputs.parent().map(Path::to_path_buf));
        for parent in [self.shared.join("packets"), self.outputs.clone()] {
            folders.extend(fs::list(&parent).unwrap_or_default());
        }
        let files = folders.iter().flat_map(|folder| fs::list(folder).unwrap_or_default());
        files.filter(|path| is_left_over(path, now)).collect()
    }

    /// Folders of packets whose write was begun and not ended, or that have no receipt.
    fn unfinished(&self) -> Vec<PathBuf> {
        let folders = fs::list(&self.shared.join("packets")).unwrap_or_default();
        let torn = |folder: &PathBuf| {
            let has = |name: &str| fs::exists(&folder.join(name));
            has("pending.json")
                || (has("handoff.json") && read::<Receipt>(&folder.join("receipt.json")).is_none())
        };
        folders.into_iter().filter(torn).collect()
    }

    fn finish(&self, folder: &Path) -> Result<(), StoreError> {
        let pending = read::<Receipt>(&folder.join("pending.json"));
        let Some(mut packet) = read::<Packet>(&folder.join("handoff.json")) else {
            return Ok(fs::remove(&folder.join("pending.json"))?);
        };
        if self.kept(&packet.session_id) != folder {
            return Ok(());
        }
        packet.status = PacketStatus::Active;
        let digest = sha256_hex(&json(&packet)?);
        let begun = pending.filter(|receipt| receipt.digest == digest);
        let has_receipt = read::<Receipt>(&folder.join("receipt.json")).is_some();
        let receipt = match begun {
            Some(receipt) => Some(receipt),
            // the former packet stands there still, with its receipt
            None if has_receipt => None,
            None => Some(self.adopted(folder, &packet, digest)),
        };
        if let Some(mut receipt) = receipt {
            let other = self.pointed(receipt.branch.as_deref(), &receipt.topic);
            let other = other.filter(|other| other.session_id != receipt.session_id);
            if other.is_some_and(|other| order(&other) > order(&receipt)) {
                receipt.status = PacketStatus::Superseded;
            }
            self.put(&receipt, &packet, None)?;
            if receipt.status == PacketStatus::Active {
                self.point(&receipt)?;
            }
        }
        Ok(fs::remove(&folder.join("pending.json"))?)
    }

    /// A receipt for a packet that has none.
    fn adopted(&self, folder: &Path, packet: &Packet, digest: String) -> Receipt {
        let changed = fs::stat(&folder.join("handoff.json")).and_then(|meta| meta.modified().ok());
        let at = changed.and_then(|at| Timestamp::try_from(at).ok()).unwrap_or_default().to_string();
        Receipt {
            schema_version: SCHEMA_VERSION,
            session_id: packet.session_id.clone(),
            // nobody knows who wrote it
            seal: String::new(),
            agent: packet.agent.clone(),
            branch: packet.branch.clone(),
            topic: packet.topic.clone(),
            head_commit: packet.head_commit.clone(),
            status: PacketStatus::Active,
            digest,
            began: at.clone(),
            written_at: at,
            worktree: self.top.display().to_string(),
            folder: self.outputs.join(&packet.session_id).display().to_string(),
            apart: false,
            ending: None,
            changed_since: Vec::new(),
            loaded: Vec::new(),
        }
    }

    /// The receipt of the packet that the pointer names, where there is one.
    fn pointed(&self, branch: Option<&str>, topic: &str) -> Option<Receipt> {
        let pointer: Pointer = read(&self.pointer(branch, topic))?;
        let receipt: Receipt = read(&self.kept(&pointer.session_id).join("receipt.json"))?;
        (receipt.branch.as_deref() == branch && receipt.topic == topic).then_some(receipt)
    }

    /// Receipts whose status is not what the pointer says, with what it says. Where no pointer stands for packets that
    /// call themselves active, the latest of them is.
    fn contradicted(&self) -> Vec<(Receipt, PacketStatus)> {
        let receipts = self.receipts();
        let mut found = Vec::new();
        for receipt in &receipts {
            let same = |other: &&Receipt| other.branch == receipt.branch && other.topic == receipt.topic;
            let pointed = self.pointed(receipt.branch.as_deref(), &receipt.topic);
            let is_pointed = match &pointed {
                Some(other) => other.session_id == receipt.session_id,
                None => receipts
                    .iter()
                    .filter(same)
                    .rfind(|other| other.status == PacketStatus::Active)
                    .is_some_and(|latest| latest.session_id == receipt.session_id),
            };
            let status = match receipt.status {
                PacketStatus::Archived => continue,
                _ if is_pointed => PacketStatus::Active,
                _ => PacketStatus::Superseded,
            };
            if status != receipt.status || (is_pointed && pointed.is_none()) {
                found.push((receipt.clone(), status));
            }
        }
        found
    }

    /// Makes a packet the active one of its branch and topic.
    pub(super) fn point(&self, receipt: &Receipt) -> Result<bool, StoreError> {
        let pointer = Pointer {
            schema_version: SCHEMA_VERSION,
            branch: receipt.branch.clone(),
            topic: receipt.topic.clone(),
            session_id: receipt.session_id.clone(),
        };
        Ok(put(&self.pointer(receipt.branch.as_deref(), &receipt.topic), &json(&pointer)?)?)
    }
}

fn is_left_over(path: &Path, now: Timestamp) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    if !name.starts_with(".endwell-") || Path::new(name).extension().is_none_or(|end| end != "tmp") {
        return false;
    }
    fs::stat(path).is_some_and(|meta| {
        let changed = meta.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
        meta.is_file() && changed.is_some_and(|at| now.as_second() - at.as_second() > LEFT_OVER_SECONDS)
    })
}
