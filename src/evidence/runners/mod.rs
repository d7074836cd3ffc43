//! What a test runner's output says.
