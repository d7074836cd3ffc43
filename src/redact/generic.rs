//! Secrets without a rule of their own: values that are assigned to a name which says secret, and tokens with a
//! provider's prefix and a random body. A sanity filter drops placeholders, code and everything that is not random
//! enough: of the places that look like `password = value`, most hold none.

use std::sync::LazyLock;

use regex::Regex;

use super::{Counts, rules::compile};

/// `name = value`, `name: value`, `"name": "value"`, `--name value`. Groups: name, separator, quoted or bare value.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?i)([a-z0-9_.-]*(?:passw(?:or)?d|passwd|passphrase|passcode|pwd|secret|token|api[_.-]?key|apikey|access[_.-]?key|auth[_.-]?key|private[_.-]?key|signing[_.-]?key|encryption[_.-]?key|account[_.-]?key|master[_.-]?key|license[_.-]?key|credentials?|client[_.-]?key|webhook[_.-]?key|(?:^|[^a-z])pat)[a-z0-9_]{0,12})["']?(\s*(?:=>|:=|=|:)\s*|\s+)(?:"([^"\n]{4,})"|'([^'\n]{4,})'|`([^`\n]{4,})`|([^\s"'`,;&|)>\]}]{4,}))"#,
    )
});

/// A prefix of words, then a long body: `lin_api_…`, `NRAK-…`, `pscale_tkn_…`.
static PREFIXED: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"\b([A-Za-z][A-Za-z0-9]{1,15}(?:[_.-][A-Za-z][A-Za-z0-9]{0,9}){0,2})([_.-])([A-Za-z0-9]{20,})")
});

/// Prefixes that name a hash, a build product or a place, not a provider.
const NO_PREFIX: [&str; 38] = [
    "sha1", "sha224", "sha256", "sha384", "sha512", "md5", "blake2", "blake3", "h1", "git", "commit", "tree",
    "blob", "index", "main", "chunk", "vendor", "image", "img", "png", "svg", "asset", "bundle", "hash",
    "digest", "build", "uuid", "request", "trace", "span", "run", "session", "layer", "rev", "ref", "object",
    "id", "rustc",
];

/// Redacts both.
pub(super) fn redact(text: &str, counts: &mut Counts) -> String {
    prefixed(&assigned(text, counts), counts)
}

fn assigned(text: &str, counts: &mut Counts) -> String {
    let lower = text.to_ascii_lowercase();
    let hints = ["pass", "pwd", "secret", "token", "key", "cred", "pat"];
    if !hints.iter().any(|hint| lower.contains(hint)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in ASSIGNED.captures_iter(text) {
        let (Some(name), Some(separator)) = (found.get(1), found.get(2)) else { continue };
        let quoted = (3..=5).find_map(|group| found.get(group));
        let Some(value) = quoted.or_else(|| found.get(6)) else { continue };
        let spaced = separator.as_str().chars().all(char::is_whitespace);
        // a word that follows a word is an argument only where the first is a flag
        if spaced && !name.as_str().starts_with("--") {
            continue;
        }
        let tight = separator.as_str() == "=";
        let place = Place {
            quoted: quoted.is_some(),
            tight,
            alone: tight && quoted.is_none() && is_alone(text, name.start(), value.end()),
        };
        let goes_on = !place.quoted && is_passwordlike(&name.as_str().to_ascii_lowercase());
        let end = value.end() + if goes_on { rest_of_password(&text[value.end()..]) } else { 0 };
        if value.start() < from || !is_secret(name.as_str(), &text[value.start()..end], place) {
            continue;
        }
        out.push_str(&text[from..value.start()]);
        out.push_str("[redacted:secret]");
        from = end;
        *counts.entry("secret".to_owned()).or_default() += 1;
    }
    out.push_str(&text[from..]);
    out
}

/// How a value stands there.
#[derive(Clone, Copy)]
struct Place {
    quoted: bool,
    /// Right behind a `=`.
    tight: bool,
    /// Tight, and neither an argument of a call nor a part of an expression.
    alone: bool,
}

fn is_alone(text: &str, start: usize, end: usize) -> bool {
    let before = &text[..start];
    let listed = before.ends_with(' ') && before.trim_end().ends_with(',');
    let in_call = listed || before.ends_with(['(', '.', '{', '[', '$', '@']);
    let after = text[end..].chars().next();
    !in_call && after.is_none_or(|c| c.is_whitespace() || matches!(c, '&' | '\'' | '"'))
}

fn is_passwordlike(name: &str) -> bool {
    ["passw", "passphrase", "passcode", "pwd"].iter().any(|part| name.contains(part))
}

/// How far a password goes on behind a `;` or `&` that no other setting follows.
fn rest_of_password(rest: &str) -> usize {
    if !rest.starts_with([';', '&']) {
        return 0;
    }
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`')).unwrap_or(rest.len());
    let chunk = &rest[..end];
    let digit = chunk.contains(|c: char| c.is_ascii_digit());
    if !digit || chunk.contains('=') || chunk.starts_with("&&") { 0 } else { end }
}

/// A look-up, a call or a substitution; other odd characters are common in passwords.
fn is_look_up(value: &str) -> bool {
    let name = value.trim_start_matches(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | ':'));
    let call = name.len() < value.len() && name.starts_with(['(', '[', '<', '{']);
    call || value.contains("${") || value.contains("{{") || value.contains("$(")
}

fn is_secret(name: &str, value: &str, place: Place) -> bool {
    let name = name.to_ascii_lowercase();
    let bare = value.trim_end_matches(['.', ':', '?', '!']);
    let odd = is_passwordlike(&name)
        && bare.contains(['(', '$', '\\'])
        && bare.contains(|c: char| c.is_ascii_digit());
    let stands_for_it = ["prompt", "stdin", "getpass", "input", "value", "invalid", "incorrect", "wrong"];
    let is_word = place.alone
        && is_passwordlike(&name)
        && bare.len() >= 6
        && bare.bytes().all(|byte| byte.is_ascii_lowercase())
        && !stands_for_it.contains(&bare);
    let code = if is_word {
        false
    } else if odd {
        is_look_up(bare)
    } else {
        is_code(bare, place.quoted)
    };
    if is_placeholder(bare) || counts_something(&name) || code {
        return false;
    }
    let word = bare.to_ascii_lowercase();
    if name.contains(&word) || word.contains("passw") || word.contains("secret") || word.contains("token") {
        return false;
    }
    let digits = bare.chars().filter(char::is_ascii_digit).count();
    if is_passwordlike(&name) {
        // words that dashes join are a passphrase where they are assigned; with underscores they name a variable
        let joined = place.tight && bare.len() >= 16 && bare.contains('-') && !bare.contains('_');
        if joined && !bare.contains(' ') {
            return true;
        }
        let plain_word = bare.chars().all(|c| c.is_lowercase() || c == '_' || c == '-' || c == ' ');
        let short_word = plain_word && (bare.len() < 12 || bare.contains([' ', '_', '-']));
        return bare.chars().count() >= 6 && (!short_word || is_word);
    }
    let spaces = bare.contains(char::is_whitespace);
    // without a digit it must be as wild as no name of a variable is: letters of both cases that change all the time
    let letters = bare.chars().all(|c| c.is_ascii_alphabetic());
    let wild = letters && bare.len() >= 16 && is_wild(bare);
    !spaces && bare.len() >= 12 && digits < bare.len() && entropy(bare) >= 3.0 && (digits >= 1 || wild)
}

/// Names that speak of how many, how long or where, not of the secret itself.
fn counts_something(name: &str) -> bool {
    const WORDS: [&str; 20] = [
        "tokens",
        "count",
        "limit",
        "length",
        "size",
        "type",
        "name",
        "path",
        "file",
        "url",
        "uri",
        "_id",
        "tokenizer",
        "tokenize",
        "expir",
        "policy",
        "field",
        "_ttl",
        "version",
        "hash",
    ];
    WORDS.iter().any(|word| name.contains(word))
}

/// Calls, look-ups, types and paths: where a secret comes from, not the secret.
fn is_code(value: &str, quoted: bool) -> bool {
    let path =
        value.starts_with(['/', '~']) && value.matches('/').count() >= 2 && !value.contains(['+', '=']);
    if path || value.starts_with("./") || value.starts_with("../") {
        return true;
    }
    if quoted {
        return value.contains("${") || value.contains("{{") || value.contains(") ");
    }
    let identifier = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let dotted = value.contains("::") || (value.contains('.') && value.split('.').all(is_name));
    let letters = value.chars().all(|c| identifier(c) && !c.is_ascii_digit()) && !is_wild(value);
    value.contains(['(', '[', '{', '<', '$', '\\']) || dotted || (letters && looks_like_words(value))
}

fn is_name(part: &str) -> bool {
    let digits = part.chars().filter(char::is_ascii_digit).count();
    part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && digits * 5 < part.len()
        && part.len() < 24
}

/// Letters of both cases in an order that no name in camel case has: several capitals in a row amid small letters, or
/// many short humps.
fn is_wild(value: &str) -> bool {
    let upper = value.chars().filter(char::is_ascii_uppercase).count();
    let lower = value.chars().filter(char::is_ascii_lowercase).count();
    value.len() >= 16
        && upper * 4 >= value.len()
        && lower * 5 >= value.len()
        && class_changes(value) * 3 >= value.len()
}

/// Letters only, in the pattern of a name (`userPassword`, `GET_TOKEN`), not of a random text.
fn looks_like_words(value: &str) -> bool {
    value.len() < 40 && class_changes(value) * 3 < value.len()
}

/// Texts that stand for a value: `<your token>`, `changeme`, `xxxx`, `$VAR`, `***`.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 26] = [
        "example",
        "placeholder",
        "changeme",
        "change_me",
        "change-me",
        "your",
        "redacted",
        "dummy",
        "fake",
        "sample",
        "todo",
        "none",
        "null",
        "undefined",
        "true",
        "false",
        "string",
        "required",
        "optional",
        "insert",
        "replace",
        "hidden",
        "masked",
        "secret",
        "password",
        "missing",
    ];
    let lower = value.to_ascii_lowercase();
    let distinct = {
        let mut seen: Vec<char> = lower.chars().collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    value.starts_with(['<', '$', '%', '{', '['])
        || value.contains("...")
        || value.contains('…')
        || distinct <= 2
        || (value.len() <= 24 && WORDS.iter().any(|word| lower.contains(word)))
}

fn prefixed(text: &str, counts: &mut Counts) -> String {
    super::replace_pairs(text, &PREFIXED, counts, |before, found, after| {
        let (prefix, body) = (found.0, found.1);
        let first = prefix.split(['_', '.', '-']).next().unwrap_or(prefix).to_ascii_lowercase();
        if NO_PREFIX.contains(&first.as_str()) || prefix.len() > 20 {
            return false;
        }
        // a part of a path, of a file name or of base64 is no token
        let joined = |c: char| matches!(c, '/' | '\\' | '+' | '@' | '#' | '=');
        let in_path = before.ends_with(['/', '\\', '+', '.', '-', '_'])
            || after.starts_with(|c: char| joined(c) && c != '#')
            || (after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_alphanumeric()));
        !in_path && looks_random(body)
    })
}

/// Letters of both cases with digits, or lower case with digits that are no hexadecimal, in no pattern of words.
fn looks_random(body: &str) -> bool {
    let digits = body.chars().filter(char::is_ascii_digit).count();
    let hexadecimal = body.chars().all(|c| c.is_ascii_hexdigit());
    if digits < 2 || digits == body.len() || hexadecimal {
        return false;
    }
    let upper = body.chars().any(|c| c.is_ascii_uppercase());
    let lower = body.chars().any(|c| c.is_ascii_lowercase());
    let changes = class_changes(body) * 100 / (body.len() - 1);
    let enough = match (upper, lower) {
        (true, true) => 40,
        (true, false) => 15,
        _ => 25,
    };
    changes >= enough && entropy(body) >= 3.3
}

/// How often the kind of character (upper, lower, digit, other) changes along a text.
fn class_changes(text: &str) -> usize {
    let class = |c: char| match c {
        'A'..='Z' => 0,
        'a'..='z' => 1,
        '0'..='9' => 2,
        _ => 3,
    };
    let classes: Vec<i32> = text.chars().map(class).collect();
    classes.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Shannon entropy, bits a character.
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::<char, u32>::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1;
    }
    let total: f64 = counts.values().map(|count| f64::from(*count)).sum();
    counts
        .values()
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}
