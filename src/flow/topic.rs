//! What a piece of work is called: the active feature's id, else the active task's, else the branch. Reports, packets
//! and pointers are filed under it, so every flow must ask here.

use crate::model::state::AgentState;

/// A topic and the task behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub name: String,
    /// The state's `active_task_id`.
    pub task_id: Option<String>,
}

impl Topic {
    /// `branch` is absent on a detached HEAD.
    pub fn of(state: &AgentState, feature: Option<&str>, branch: Option<&str>) -> Self {
        let task_id = state.active_task_id.clone();
        let name = feature.or(task_id.as_deref()).or(branch).unwrap_or("detached").to_owned();
        Self { name, task_id }
    }

    /// The name that reports are filed under: the task's, else the topic's.
    pub fn report_key(&self) -> &str {
        self.task_id.as_deref().unwrap_or(&self.name)
    }
}
