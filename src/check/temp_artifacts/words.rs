//! Prose and code told apart by words: which words are keywords of any language, which are only ever English, and how
//! a line reads once strings and trailing comments are gone.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::language::Language;

/// A run of this many words that are no keywords is prose.
const PROSE: usize = 3;

/// Words that start, end or stand in statements of one of the languages.
const KEYWORDS: &str = "abstract actor alias and any as assert async auto await base become begin bool boolean break \
    by byte case catch chan char checked class clone companion const constexpr continue crate data debugger decimal \
    declare def default defer del delegate delete deriving do done double dyn echo elif else elseif elsif end ensure enum esac \
    event except exit explicit export extends extension extern external fallthrough false fi fileprivate final finally \
    fixed float fn for foreach friend from fun func function get global go goto guard if impl implements implicit \
    import in include infix init inline inner inout instanceof insteadof int interface internal into is keyof lambda \
    late lazy let local lock long loop macro make map match mod module move mut mutable mutating namespace native new \
    next nil none nonlocal not null object of open operator or out override package params pass perform precedence \
    print printf private protected protocol pub public puts raise range readonly record ref register reified repeat \
    require rescue restrict retry return return returns sealed self select set short signed sizeof source static \
    strictfp string struct subscript super suspend switch synchronized template then this throw throws trait transient \
    true try type typealias typedef typename typeof uint ulong union unless unowned unsafe unset unsigned until use \
    using val var vararg virtual void volatile weak when where while with yield redo undef defined int8 int16 int32 \
    int64 uint8 uint16 uint32 uint64 i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 usize isize size_t str rune error";

/// Words that, standing free, are never code.
const ENGLISH: &str = "the are was were because should which they we our its must cannot already instead would \
    these those however than been could you your whether iff usually therefore";

static KEYWORD_SET: LazyLock<HashSet<&'static [u8]>> = LazyLock::new(|| words_of(KEYWORDS));
static ENGLISH_SET: LazyLock<HashSet<&'static [u8]>> = LazyLock::new(|| words_of(ENGLISH));

fn words_of(text: &'static str) -> HashSet<&'static [u8]> {
    text.split_ascii_whitespace().map(str::as_bytes).collect()
}

/// Whether a word is a keyword of any language.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    KEYWORD_SET.contains(word)
}

const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether a line whose strings are blanked reads as prose: a run of words with single blanks between them, three of
/// them no keywords, or a word that is only ever English.
pub(super) fn is_prose(line: &[u8]) -> bool {
    let mut plain = 0_usize;
    for token in line.split(|byte| *byte == b' ') {
        let bare = token.strip_prefix(b"(").unwrap_or(token);
        let tail = bare.iter().rev().take_while(|byte| b",.;:!?)".contains(byte)).count();
        let word = bare.get(..bare.len() - tail).unwrap_or_default();
        let is_word = !word.is_empty()
            && is_letter(word[0])
            && word.iter().all(|byte| is_letter(*byte) || matches!(byte, b'\'' | b'-'));
        if is_word && is_english(word) {
            return true;
        }
        if !is_word || bare.len() != token.len() {
            plain = 0;
        }
        if is_word && !is_keyword(word) {
            plain += 1;
        }
        if plain >= PROSE {
            return true;
        }
        if tail > 0 {
            plain = 0;
        }
    }
    false
}

fn is_english(word: &[u8]) -> bool {
    let mut lower = [0; 9];
    let Some(part) = lower.get_mut(..word.len()) else { return false };
    part.copy_from_slice(word);
    part.make_ascii_lowercase();
    ENGLISH_SET.contains(&*part)
}

/// Number of words, keywords included.
pub(super) fn count(line: &[u8]) -> usize {
    line.split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty()).count()
}

/// A line with the insides of its strings gone and a trailing comment cut off.
pub(super) fn blanked(line: &[u8], language: &Language) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut at = 0;
    // a quote that did not close once does not close further on either, which keeps this linear
    let mut open = Vec::new();
    while let Some(byte) = line.get(at).copied() {
        let before = at.checked_sub(1).and_then(|index| line.get(index)).copied().unwrap_or(b' ');
        if comment_opens(line, at, before, language) {
            break;
        }
        let quoted = matches!(byte, b'"' | b'`') || (byte == b'\'' && !is_letter(before));
        if quoted && !open.contains(&byte) {
            if let Some(length) = closing(line.get(at..).unwrap_or_default()) {
                out.extend([byte, byte]);
                at += length;
                continue;
            }
            open.push(byte);
        }
        out.push(byte);
        at += 1;
    }
    out.truncate(out.trim_ascii_end().len());
    out
}

fn comment_opens(line: &[u8], at: usize, before: u8, language: &Language) -> bool {
    if at == 0 || !before.is_ascii_whitespace() {
        return false;
    }
    let rest = line.get(at..).unwrap_or_default();
    let block = language.syntax.block.is_some_and(|(open, _)| open == "/*" && rest.starts_with(b"/*"));
    block || language.syntax.line.iter().any(|open| rest.starts_with(open.as_bytes()))
}

/// The length of the string that opens here, its quotes included; `None` if it does not close.
fn closing(rest: &[u8]) -> Option<usize> {
    let quote = *rest.first()?;
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        if *byte == b'\\' {
            at += 1;
        } else if *byte == quote {
            return Some(at + 1);
        }
        at += 1;
    }
    None
}
