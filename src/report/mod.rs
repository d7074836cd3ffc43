//! The forms in which a judgement is shown. Pure: a report in, text out.

pub mod github;
pub mod human;
pub mod push;
pub mod sarif;
