//! githook
