//! Codex CLI. Its hook events carry no exit codes; whether its transcript does depends on the version.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "codex",
    settings: ".codex/hooks.json",
    before: Some(
        "{\n    \"description\": \"mine\",\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"type\": \
         \"command\", \"command\": \"true\", \"timeout\": 5}]}\n        ]\n    }\n}",
    ),
    blocks_headless: true,
    tells_end: true,
    tells_exit: false,
};

scenarios!(CLIENT);
