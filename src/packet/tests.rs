//! Golden packets and properties.
