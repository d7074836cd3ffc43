//! Which packets this person's endwell wrote. A receipt carries a seal made of the packet's digest and the person's
//! secret, which never lies in a repository: what came with a clone or an archive has none that fits.

use super::store::{Receipt, Store};
use crate::model::issue::sha256_hex;

impl Store {
    /// Whether this person's endwell wrote the receipt.
    pub fn knows(&self, receipt: &Receipt) -> bool {
        !receipt.seal.is_empty() && receipt.seal == self.seal(&receipt.session_id, &receipt.digest)
    }

    pub(super) fn seal(&self, session: &str, digest: &str) -> String {
        let sealed = |key: &String| sha256_hex(format!("{key}\n{session}\n{digest}\n{key}").as_bytes());
        self.key.as_ref().map(sealed).unwrap_or_default()
    }
}
