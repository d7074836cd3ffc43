//! Which settings loosen a gate, and how each goes back to what it was. One table: a setting that judges something has
//! its row here. Never reads a file.

use std::sync::LazyLock;

use serde::{Deserialize as _, Serialize as _};
use serde_json::Value;

use super::{CannotCommit, Config, Missing, OwnDirt, TurnEnd};
use crate::config::artifacts::Prints;

/// A setting that stands for a gate.
struct Gate {
    key: &'static str,
    /// Whether the second settings ask for less than the first.
    is_looser: fn(&Config, &Config) -> bool,
    /// Puts back what the first settings say; `None` where it is only named.
    put_back: Option<fn(&Config, &mut Config)>,
}

/// Every setting that can loosen a gate.
const GATES: [Gate; 23] = [
    Gate {
        key: "allow.agents",
        is_looser: |was, is| !was.allow.agents && is.allow.agents,
        put_back: Some(|was, is| is.allow.agents = was.allow.agents),
    },
    Gate {
        key: "artifacts.prints",
        is_looser: |was, is| was.artifacts.prints == Prints::Block && is.artifacts.prints == Prints::Warn,
        put_back: Some(|was, is| is.artifacts.prints = was.artifacts.prints),
    },
    Gate {
        key: "artifacts.allow",
        is_looser: |was, is| has_more(&was.artifacts.allow, &is.artifacts.allow),
        put_back: Some(|was, is| is.artifacts.allow.retain(|entry| was.artifacts.allow.contains(entry))),
    },
    Gate {
        key: "artifacts.disable",
        is_looser: |was, is| has_more(&was.artifacts.disable, &is.artifacts.disable),
        put_back: Some(|was, is| is.artifacts.disable.retain(|entry| was.artifacts.disable.contains(entry))),
    },
    Gate {
        key: "artifacts.extra",
        is_looser: |was, is| has_more(&is.artifacts.extra, &was.artifacts.extra),
        put_back: Some(|was, is| keep_all(&was.artifacts.extra, &mut is.artifacts.extra)),
    },
    Gate {
        key: "branch.expected",
        is_looser: |was, is| was.branch.expected.is_some() && was.branch.expected != is.branch.expected,
        put_back: Some(|was, is| is.branch.expected.clone_from(&was.branch.expected)),
    },
    Gate {
        key: "branch.default",
        is_looser: |was, is| was.branch.default != is.branch.default,
        put_back: Some(|was, is| is.branch.default.clone_from(&was.branch.default)),
    },
    Gate {
        key: "review.required",
        is_looser: |was, is| was.review.required && !is.review.required,
        put_back: Some(|_, is| is.review.required = true),
    },
    Gate {
        key: "gate.turn_end",
        is_looser: |was, is| weight(is.gate.turn_end) < weight(was.gate.turn_end),
        put_back: Some(|was, is| is.gate.turn_end = was.gate.turn_end),
    },
    Gate {
        key: "context.window",
        is_looser: |was, is| is.context.window > was.context.window,
        put_back: None,
    },
    Gate {
        key: "context.wrap_up_at",
        is_looser: |was, is| is.context.wrap_up_at > was.context.wrap_up_at,
        put_back: None,
    },
    // it stands in the hook; here it is only named
    Gate {
        key: "push.missing",
        is_looser: |was, is| was.push.missing == Missing::Block && is.push.missing == Missing::Warn,
        put_back: None,
    },
    Gate {
        key: "push.own_dirt",
        is_looser: |was, is| was.push.own_dirt == OwnDirt::Block && is.push.own_dirt == OwnDirt::Warn,
        put_back: Some(|was, is| is.push.own_dirt = was.push.own_dirt),
    },
    // another command may test less; it is run only with a person's consent
    Gate { key: "tests.command", is_looser: |was, is| was.tests.command != is.tests.command, put_back: None },
    // other paths may leave something out, and a suite's command is a command
    Gate { key: "tests.suite", is_looser: |was, is| was.tests.suite != is.tests.suite, put_back: None },
    Gate {
        key: "tests.inputs",
        is_looser: |was, is| has_more(&is.tests.inputs, &was.tests.inputs),
        put_back: None,
    },
    Gate {
        key: "tests.coverage_floor",
        is_looser: |was, is| is.tests.coverage_floor.unwrap_or(0) < was.tests.coverage_floor.unwrap_or(0),
        put_back: Some(|was, is| is.tests.coverage_floor = was.tests.coverage_floor),
    },
    Gate {
        key: "tests.coverage_drop",
        is_looser: |was, is| {
            is.tests.coverage_drop.unwrap_or(u8::MAX) > was.tests.coverage_drop.unwrap_or(u8::MAX)
        },
        put_back: Some(|was, is| is.tests.coverage_drop = was.tests.coverage_drop),
    },
    Gate {
        key: "board.run_fields",
        is_looser: |was, is| has_more(&is.board.run_fields, &was.board.run_fields),
        put_back: None,
    },
    Gate {
        key: "gate.can_commit",
        is_looser: |was, is| was.gate.can_commit != Some(false) && is.gate.can_commit == Some(false),
        put_back: Some(|was, is| is.gate.can_commit = was.gate.can_commit),
    },
    Gate {
        key: "gate.cannot_commit",
        is_looser: |was, is| {
            was.gate.cannot_commit == CannotCommit::Refuse && is.gate.cannot_commit == CannotCommit::Park
        },
        put_back: Some(|was, is| is.gate.cannot_commit = was.gate.cannot_commit),
    },
    // files that lie elsewhere now may be another story; the old place is nothing to go back to
    Gate { key: "paths", is_looser: |was, is| was.paths != is.paths, put_back: None },
    Gate {
        key: "redact",
        is_looser: |was, is| {
            has_more(&is.redact.patterns, &was.redact.patterns) || (was.redact.mail && !is.redact.mail)
        },
        put_back: None,
    },
];

/// The keys of all of them, in the table's order.
pub static KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| GATES.iter().map(|gate| gate.key).collect());

/// The settings that ask for less than they did, by their keys.
pub fn loosened(was: &Config, is: &Config) -> Vec<&'static str> {
    GATES.iter().filter(|gate| (gate.is_looser)(was, is)).map(|gate| gate.key).collect()
}

/// The settings with everything that was loosened put back, as far as that can be.
#[must_use]
pub fn put_back(was: &Config, is: &Config) -> Config {
    let mut config = is.clone();
    for gate in GATES.iter().filter(|gate| (gate.is_looser)(was, is)) {
        if let Some(put_back) = gate.put_back {
            put_back(was, &mut config);
        }
    }
    config
}

impl Config {
    /// The settings as plain data, for a baseline.
    pub fn to_value(&self) -> Option<Value> {
        self.serialize(serde_json::value::Serializer).ok()
    }

    /// Settings from a baseline; `None` where they are of another time's form.
    pub fn of_value(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }
}

fn has_more<T: PartialEq>(few: &[T], many: &[T]) -> bool {
    many.iter().any(|entry| !few.contains(entry))
}

fn keep_all<T: PartialEq + Clone>(was: &[T], is: &mut Vec<T>) {
    let gone: Vec<T> = was.iter().filter(|entry| !is.contains(entry)).cloned().collect();
    is.extend(gone);
}

const fn weight(turn_end: TurnEnd) -> u8 {
    match turn_end {
        TurnEnd::Never => 0,
        TurnEnd::WrappingUp => 1,
        TurnEnd::Always => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_asks_for_less_is_named_and_put_back_and_what_asks_for_more_counts_at_once() {
        let strict = config(
            "[review]\nrequired = true\n[push]\nown_dirt = \"block\"\n[gate]\nturn_end = \"always\"\n\
             [branch]\nexpected = \"main\"\n[context]\nwrap_up_at = 50\n[tests]\ncoverage_floor = 80\n\
             inputs = [\"a\"]\n[redact]\npatterns = [\"x\"]\nmail = true\n",
        );
        let loose = config(
            "[push]\nown_dirt = \"warn\"\n[gate]\nturn_end = \"never\"\n[context]\nwrap_up_at = 90\n\
             [[artifacts.allow]]\npath = \"**\"\nreason = \"r\"\n[[artifacts.disable]]\ncode = \"x\"\nreason = \"r\"\n",
        );
        let found = loosened(&strict, &loose);
        for key in [
            "artifacts.allow",
            "artifacts.disable",
            "branch.expected",
            "review.required",
            "gate.turn_end",
            "context.wrap_up_at",
            "push.own_dirt",
            "tests.inputs",
            "tests.coverage_floor",
            "redact",
        ] {
            assert!(found.contains(&key), "{key}: {found:?}");
        }
        let held = put_back(&strict, &loose);
        assert_eq!(
            (&held.artifacts, &held.branch, &held.review),
            (&strict.artifacts, &strict.branch, &strict.review)
        );
        assert_eq!((&held.gate, &held.push), (&strict.gate, &strict.push));
        assert_eq!(held.tests.coverage_floor, strict.tests.coverage_floor);
        assert!(
            loosened(&config(""), &config("[review]\nrequired = true\n[tests]\ncoverage_floor = 9\n"))
                .is_empty()
        );
        assert!(loosened(&strict, &strict).is_empty());
    }

    #[test]
    fn a_command_that_was_changed_is_named_and_stays() {
        let (was, is) = (config(""), config("[tests]\ncommand = \"true\"\n"));
        assert_eq!(loosened(&was, &is), ["tests.command"]);
        let suite = |path| {
            config(&format!("[[tests.suite]]\nname = \"a\"\npaths = [\"{path}\"]\ncommand = \"true\"\n"))
        };
        assert_eq!(
            loosened(&suite("a"), &suite("b")),
            ["tests.suite"],
            "other paths may leave something out"
        );
        assert_eq!(put_back(&was, &is), is);
    }

    #[test]
    fn a_baseline_gives_back_the_same_settings() {
        let text =
            "[tests]\ncommand = [\"make\", \"test\"]\n[[artifacts.extra]]\ntext = \"x+\"\nreason = \"r\"\n";
        let all = config(text);
        assert_eq!(Config::of_value(&all.to_value().unwrap()), Some(all));
        assert_eq!(Config::of_value(&Config::default().to_value().unwrap()), Some(Config::default()));
    }
}
