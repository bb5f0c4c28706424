//! Names of tasks' branches, commits, marks and trees: pure functions over words.
//!
//! What comes from elsewhere (titles, keys) is only ever a part of a name here, cleaned so that it is one that git takes
//! and that means no other place.

use std::path::{Path, PathBuf};

use loggia_domain::{TaskId, WorkItem};

/// The scheme of references that have none, unless somebody says otherwise.
pub const SCHEME: &str = "file";
/// How branches are called unless somebody says otherwise.
pub const BRANCH_PATTERN: &str = "{type}/{key}--{slug}";
/// What commits begin with unless somebody says otherwise.
pub const COMMIT_PREFIX: &str = "[{key}]";

/// The longest slug: a branch's name must still fit a line.
const MAX_SLUG: usize = 50;
/// The longest key, type or title in a name.
const MAX_WORD: usize = 100;

/// What goes into names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// What people call the item for short.
    pub key: String,
    /// The task.
    pub task: String,
    /// What kind of work it is.
    pub kind: String,
    /// The title as a part of a name.
    pub slug: String,
    /// The title.
    pub title: String,
}

impl Words {
    /// The words of a task; those that somebody gave count before the item's.
    pub fn new(
        task: TaskId,
        item: &WorkItem,
        key: Option<&str>,
        title: Option<&str>,
        slug: Option<&str>,
    ) -> Self {
        let some =
            |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let task = task.to_string();
        let title = some(title).unwrap_or_else(|| item.title.trim().to_owned());
        let own = serde_json::from_str::<serde_json::Value>(&item.more.0).ok();
        let own = own.as_ref().and_then(|more| more.get("slug")).and_then(serde_json::Value::as_str);
        let slug = some(slug).or_else(|| some(own)).unwrap_or_else(|| title.clone());
        Self {
            key: some(key).or_else(|| some(item.label.as_deref())).unwrap_or_else(|| task.clone()),
            kind: some(item.kind.as_deref()).unwrap_or_else(|| "task".to_owned()),
            slug: slugged(&slug),
            title,
            task,
        }
    }

    /// A pattern with its words put in; words nobody knows stay.
    fn put_into(&self, pattern: &str, clean: impl Fn(&str) -> String) -> String {
        let words = [
            ("{key}", &self.key),
            ("{task_id}", &self.task),
            ("{type}", &self.kind),
            ("{slug}", &self.slug),
            ("{title}", &self.title),
        ];
        let mut named = String::new();
        let mut rest = pattern;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            named.push_str(before);
            match words.iter().find(|(word, _)| from.starts_with(word)) {
                Some((word, value)) => {
                    named.push_str(&clean(value));
                    rest = &from[word.len()..];
                }
                None => {
                    named.push('{');
                    rest = &from[1..];
                }
            }
        }
        named.push_str(rest);
        named
    }

    /// The branch's name.
    pub fn branch(&self, pattern: &str) -> String {
        cleaned_branch(&self.put_into(pattern, branch_word))
    }

    /// What commits begin with.
    pub fn prefix(&self, pattern: &str) -> String {
        let line =
            |word: &str| word.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_WORD).collect();
        self.put_into(pattern, line).trim().to_owned()
    }
}

/// A word as a part of a branch's name: one piece, without what git refuses.
fn branch_word(word: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_alphanumeric() => c,
        '-' | '_' | '.' => c,
        _ => '-',
    };
    let word: String = word.chars().take(MAX_WORD).map(plain).collect();
    word.trim_matches(['-', '.']).to_owned()
}

/// A branch's name that git takes.
fn cleaned_branch(name: &str) -> String {
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\{}@".contains(c);
    let mut name: String = name.chars().map(|c| if forbidden(c) { '-' } else { c }).collect();
    while let Some(at) = name.find("//") {
        name.replace_range(at..at + 2, "/");
    }
    while let Some(at) = name.find("---") {
        name.replace_range(at..at + 3, "--");
    }
    while let Some(at) = name.find("..") {
        name.replace_range(at..at + 2, ".");
    }
    // No piece of it may begin with a point, end with `.lock`, or be empty.
    let pieces = name.split('/').map(|piece| piece.trim_start_matches(['.', '-']));
    let pieces = pieces.map(|piece| piece.trim_end_matches(".lock").trim_end_matches(['.', '-']));
    pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("/")
}

/// A text as a part of a name: letters without their accents, digits and hyphens, at most fifty of them.
pub fn slugged(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(unaccented).flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            ' ' | '_' | '-' | '\t' | '\n' if !slug.ends_with('-') && !slug.is_empty() => slug.push('-'),
            _ => {}
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.len() <= MAX_SLUG {
        return slug.to_owned();
    }
    let cut = &slug[..MAX_SLUG];
    // A word that is cut reads badly, unless that would take more than half.
    match cut.rfind('-') {
        _ if slug.as_bytes()[MAX_SLUG] == b'-' => cut.to_owned(),
        Some(hyphen) if hyphen > MAX_SLUG / 2 => cut[..hyphen].to_owned(),
        _ => cut.trim_end_matches('-').to_owned(),
    }
}

/// A letter without its accent, of the languages people write titles in with Latin letters.
fn unaccented(c: char) -> std::vec::IntoIter<char> {
    const PLAIN: &[(&str, &str)] = &[
        ("àáâãäåāăąǎ", "a"),
        ("ÀÁÂÃÄÅĀĂĄǍ", "A"),
        ("çćĉċč", "c"),
        ("ÇĆĈĊČ", "C"),
        ("ďđð", "d"),
        ("ĎĐÐ", "D"),
        ("èéêëēĕėęě", "e"),
        ("ÈÉÊËĒĔĖĘĚ", "E"),
        ("ĝğġģ", "g"),
        ("ĜĞĠĢ", "G"),
        ("ĥħ", "h"),
        ("ĤĦ", "H"),
        ("ìíîïĩīĭįıǐ", "i"),
        ("ÌÍÎÏĨĪĬĮİǏ", "I"),
        ("ĵ", "j"),
        ("Ĵ", "J"),
        ("ķ", "k"),
        ("Ķ", "K"),
        ("ĺļľŀł", "l"),
        ("ĹĻĽĿŁ", "L"),
        ("ñńņňŉ", "n"),
        ("ÑŃŅŇ", "N"),
        ("òóôõöøōŏőǒ", "o"),
        ("ÒÓÔÕÖØŌŎŐǑ", "O"),
        ("ŕŗř", "r"),
        ("ŔŖŘ", "R"),
        ("śŝşšș", "s"),
        ("ŚŜŞŠȘ", "S"),
        ("ţťŧț", "t"),
        ("ŢŤŦȚ", "T"),
        ("ùúûüũūŭůűųǔ", "u"),
        ("ÙÚÛÜŨŪŬŮŰŲǓ", "U"),
        ("ŵ", "w"),
        ("Ŵ", "W"),
        ("ýÿŷ", "y"),
        ("ÝŸŶ", "Y"),
        ("źżž", "z"),
        ("ŹŻŽ", "Z"),
        ("ß", "ss"),
        ("æ", "ae"),
        ("Æ", "AE"),
        ("œ", "oe"),
        ("Œ", "OE"),
        ("þ", "th"),
        ("Þ", "Th"),
    ];
    let found = (!c.is_ascii()).then(|| PLAIN.iter().find(|(letters, _)| letters.contains(c))).flatten();
    let plain: Vec<char> = match found {
        Some((_, plain)) => plain.chars().collect(),
        None => vec![c],
    };
    plain.into_iter()
}

/// The mark of a checkpoint.
pub fn mark(task: TaskId, number: u32) -> String {
    format!("task-checkpoint/{task}/{number}")
}

/// Where a task's own working tree is: beside the repository's main one.
pub fn tree(main: &Path, task: TaskId) -> Option<PathBuf> {
    let mut name = main.file_name()?.to_owned();
    name.push("-worktrees");
    Some(main.with_file_name(name).join(task.to_string()))
}

#[cfg(test)]
mod tests {
    use loggia_domain::{JsonText, SessionId};

    use super::*;

    fn task() -> TaskId {
        TaskId::of(SessionId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 0x2b, 0x3c, 0x4d]))
    }

    fn item(label: Option<&str>, kind: Option<&str>, title: &str) -> WorkItem {
        WorkItem {
            key: "k".to_owned(),
            label: label.map(str::to_owned),
            kind: kind.map(str::to_owned),
            title: title.to_owned(),
            description: String::new(),
            status: None,
            priority: None,
            tags: Vec::new(),
            location: None,
            provider: None,
            more: JsonText::empty_object(),
        }
    }

    #[test]
    fn slugs_are_plain_and_short() {
        for (title, expected) in [
            ("Fix login bug", "fix-login-bug"),
            ("  Größe  ändern! ", "grosse-andern"),
            ("Crème brûlée_au café", "creme-brulee-au-cafe"),
            ("a -- b", "a-b"),
            ("---", ""),
            ("日本語", ""),
            ("UPPER/lower: 42%", "upperlower-42"),
            (
                "a title that is much longer than fifty characters can ever be",
                "a-title-that-is-much-longer-than-fifty-characters",
            ),
            (
                "short aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "short-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ),
        ] {
            assert_eq!(slugged(title), expected);
        }
    }

    #[test]
    fn branches_are_named_by_their_pattern() {
        let words = |item: &WorkItem| Words::new(task(), item, None, None, None);
        let issue = words(&item(Some("42"), Some("issue"), "Fix login bug"));
        for (pattern, expected) in [
            (BRANCH_PATTERN, "issue/42--fix-login-bug"),
            ("{task_id}", "1a2b3c4d"),
            ("feature/{slug}", "feature/fix-login-bug"),
            ("{unknown}/{key}", "unknown/42"),
            ("//a///b/", "a/b"),
            ("x-----{slug}-", "x--fix-login-bug"),
            ("{title}", "Fix-login-bug"),
            ("../{key}..lock", "42"),
        ] {
            assert_eq!(issue.branch(pattern), expected, "{pattern}");
        }
        let bare = words(&item(None, None, "日本語"));
        assert_eq!(bare.branch(BRANCH_PATTERN), "task/1a2b3c4d");
        let hostile = words(&item(Some("../../x y~^:"), Some("a/../b"), "t"));
        assert_eq!(hostile.branch(BRANCH_PATTERN), "a-.-b/x-y--t");
    }

    #[test]
    fn what_somebody_gave_counts_before_the_item() {
        let mut item = item(Some("42"), None, "Fix");
        item.more = JsonText(r#"{"slug":"from-item"}"#.to_owned());
        let words = Words::new(task(), &item, None, None, None);
        assert_eq!(words.slug, "from-item");
        let words = Words::new(task(), &item, Some("ABC-1"), Some("Other"), Some("my slug"));
        assert_eq!(
            (words.key.as_str(), words.title.as_str(), words.slug.as_str()),
            ("ABC-1", "Other", "my-slug")
        );
        assert_eq!(words.prefix(COMMIT_PREFIX), "[ABC-1]");
        assert_eq!(words.prefix("{key}\n{title}:"), "ABC-1\nOther:");
    }

    #[test]
    fn trees_and_marks_carry_the_task() {
        assert_eq!(tree(Path::new("/home/a/repo"), task()), Some("/home/a/repo-worktrees/1a2b3c4d".into()));
        assert_eq!(tree(Path::new("/"), task()), None);
        assert_eq!(mark(task(), 3), "task-checkpoint/1a2b3c4d/3");
    }
}
