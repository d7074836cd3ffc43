//! Terminal output as plain text, and cuts that never split a character, a word or an escape.

/// Removes escape sequences, control characters, direction marks and hidden characters. Of a line that was
/// overwritten in place, what stands last stays. Line ends and tabs stay, and joiners where a script needs them.
pub fn clean(text: &str) -> String {
    let plain = strip_escapes(text);
    let mut out = String::with_capacity(plain.len());
    let mut first = true;
    for line in plain.split('\n') {
        if !first {
            out.push('\n');
        }
        first = false;
        let line = line.trim_end_matches('\r');
        let line = line.rsplit('\r').next().unwrap_or(line);
        push_visible(line, &mut out);
    }
    out
}

fn push_visible(line: &str, out: &mut String) {
    let mut before: Option<char> = None;
    let mut chars = line.chars().peekable();
    let start = out.len();
    while let Some(c) = chars.next() {
        match c {
            '\u{8}' => {
                if out.len() > start {
                    out.pop();
                }
            }
            '\t' => out.push(c),
            // joiners make words in Persian and Indic scripts, and families of emoji; between other characters they hide
            '\u{200c}' | '\u{200d}' => {
                let joins = |c: Option<char>| c.is_some_and(|c| u32::from(c) >= 0x590 && !hidden(c));
                if joins(before) && joins(chars.peek().copied()) {
                    out.push(c);
                }
            }
            c if c.is_control() || hidden(c) => {}
            c => out.push(c),
        }
        before = Some(c);
    }
}

/// Characters that are not seen or that turn the reading direction; letters of any script are not among them.
const fn hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Takes out CSI, OSC, DCS and two-character escapes; the text of a link stays.
fn strip_escapes(text: &str) -> String {
    if !text.contains(['\u{1b}', '\u{9b}', '\u{9d}', '\u{90}']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let kind = match c {
            '\u{1b}' => chars.next_if(|next| *next != '\n'),
            '\u{9b}' => Some('['),
            '\u{9d}' => Some(']'),
            '\u{90}' => Some('P'),
            _ => {
                out.push(c);
                continue;
            }
        };
        match kind {
            Some('[') => {
                while let Some(next) =
                    chars.next_if(|next| !('\u{40}'..='\u{7e}').contains(next) && *next != '\n')
                {
                    let _: char = next;
                }
                chars.next_if(|next| ('\u{40}'..='\u{7e}').contains(next));
            }
            Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut chars),
            Some('(' | ')' | '#' | '%') => {
                chars.next_if(|next| *next != '\n');
            }
            _ => {}
        }
    }
    out
}

/// Skips to the end of a control string: BEL, ST, or at worst the line's end.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(next) = chars.next_if(|next| *next != '\n') {
        match next {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// The first `lines` lines.
pub fn head_lines(text: &str, lines: usize) -> String {
    text.lines().take(lines).collect::<Vec<_>>().join("\n")
}

/// The last `lines` lines that are not blank at the end, at most `bytes` long, cut at a line or a character.
pub fn tail_lines(text: &str, lines: usize, bytes: usize) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let tail = all[all.len().saturating_sub(lines)..].join("\n");
    if tail.len() <= bytes {
        return tail;
    }
    let mut start = tail.len() - bytes;
    while !tail.is_char_boundary(start) {
        start += 1;
    }
    let rest = &tail[start..];
    // a whole line where one fits, else a whole word
    let whole =
        rest.find('\n').filter(|at| *at + 1 < rest.len()).or_else(|| rest.find(' ').filter(|at| *at < 80));
    whole.map_or(rest, |at| &rest[at + 1..]).to_owned()
}

/// At most `max` characters, cut at a word where one is near, with `…` behind the cut.
pub fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let cut = text.char_indices().nth(max.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let mut head = &text[..cut];
    let next_is_word = text[cut..].chars().next().is_some_and(|c| !c.is_whitespace());
    if next_is_word
        && let Some(space) = head.rfind(char::is_whitespace)
        && space * 3 > head.len() * 2
    {
        head = &head[..space];
    }
    // a joiner or a combining mark at the cut belongs to what was cut off
    let head = head
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}'));
    format!("{head}…")
}
