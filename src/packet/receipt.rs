//! What is written down about a packet after it was made: who loaded it, how its session ended. It stands in the
//! receipt, outside the packet's bytes.

use super::store::{Loaded, Receipt, Store, StoreError, json, read};
use crate::fs;
use crate::model::session::Ending;

impl Store {
    /// Writes down that a packet was loaded. Call it under [`Store::lock`].
    pub fn loaded(&self, session: &str, loaded: Loaded) -> Result<(), StoreError> {
        let path = self.kept(session).join("receipt.json");
        if let Some(mut receipt) = read::<Receipt>(&path)
            && receipt.loaded.last().is_none_or(|last| last.session != loaded.session)
        {
            receipt.loaded.push(loaded);
            fs::write_atomic(&path, &json(&receipt)?)?;
        }
        Ok(())
    }

    /// Writes down how a packet's session ended. Call it under [`Store::lock`].
    pub fn ended(&self, session: &str, ending: Ending, changed_since: &[String]) -> Result<(), StoreError> {
        let path = self.kept(session).join("receipt.json");
        if let Some(receipt) = read::<Receipt>(&path) {
            let ended =
                Receipt { ending: Some(ending), changed_since: changed_since.to_vec(), ..receipt.clone() };
            if ended != receipt {
                fs::write_atomic(&path, &json(&ended)?)?;
            }
        }
        Ok(())
    }
}
