//! A diagnosis for people: how things stand, then what is wrong, each with its fix.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;

use crate::model::doctor::{AgentHealth, Diagnosis, TrustWord};
use crate::ui::plain;

/// The whole text, without a line end behind it.
pub fn render(diagnosis: &Diagnosis) -> String {
    let push = &diagnosis.push;
    let path = push.path.as_deref().map(|path| format!(" `{}`", plain(path))).unwrap_or_default();
    let fires = match push.fires {
        Some(true) => ", started by a dry push",
        Some(false) => ", not started by a dry push",
        None => "",
    };
    let mut out = format!("push: {}{path}{fires}\n", way(&push.way));
    for agent in &diagnosis.agents {
        // writing to a String can't fail
        writeln!(out, "{}: {}", agent.name, standing(agent)).ok();
    }
    for symptom in &diagnosis.findings {
        let word =
            if symptom.wrong { "wrong:".red().bold().to_string() } else { "note:".yellow().to_string() };
        writeln!(out, "{word} {} ({})\n  {} {}", symptom.message, symptom.code, "fix:".cyan(), symptom.fix)
            .ok();
    }
    out.push_str(if diagnosis.healthy { "Nothing is wrong." } else { "Something is wrong: see above." });
    out
}

fn way(way: &str) -> &str {
    match way {
        "file" => "a hook of endwell's own",
        "config" => "git's configuration calls endwell",
        "project" => "a script of the project",
        "manager" => "a hook manager calls endwell, by",
        "shared" => "a script outside of this repository",
        "adopted" => "a hook manager runs endwell's hook",
        "off" => "hooks are switched off",
        _ => "nothing calls endwell",
    }
}

fn standing(agent: &AgentHealth) -> String {
    if agent.files.is_empty() {
        return "no hooks here".to_owned();
    }
    let trust = match agent.trust {
        TrustWord::NotNeeded => "",
        TrustWord::Trusted => ", trusted",
        TrustWord::Untrusted => ", not trusted",
        TrustWord::Unknown => ", trust unknown",
    };
    let heard = match &agent.last_event {
        Some(at) => format!("last heard {}", at.get(..16).unwrap_or(at).replace('T', " ")),
        None => "never heard yet".to_owned(),
    };
    format!("hooks in `{}`{trust}, {heard}", agent.files.join("`, `"))
}
