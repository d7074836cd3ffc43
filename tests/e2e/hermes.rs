//! Hermes. It knows this person's hooks only, in a YAML file, and refuses a turn's end only after it edited a file.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "hermes",
    settings: "~/.hermes/config.yaml",
    // the kit adds nothing where a model is set; Hermes's own questions at a turn's end, which come before ours, are off
    before: Some(
        r#"# mine
model:
  provider: custom # local
  default: fake-model
  base_url: ${E2E_MODEL_URL}/v1
  api_key: dummy
  context_length: 128000
agent:
  verify_on_stop: false
skills:
  creation_nudge_interval: 0
hooks:
  on_session_start:
    - command: "true"
"#,
    ),
    blocks_headless: true,
    tells_end: true,
    tells_exit: true,
};

scenarios!(CLIENT);
