//! The command line's edge.
fn main() {}
