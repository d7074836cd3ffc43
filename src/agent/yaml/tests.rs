//! What goes in comes out again, and what was there stays as it was.

use serde_json::json;

use super::*;
use crate::model::plan::Syntax;

fn hooks() -> HookEntries {
    let entry = |event: &'static str, moment: &str| {
        let command = format!("endwell hook {moment} --client hermes");
        HookEntry { event, group: json!({"command": command, "timeout": 30}), commands: vec![command] }
    };
    HookEntries {
        client: "hermes",
        syntax: Syntax::Yaml,
        top_keys: &[],
        preamble: Vec::new(),
        entries: vec![entry("pre_llm_call", "prompt"), entry("pre_verify", "stop")],
    }
}

fn put(text: &str) -> String {
    String::from_utf8(put_in(Some(text.as_bytes()), &hooks()).unwrap()).unwrap()
}

#[test]
fn a_file_without_hooks_gets_them_at_its_end() {
    insta::assert_snapshot!(put("# mine\nmodel:\n  default: a   # b"), @r#"
    # mine
    model:
      default: a   # b
    hooks:
      pre_llm_call:
        - command: "endwell hook prompt --client hermes"
          timeout: 30
      pre_verify:
        - command: "endwell hook stop --client hermes"
          timeout: 30
    "#);
    let fresh = String::from_utf8(put_in(None, &hooks()).unwrap()).unwrap();
    assert_eq!(fresh.trim_end(), to_paste(&hooks()));
    assert_eq!(covered(fresh.as_bytes(), "hermes"), ["pre_llm_call", "pre_verify"]);
}

#[test]
fn hooks_that_are_there_stay_in_front() {
    insta::assert_snapshot!(put("hooks:\n  pre_llm_call:\n  - command: mine # first\n    timeout: 5\n  # that is all\n\n# tail\nlast: 2\n"), @r#"
    hooks:
      pre_llm_call:
      - command: mine # first
        timeout: 5
      - command: endwell hook prompt --client hermes
        timeout: 30
      pre_verify:
        - command: endwell hook stop --client hermes
          timeout: 30
      # that is all

    # tail
    last: 2
    "#);
}

#[test]
fn what_is_put_in_can_be_taken_out_again() {
    for before in [
        "",
        "# nothing\n",
        "a: 1\n",
        "a: 1\r\nb:\r\n  - x\r\n",
        "hooks:\n  pre_llm_call:\n    - command: mine\nend: 1\n",
        "a: 1\nhooks:\n    pre_verify:\n        - command: q\n          matcher: x\n",
        "text: |\n  hooks:\n    not: these\nother: \"x: y\"\n",
    ] {
        let after = put(before);
        assert_eq!(put(&after), after, "a second time changes nothing");
        let back = take_out(after.as_bytes(), Some(before.as_bytes())).unwrap();
        assert_eq!(lines(&back), lines(before.as_bytes()), "{}", String::from_utf8_lossy(&back));
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    for text in [
        "a: [1,\n",
        "- a\n- b\n",
        "just words\n",
        "a: 1\n---\nb: 2\n",
        "hooks: 5\n",
        "hooks:\n  pre_verify: no\n",
        "hooks: {}\nhooks: {}\n",
    ] {
        assert!(put_in(Some(text.as_bytes()), &hooks()).is_err(), "{text}");
    }
    assert!(put_in(Some(b"\xff\xfe"), &hooks()).is_err());
}
