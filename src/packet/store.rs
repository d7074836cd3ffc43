//! Where packets lie, and which one is active. Each packet lies in the outputs folder of its work tree and, with its
//! digest, in the git dir that all work trees share. The pointer file of a branch and topic is the truth: `status` is
//! derived from it and repaired under the lock. Nothing is written that stands there already.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::fs;
use crate::model::issue::sha256_hex;
use crate::model::packet::{Packet, PacketStatus};
use crate::model::session::Ending;
use crate::model::{SCHEMA_VERSION, slug};

/// Why a packet could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("can't keep the packet")]
    Io(#[from] io::Error),
    #[error("the packet `{id}` can't be read: {message}")]
    Unreadable { id: String, message: String },
    #[error(transparent)]
    Render(#[from] super::RenderError),
}

/// The packets of a repository, as one work tree sees them.
#[derive(Clone, Debug)]
pub struct Store {
    /// Top of the work tree.
    pub top: PathBuf,
    /// The folder for packets in the work tree.
    pub outputs: PathBuf,
    /// endwell's folder in the common git dir.
    pub shared: PathBuf,
    /// This person's secret, by which packets are known again; without it none is.
    pub key: Option<String>,
}

/// What is known about a packet without reading it: it stands outside the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub schema_version: u32,
    pub session_id: String,
    /// Made of the digest and this person's secret: a packet that came with a repository has none that fits.
    #[serde(default)]
    pub seal: String,
    pub agent: String,
    pub branch: Option<String>,
    pub topic: String,
    pub head_commit: String,
    pub status: PacketStatus,
    /// sha256 of `handoff.json` as it is while it is active.
    pub digest: String,
    /// When the session began, else when its packet was first written; RFC 3339. Orders packets.
    pub began: String,
    pub written_at: String,
    /// The work tree that it was made in; only ever named.
    pub worktree: String,
    /// The folder of its copy there.
    pub folder: String,
    /// It held commits that the default branch lacked when it was written.
    #[serde(default)]
    pub apart: bool,
    /// How its session ended; absent while it goes on.
    #[serde(default)]
    pub ending: Option<Ending>,
    /// What was no longer as the session had left it when its packet was finished late.
    #[serde(default)]
    pub changed_since: Vec<String>,
    /// When it was loaded, and by which session.
    #[serde(default)]
    pub loaded: Vec<Loaded>,
}

/// One loading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    pub at: String,
    pub session: String,
}

/// Which packet is active for a branch and topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    pub(super) schema_version: u32,
    pub(super) branch: Option<String>,
    pub(super) topic: String,
    pub(super) session_id: String,
}

/// A packet and its receipt.
#[derive(Clone, Debug)]
pub struct Stored {
    pub packet: Packet,
    pub receipt: Receipt,
    /// The bytes have the digest that was written down with them.
    pub intact: bool,
    /// This person's endwell wrote it, or the person took it over.
    pub known: bool,
}

/// What a write needs beside the packet.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    pub packet: &'a Packet,
    /// `handoff.md` of the active packet.
    pub markdown: &'a str,
    /// RFC 3339; absent where the session has no journal.
    pub began: Option<&'a str>,
    pub now: &'a str,
    /// Finished late, for a session that died: it does not take over from a later session's packet.
    pub late: bool,
    /// HEAD holds commits that the default branch lacks.
    pub apart: bool,
    /// How the session ended; absent while it goes on.
    pub ending: Option<Ending>,
    /// What changed between the session's last turn and now, where it is finished late.
    pub changed_since: &'a [String],
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrote {
    pub json: PathBuf,
    pub markdown: PathBuf,
    /// Some file was written.
    pub changed: bool,
    pub status: PacketStatus,
}

impl Store {
    /// Held while packets are judged, written and marked.
    pub fn lock(&self) -> io::Result<fs::Lock> {
        fs::lock(&self.shared.join("packets.lock"))
    }

    /// Every packet's receipt, oldest session first.
    pub fn receipts(&self) -> Vec<Receipt> {
        let folders = fs::list(&self.shared.join("packets")).unwrap_or_default();
        let of = |folder: &PathBuf| {
            read(&folder.join("receipt.json"))
                .filter(|receipt: &Receipt| self.kept(&receipt.session_id) == *folder)
        };
        let mut found: Vec<Receipt> = folders.iter().filter_map(of).collect();
        found.sort_by(|one, two| order(one).cmp(&order(two)));
        found
    }

    /// Packets of the branch and topic, from sessions that began before this one.
    pub fn earlier(
        &self,
        branch: Option<&str>,
        topic: &str,
        session: &str,
        began: Option<&str>,
    ) -> Vec<String> {
        let receipts = self.receipts();
        let own = receipts.iter().find(|receipt| receipt.session_id == session);
        let began = began.map(str::to_owned).or_else(|| own.map(|own| own.began.clone()));
        let before = |receipt: &Receipt| match &began {
            Some(began) => order(receipt) < (instant(began), session),
            None => true,
        };
        receipts
            .iter()
            .filter(|receipt| receipt.branch.as_deref() == branch && receipt.topic == topic)
            .filter(|receipt| receipt.session_id != session && before(receipt))
            .map(|receipt| receipt.session_id.clone())
            .collect()
    }

    /// A packet with its receipt, from the shared copy; `None` where this store has none.
    pub fn load(&self, session: &str) -> Result<Option<Stored>, StoreError> {
        let folder = self.kept(session);
        let Some(bytes) = fs::read_optional(&folder.join("handoff.json"))? else { return Ok(None) };
        let Some(receipt) = read::<Receipt>(&folder.join("receipt.json")) else { return Ok(None) };
        let unreadable = |message: String| StoreError::Unreadable { id: session.to_owned(), message };
        let mut packet: Packet =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if packet.schema_version > SCHEMA_VERSION {
            return Err(unreadable(format!("schema version {} is not known here", packet.schema_version)));
        }
        let written = packet.status;
        packet.status = PacketStatus::Active;
        let intact = sha256_hex(&json(&packet)?) == receipt.digest;
        packet.status = if written == PacketStatus::Active { receipt.status } else { written };
        let known = self.knows(&receipt);
        Ok(Some(Stored { packet, receipt, intact, known }))
    }

    /// The active packets of a branch: session id and topic, oldest first.
    pub fn active(&self, branch: Option<&str>) -> Vec<Receipt> {
        let pointers: Vec<Pointer> = self.pointers();
        let pointed = |receipt: &Receipt| {
            pointers.iter().any(|pointer| {
                pointer.session_id == receipt.session_id
                    && pointer.topic == receipt.topic
                    && pointer.branch == receipt.branch
            })
        };
        self.receipts()
            .into_iter()
            .filter(|receipt| receipt.branch.as_deref() == branch && pointed(receipt))
            .collect()
    }

    /// Keeps a packet and makes it the active one of its branch and topic. Call it under [`Store::lock`].
    pub fn write(&self, writing: &Writing<'_>) -> Result<Wrote, StoreError> {
        let packet = writing.packet;
        let id = &packet.session_id;
        let former: Option<Receipt> = read(&self.kept(id).join("receipt.json"));
        let pointed: Option<Pointer> = read(&self.pointer(packet.branch.as_deref(), &packet.topic));
        let mut active = packet.clone();
        active.status = PacketStatus::Active;
        let bytes = json(&active)?;
        let mut receipt = self.receipt(writing, former.as_ref(), sha256_hex(&bytes));
        let other = pointed.as_ref().filter(|pointer| pointer.session_id != *id);
        let same = former.as_ref().is_some_and(|former| former.digest == receipt.digest);
        let superseded = former.as_ref().is_some_and(|former| former.status != PacketStatus::Active);
        let yields = other
            .is_some_and(|other| (same && superseded) || (writing.late && self.is_later(other, &receipt)));
        receipt.status = if yields { PacketStatus::Superseded } else { PacketStatus::Active };
        // what is meant, for whoever comes after a writer that died on the way
        let pending = self.kept(id).join("pending.json");
        if former.as_ref() != Some(&receipt) {
            put(&pending, &json(&receipt)?)?;
        }
        let mut changed = self.put(&receipt, &active, Some(writing.markdown))?;
        if !yields {
            changed |= self.point(&receipt)?;
        }
        fs::remove(&pending)?;
        changed |= self.settle()?;
        let folder = self.outputs.join(id);
        Ok(Wrote {
            json: folder.join("handoff.json"),
            markdown: folder.join("handoff.md"),
            changed,
            status: receipt.status,
        })
    }

    fn receipt(&self, writing: &Writing<'_>, former: Option<&Receipt>, digest: String) -> Receipt {
        let packet = writing.packet;
        let unchanged = former.filter(|former| former.digest == digest);
        Receipt {
            schema_version: SCHEMA_VERSION,
            session_id: packet.session_id.clone(),
            seal: self.seal(&packet.session_id, &digest),
            agent: packet.agent.clone(),
            branch: packet.branch.clone(),
            topic: packet.topic.clone(),
            head_commit: packet.head_commit.clone(),
            status: PacketStatus::Active,
            began: writing
                .began
                .or(former.map(|former| former.began.as_str()))
                .unwrap_or(writing.now)
                .to_owned(),
            written_at: unchanged.map_or(writing.now, |former| former.written_at.as_str()).to_owned(),
            worktree: self.top.display().to_string(),
            folder: self.outputs.join(&packet.session_id).display().to_string(),
            // once it was apart, being merged does not make it one that never was
            apart: writing.apart
                || former.is_some_and(|former| former.apart && former.head_commit == packet.head_commit),
            ending: writing.ending,
            changed_since: writing.changed_since.to_vec(),
            loaded: former.map(|former| former.loaded.clone()).unwrap_or_default(),
            digest,
        }
    }

    fn is_later(&self, other: &Pointer, receipt: &Receipt) -> bool {
        read::<Receipt>(&self.kept(&other.session_id).join("receipt.json"))
            .is_some_and(|other| order(&other) > order(receipt))
    }

    /// Changes a packet's status, in both copies.
    pub(super) fn mark(&self, mut receipt: Receipt, status: PacketStatus) -> Result<bool, StoreError> {
        let stored = match self.load(&receipt.session_id) {
            Ok(Some(stored)) => stored,
            // one that can't be read must not stand in the way of the others
            Ok(None) | Err(StoreError::Unreadable { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        receipt.status = status;
        self.put(&receipt, &stored.packet, None)
    }

    /// Both copies, then the receipt: one that is there says that the files are.
    pub(super) fn put(
        &self,
        receipt: &Receipt,
        packet: &Packet,
        page: Option<&str>,
    ) -> Result<bool, StoreError> {
        let mut packet = packet.clone();
        packet.status = receipt.status;
        let bytes = json(&packet)?;
        let page = match (receipt.status, page) {
            (PacketStatus::Active, Some(page)) => page.to_owned(),
            // the built-in page: a project's own template may need what is not here, and the JSON wins anyway
            _ => super::markdown(&packet, super::Limits::default().max_chars, None)?,
        };
        let kept = self.kept(&receipt.session_id);
        let mut changed = put(&kept.join("handoff.json"), &bytes)?;
        changed |= put(&kept.join("handoff.md"), page.as_bytes())?;
        let (top, folder) = (Path::new(&receipt.worktree), Path::new(&receipt.folder));
        let own = top == self.top;
        // another work tree's copy is only kept up to date, never made again
        if own || fs::exists(&folder.join("handoff.json")) {
            fs::stays_inside(top, &folder.join("handoff.json"))?;
            changed |= put(&folder.join("handoff.json"), &bytes)?;
            changed |= put(&folder.join("handoff.md"), page.as_bytes())?;
        }
        changed |= put(&kept.join("receipt.json"), &json(receipt)?)?;
        Ok(changed)
    }

    pub(super) fn kept(&self, session: &str) -> PathBuf {
        self.shared.join("packets").join(slug(session))
    }

    pub(super) fn pointer(&self, branch: Option<&str>, topic: &str) -> PathBuf {
        let name = slug(&format!("{}\n{topic}", branch.unwrap_or("")));
        self.shared.join("active").join(format!("{name}.json"))
    }

    fn pointers(&self) -> Vec<Pointer> {
        let files = fs::list(&self.shared.join("active")).unwrap_or_default();
        // a file that is not where its content belongs was left by a writer that died
        let here =
            |pointer: &Pointer, path: &Path| self.pointer(pointer.branch.as_deref(), &pointer.topic) == path;
        let of = |path: &PathBuf| read(path).filter(|pointer| here(pointer, path));
        files.iter().filter_map(of).collect()
    }
}

pub(super) fn order(receipt: &Receipt) -> (Option<Timestamp>, &str) {
    (instant(&receipt.began), &receipt.session_id)
}

pub(super) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read_optional(path).ok()??).ok()
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, io::Error> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a file unless it holds these bytes already.
pub(super) fn put(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if fs::read_optional(path)?.as_deref() == Some(bytes) {
        return Ok(false);
    }
    fs::write_atomic(path, bytes)?;
    Ok(true)
}
