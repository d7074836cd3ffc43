//! The commands in a script that Codex wrote: calls of `exec_command` in JavaScript. Strings, templates, comments and
//! regular expressions are passed over, so that a call inside of them is none. Nothing is ever evaluated.

/// A command in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The command, or the source text of the expression that makes it.
    pub(super) text: String,
    pub(super) computed: bool,
    pub(super) workdir: Option<String>,
}

const CALL: &str = "exec_command";

/// Every call, in order.
pub(super) fn commands(source: &str) -> Vec<Command> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while at < source.len() {
        if let Some(end) = token(source, at, before) {
            // a value stands before what follows
            before = 'x';
            at = end;
            continue;
        }
        let rest = &source[at..];
        if rest.starts_with(CALL) && !is_word(source[..at].chars().next_back()) {
            let open = at + CALL.len();
            let open = open + blanks(&source[open..]);
            if source[open..].starts_with('(') {
                found.extend(argument(source, open + 1));
                before = '(';
                at = open + 1;
                continue;
            }
        }
        let Some(c) = rest.chars().next() else { break };
        if !c.is_whitespace() {
            before = c;
        }
        at += c.len_utf8();
    }
    found
}

/// The first argument of a call, an object with `cmd` and perhaps `workdir`; anything else is computed.
fn argument(source: &str, at: usize) -> Option<Command> {
    let start = at + blanks(&source[at..]);
    if !source[start..].starts_with('{') {
        let text = expression(source, start).0.trim().to_owned();
        return (!text.is_empty()).then_some(Command { text, computed: true, workdir: None });
    }
    let mut command = Command::default();
    let mut at = start + 1;
    loop {
        at += blanks(&source[at..]);
        let (key, next) = expression(source, at);
        let (name, value) = match key.split_once(':') {
            Some((name, value)) => (name.trim(), value.trim()),
            // `{cmd, …}`: the variable's own name
            None => (key.trim(), key.trim()),
        };
        let name = literal(name).unwrap_or_else(|| name.to_owned());
        match (name.as_str(), literal(value)) {
            ("cmd", Some(text)) => command.text = text,
            ("cmd", None) => (command.text, command.computed) = (value.to_owned(), true),
            ("workdir", text) => command.workdir = text,
            _ => {}
        }
        match source[next..].chars().next() {
            Some(',') => at = next + 1,
            _ => break,
        }
    }
    (!command.text.is_empty()).then_some(command)
}

/// The source up to the comma or bracket that ends it, and where that stands.
fn expression(source: &str, from: usize) -> (&str, usize) {
    let mut depth = 0_usize;
    let mut at = from;
    let mut before = '(';
    while at < source.len() {
        if let Some(end) = token(source, at, before) {
            before = 'x';
            at = end;
            continue;
        }
        let Some(c) = source[at..].chars().next() else { break };
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' | ',' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
        at += c.len_utf8();
    }
    (&source[from..at], at)
}

/// Where a string, template, comment or regular expression that begins here ends; `None`: none begins here. `before` is
/// the last sign before it: behind a value, `/` divides.
fn token(source: &str, at: usize, before: char) -> Option<usize> {
    let rest = &source[at..];
    let first = rest.chars().next()?;
    match first {
        '"' | '\'' => Some(at + quoted(rest, first)),
        '`' => Some(at + template(rest)),
        '/' if rest.starts_with("//") => Some(at + rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => Some(at + rest[2..].find("*/").map_or(rest.len(), |end| end + 4)),
        '/' if "(,=:[!&|?{};+-*%<>~^ ".contains(before) => regex(rest).map(|length| at + length),
        _ => None,
    }
}

/// The length of a string with its quotes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            // a string ends with its line, whatever comes
            '\n' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a template with its quotes, with what is nested in it.
fn template(rest: &str) -> usize {
    let mut at = 1;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with('`') {
            return at + 1;
        }
        if here.starts_with("${") {
            let mut inner = at + 2;
            // up to the bracket that closes it, commas included
            loop {
                let (_, end) = expression(rest, inner);
                inner = end + 1;
                if !rest[end..].starts_with(',') {
                    break;
                }
            }
            at = inner;
            continue;
        }
        let escape = usize::from(here.starts_with('\\'));
        at += here.chars().take(escape + 1).map(char::len_utf8).sum::<usize>();
    }
    rest.len()
}

fn regex(rest: &str) -> Option<usize> {
    let (mut escaped, mut class) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// What a string or a template without expressions stands for; `None` for anything else.
fn literal(source: &str) -> Option<String> {
    let quote = source.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let length = if quote == '`' { template(source) } else { quoted(source, quote) };
    let inner = source.get(1..source.len().checked_sub(1)?)?;
    if length != source.len() || !source.ends_with(quote) || source.len() < 2 {
        return None;
    }
    if quote == '`' && inner.replace("\\$", "").contains("${") {
        return None;
    }
    unescape(inner)
}

fn unescape(inner: &str) -> Option<String> {
    let mut out = String::new();
    let mut units: Vec<u16> = Vec::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            let code = |chars: &mut std::str::Chars<'_>, count| {
                let digits: String = chars.by_ref().take(count).collect();
                u32::from_str_radix(&digits, 16).ok()
            };
            match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'v' => out.push('\u{b}'),
                '0' => out.push('\0'),
                '\n' => {}
                'x' => out.push(char::from_u32(code(&mut chars, 2)?)?),
                'u' if chars.as_str().starts_with('{') => {
                    chars.next();
                    let digits: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                'u' => {
                    units.push(u16::try_from(code(&mut chars, 4)?).ok()?);
                    if let Ok(text) = String::from_utf16(&units) {
                        out.push_str(&text);
                        units.clear();
                    }
                }
                other => out.push(other),
            }
        } else {
            out.push(c);
        }
    }
    units.is_empty().then_some(out)
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let mark =
            |command: Command| if command.computed { format!("={}", command.text) } else { command.text };
        commands(source).into_iter().map(mark).collect()
    }

    #[test]
    fn literal_commands_are_read_in_every_dress() {
        let cases = [
            (r#"await tools.exec_command({cmd: "ls -l", workdir: "/x"})"#, vec!["ls -l"]),
            (r#"tools . exec_command ( { "cmd" : 'a\'b' } )"#, vec!["a'b"]),
            ("tools.exec_command({cmd: `a\n\\`b\\``})", vec!["a\n`b`"]),
            (r#"exec_command({workdir: f({a: 1, b: [2, 3]}), cmd: "x"})"#, vec!["x"]),
            (r#"t.exec_command({cmd:"caf\u00e9 \ud83d\ude00 \x41"})"#, vec!["café 😀 A"]),
            (r#"a.exec_command({cmd:"1"}); b.exec_command({cmd:"2"})"#, vec!["1", "2"]),
            (r#"x = 4 / 2; t.exec_command({cmd:"after a / division"})"#, vec!["after a / division"]),
            (r#"s.replace(/"/g, ""); t.exec_command({cmd:"regex"})"#, vec!["regex"]),
        ];
        for (source, expected) in cases {
            assert_eq!(texts(source), expected, "{source}");
        }
    }

    #[test]
    fn calls_inside_of_text_are_none_and_computed_ones_are_their_source() {
        let cases = [
            (r#"text("tools.exec_command({cmd:\"rm\"})") // tools.exec_command({cmd:"no"})"#, vec![]),
            ("/* tools.exec_command({cmd:'no'}) */ `tools.exec_command({cmd:'no'})`", vec![]),
            (r#"my_exec_command({cmd:"no"}); exec_commands({cmd:"no"})"#, vec![]),
            (r#"t.exec_command({cmd: "make " + name, workdir: "/x"})"#, vec![r#"="make " + name"#]),
            (
                "t.exec_command({cmd: `make ${names.map((n) => `${n}`).join(',')}`})",
                vec!["=`make ${names.map((n) => `${n}`).join(',')}`"],
            ),
            ("t.exec_command({cmd, workdir})", vec!["=cmd"]),
            ("t.exec_command(options)", vec!["=options"]),
            ("t.exec_command({cmd: \"torn", vec!["=\"torn"]),
        ];
        for (source, expected) in cases {
            assert_eq!(texts(source), expected, "{source}");
        }
    }
}
