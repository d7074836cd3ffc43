//! What a coding agent tells a hook, in the same words for every client. Plain data: the adapters fill it, the flows
//! act on it. Nothing here knows a client's own field names.

use std::path::PathBuf;

/// The moment of a session at which a client calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Start,
    Prompt,
    Tool,
    /// A turn's end: the only moment that can be refused.
    Stop,
    /// Before the context is compacted.
    Compact,
    /// The session's end. No client lets it be refused.
    End,
}

impl Moment {
    pub const ALL: [Self; 6] = [Self::Start, Self::Prompt, Self::Tool, Self::Stop, Self::Compact, Self::End];

    /// The word in `endwell hook WORD --client NAME`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Prompt => "prompt",
            Self::Tool => "tool",
            Self::Stop => "stop",
            Self::Compact => "compact",
            Self::End => "end",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.word() == word)
    }
}

/// One call of a hook. Whatever the client left out is absent.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that a client tells or not")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub moment: Moment,
    /// As the client sent it: not yet checked to be a plain name.
    pub session_id: Option<String>,
    /// Where the agent stands; the repository is found from here.
    pub cwd: Option<PathBuf>,
    pub transcript_path: Option<PathBuf>,
    /// At a start how it came about, at an end why, before a compaction what set it off.
    pub cause: Option<String>,
    /// The turn goes on only because a hook refused its end before.
    pub stop_hook_active: bool,
    /// The client passes over a refusal of this turn's end.
    pub is_deaf: bool,
    /// The agent is at work from this event on, without another one that says so.
    pub begins_turn: bool,
    /// The agent's last answer.
    pub last_message: Option<String>,
    /// The command that ran; absent where the tool was no shell, or nothing ran.
    pub tool: Option<ToolCall>,
    /// Tokens in use, where the client tells.
    pub context_tokens: Option<u64>,
    /// Size of the context window, where the client tells.
    pub context_window: Option<u64>,
    /// The client runs one prompt and exits, by its own marker.
    pub headless: bool,
    /// Whether the agent's shell may write git's folder, where the client tells.
    pub can_commit: Option<bool>,
    /// The event comes from a helper that the session started, not from the session itself.
    pub subagent: bool,
}

impl Event {
    /// An event that tells nothing but its moment.
    pub const fn bare(moment: Moment) -> Self {
        Self {
            moment,
            session_id: None,
            cwd: None,
            transcript_path: None,
            cause: None,
            stop_hook_active: false,
            is_deaf: false,
            begins_turn: false,
            last_message: None,
            tool: None,
            context_tokens: None,
            context_window: None,
            headless: false,
            can_commit: None,
            subagent: false,
        }
    }
}

/// A shell command that the agent ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The client's id of the call.
    pub id: Option<String>,
    pub command: String,
    /// `None`: unknown, and then `error` says why.
    pub exit_code: Option<i64>,
    /// `interrupted`, `background`, `sibling-failed`, `exit-unknown` and the like.
    pub error: Option<String>,
    /// The client reads this non-zero exit as no error.
    pub benign: bool,
    /// The client's own words about the exit.
    pub note: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub duration_ms: Option<u64>,
    /// The output was longer; this is a part of it.
    pub truncated: bool,
}

/// What endwell wants to tell the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Nothing,
    /// Text for the agent's context.
    Inject(String),
    /// The turn may not end yet, and why.
    Block(String),
}

/// What the hook prints so that its client understands the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Empty: print nothing, not even a line end.
    pub stdout: String,
}
