//! `OpenCode`, by a plugin. `opencode run` leaves before a turn's end can be refused, so that cell is looked at in a
//! terminal.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "opencode",
    settings: ".opencode/plugins/endwell.js",
    before: None,
    blocks_headless: false,
    tells_end: true,
    tells_exit: true,
};

scenarios!(CLIENT);
