//! feedback
