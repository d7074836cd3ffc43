//! The forms in which a judgement is shown. Pure: a report in, text out.

pub mod human;
pub mod push;
