//! Hermes. It knows this person's hooks only, in a YAML file, and refuses a turn's end only after it edited a file.

use crate::table::{Client, scenarios};

const CLIENT: Client = Client {
    name: "hermes",
    settings: "~/.hermes/config.yaml",
    // the kit adds nothing where a model is set
    before: Some(
        "# mine\nmodel:\n  provider: custom # local\n  default: fake-model\n  base_url: ${E2E_MODEL_URL}/v1\n  api_key: dummy\n  \
         context_length: 128000\nhooks:\n  on_session_start:\n    - command: \"true\"\n",
    ),
    blocks_headless: true,
    tells_end: true,
    tells_exit: true,
};

scenarios!(CLIENT);
