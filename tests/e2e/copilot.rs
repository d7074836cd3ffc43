//! GitHub Copilot CLI, by a file of endwell's own in its hooks folder.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "copilot",
    settings: ".github/hooks/endwell.json",
    before: None,
    blocks_headless: true,
    tells_end: true,
    tells_exit: true,
};

scenarios!(CLIENT);
