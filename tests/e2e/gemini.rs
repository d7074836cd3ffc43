//! Gemini CLI. Its settings may hold comments.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "gemini",
    settings: ".gemini/settings.json",
    before: Some("{\n  // mine\n  \"ui\": {\"hideTips\": true}\n}\n"),
    blocks_headless: true,
    tells_end: true,
    tells_exit: true,
};

scenarios!(CLIENT);
