//! A packet that one client leaves and others start with: the same text arrives, whole, whatever the client.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::kit::Turn;
use crate::table::{bare_project, journals};

/// Long in bytes as well: three for each character. Codex cuts by tokens, which it counts by bytes.
const RISK: &str = "画像だけのページは空の文書として取り込まれるので、次の人は必ず確かめてから先へ進むこと。";

fn copied(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success(), "{} to {}", from.display(), to.display());
}

/// What reached the model between the packet's own marks.
fn packet_text(turn: &Turn) -> String {
    let request = turn.request(0);
    let text =
        request.text_with("endwell-handoff-").unwrap_or_else(|| panic!("no packet in:\n{}", request.told()));
    // Gemini makes hooks' words harmless before it passes them on
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let (start, end) = (text.find("<endwell-handoff-").unwrap(), text.rfind("</endwell-handoff-").unwrap());
    text[start..end].to_owned()
}

/// A session of Claude Code that leaves a long packet.
fn long_packet(sandbox: &Sandbox) -> String {
    let risks = format!("for i in $(seq 60); do endwell note -q risk \"$i {RISK}\"; done");
    let steps = json!([
        {"shell": "echo 'exports.zero = 0;' >zero.js && git add -A && git commit -qm 'Add a zero' && endwell verify -q"},
        {"shell": format!("{risks}; endwell note -q next 'Write a test for the zero'")},
        {"text": "That is all."},
    ]);
    let turn = Turn::headless(sandbox, "claude", "leaves", &steps);
    assert_eq!(turn.ran.code, Some(0), "{:?}", turn.ran);
    let journals = journals(sandbox);
    let [session] = journals.as_slice() else { panic!("one session, not {journals:?}") };
    session["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_packet_from_claude_code_reaches_the_other_clients_whole_and_alike() {
    let sandbox = bare_project();
    let words =
        ["install", "--agent", "claude", "--agent", "codex", "--agent", "gemini", "--agent", "opencode"];
    assert_eq!(sandbox.endwell(&words).code, Some(0));
    let session = long_packet(&sandbox);
    let places = ["repo", "home/.local"].map(|place| sandbox.root().join(place));
    for place in &places {
        copied(place, &place.with_extension("saved"));
    }
    let mut texts = Vec::new();
    for client in ["claude", "codex", "gemini", "opencode"] {
        let turn = Turn::headless(&sandbox, client, client, &json!([{"text": "I have read it."}]));
        assert_eq!(turn.ran.code, Some(0), "{:?}", turn.ran);
        texts.push((client, packet_text(&turn)));
        // the next client finds what this one found
        for place in &places {
            std::fs::remove_dir_all(place).unwrap();
            copied(&place.with_extension("saved"), place);
        }
    }
    let (_, first) = &texts[0];
    let packet: Value =
        serde_json::from_str(&sandbox.read(&format!("outputs/handoff/{session}/handoff.json"))).unwrap();
    for part in [session.as_str(), "Write a test for the zero", packet["summary"].as_str().unwrap()] {
        assert!(first.contains(part), "`{part}` is missing in:\n{first}");
    }
    assert!(first.len() > 10_000, "{} bytes are no more than Codex passes on by itself", first.len());
    assert!(first.chars().count() < 9_500, "Claude Code cuts at 10,000 characters");
    for (client, text) in &texts {
        assert_eq!(text, first, "{client} got another text");
    }
}
