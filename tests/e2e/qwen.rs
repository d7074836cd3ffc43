//! Qwen Code. Run with one prompt it never tells its end; the next start makes up for it.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "qwen",
    settings: ".qwen/settings.json",
    // without a version the client writes one into it
    before: Some("{\n\t\"ui\": {\"hideTips\": true}, // mine\n\t\"$version\": 4\n}"),
    blocks_headless: true,
    tells_end: false,
    tells_exit: true,
};

scenarios!(CLIENT);
