//! How packets come to rest: archived when their branch is over, and let go when they are old and many. An active one is
//! never let go.

use jiff::Timestamp;

use super::store::{Receipt, Store, StoreError, instant};
use crate::fs;
use crate::model::packet::PacketStatus;

impl Store {
    /// Archives the packets of branches that are over. Call it under [`Store::lock`].
    pub fn archive(&self, is_over: impl Fn(&Receipt) -> bool) -> Result<usize, StoreError> {
        let mut count = 0;
        for receipt in self.receipts() {
            if receipt.status != PacketStatus::Archived && is_over(&receipt) {
                fs::remove(&self.pointer(receipt.branch.as_deref(), &receipt.topic))?;
                self.mark(receipt, PacketStatus::Archived)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Packets that are neither active, nor among the newest `keep`, nor younger than `days`.
    pub fn outdated(&self, keep: usize, days: u32, now: Timestamp) -> Vec<Receipt> {
        let mut receipts = self.receipts();
        let kept = receipts.len().saturating_sub(keep);
        receipts.truncate(kept);
        let old = |receipt: &Receipt| {
            instant(&receipt.written_at)
                .is_some_and(|at| now.as_second() - at.as_second() > i64::from(days) * 86_400)
        };
        receipts.retain(|receipt| receipt.status != PacketStatus::Active && old(receipt));
        receipts
    }

    /// Removes a packet that is not active, with this work tree's copy. Call it under [`Store::lock`].
    pub fn forget(&self, receipt: &Receipt) -> Result<(), StoreError> {
        for folder in [self.outputs.join(&receipt.session_id), self.kept(&receipt.session_id)] {
            for name in ["handoff.md", "handoff.json", "receipt.json", "pending.json"] {
                fs::remove(&folder.join(name))?;
            }
            fs::remove_empty_dir(&folder);
        }
        Ok(())
    }
}
