//! Small faults of diffs written by models, mended before the diff is parsed.
//!
//! Models count lines badly and leave out `diff --git` lines. A hunk whose header counts wrong would lose lines
//! without a word (a parser takes what is beyond the count for rubbish), and a file without its `diff --git` line
//! among others that have one would be skipped. So the counts are made right from the lines, and the missing lines are
//! put in. Nothing else is changed: a sound git diff comes out as it went in. What hunks there were is counted, so
//! that whoever parses the result can tell whether all of them arrived.

/// The lines that git puts between a file's `diff --git` line and its names.
const GIT_HEADERS: [&str; 12] = [
    "diff --git ",
    "index ",
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "similarity index ",
    "dissimilarity index ",
    "rename ",
    "copy ",
    "Binary files ",
    "GIT binary patch",
];

/// One file's part of a diff, beginning with its `diff --git` line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The part, with right counts.
    pub(super) text: String,
    /// Whether it has lines with the file's names.
    pub(super) named: bool,
    /// How many hunks it has.
    pub(super) hunks: usize,
    /// How many lines are added or removed outside any hunk; there should be none.
    pub(super) stray: usize,
}

/// The parts of `diff`, mended. What comes before the first is left out.
pub(super) fn sections(diff: &str) -> Vec<Section> {
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    let mut mender = Mender::default();
    let mut at = 0;
    while at < lines.len() {
        at += mender.take(&lines[at..]);
    }
    mender.sections
}

#[derive(Default)]
struct Mender {
    sections: Vec<Section>,
    /// Whether names that come now belong to the `diff --git` line above.
    in_header: bool,
}

impl Mender {
    /// Takes what the lines begin with; says how many of them that was.
    fn take(&mut self, lines: &[&str]) -> usize {
        let line = lines[0];
        if names_files(lines) {
            if !self.in_header {
                self.sections.push(Section::default());
                // The parser takes the names from the two lines that follow; these are never looked at.
                self.push("diff --git a/file b/file\n");
            }
            self.in_header = false;
            self.push(line);
            self.push(lines[1]);
            self.count(|section| section.named = true);
            return 2;
        }
        if line.starts_with("diff --git ") {
            self.sections.push(Section::default());
        }
        self.in_header = GIT_HEADERS.iter().any(|header| line.starts_with(header));
        if line.starts_with("@@") {
            return self.take_hunk(lines);
        }
        if line.starts_with(['+', '-']) && !is_signature(line) {
            self.count(|section| section.stray += 1);
        }
        self.push(line);
        1
    }

    fn take_hunk(&mut self, lines: &[&str]) -> usize {
        self.count(|section| section.hunks += 1);
        let Some(header) = HunkHeader::parse(lines[0]) else {
            // The parser will say what is wrong with it.
            self.push(lines[0]);
            return 1;
        };
        let body = Body::of(&lines[1..], &header);
        self.push(&header.with_counts(body.old, body.new, lines[0]));
        lines[1..=body.lines].iter().for_each(|line| self.push(line));
        1 + body.lines
    }

    fn push(&mut self, line: &str) {
        self.count(|section| {
            section.text.push_str(line);
            // The last line of a text often lost its end on the way; in a diff that would mean something.
            if !line.ends_with('\n') {
                section.text.push('\n');
            }
        });
    }

    fn count(&mut self, change: impl FnOnce(&mut Section)) {
        if let Some(section) = self.sections.last_mut() {
            change(section);
        }
    }
}

/// Whether the lines begin with a file's two names.
fn names_files(lines: &[&str]) -> bool {
    matches!(lines, [old, new, ..] if old.starts_with("--- ") && new.starts_with("+++ "))
}

/// Whether this is the line that mail programs put before a signature, as `git format-patch` does.
fn is_signature(line: &str) -> bool {
    line.trim_end() == "--"
}

struct HunkHeader<'a> {
    old_start: &'a str,
    old_count: usize,
    new_start: &'a str,
    new_count: usize,
    rest: &'a str,
}

impl<'a> HunkHeader<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (ranges, rest) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let range = |text: &'a str| {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            start.parse::<usize>().ok()?;
            Some((start, count.parse().ok()?))
        };
        let (old_start, old_count) = range(old)?;
        let (new_start, new_count) = range(new)?;
        Some(Self { old_start, old_count, new_start, new_count, rest })
    }

    fn with_counts(&self, old: usize, new: usize, line: &str) -> String {
        if (old, new) == (self.old_count, self.new_count) {
            return line.to_owned();
        }
        let Self { old_start, new_start, rest, .. } = self;
        format!("@@ -{old_start},{old} +{new_start},{new} @@{rest}")
    }
}

/// The lines of a hunk: how many of the text, how many of them in the old file, how many in the new one.
struct Body {
    lines: usize,
    old: usize,
    new: usize,
}

impl Body {
    fn of(lines: &[&str], header: &HunkHeader<'_>) -> Self {
        let counted = Self::counted(lines, header);
        // What goes on after the count is reached belongs to the hunk all the same.
        let goes_on = |body: &Self| {
            let next = lines.get(body.lines);
            next.is_some_and(|line| line.starts_with([' ', '+', '-']) && !is_signature(line))
                && !names_files(&lines[body.lines..])
        };
        match counted {
            Some(body) if !goes_on(&body) => body,
            _ => Self::by_looks(lines),
        }
    }

    /// As far as the header says, if the lines agree with it.
    fn counted(lines: &[&str], header: &HunkHeader<'_>) -> Option<Self> {
        let mut body = Self { lines: 0, old: 0, new: 0 };
        while (body.old, body.new) != (header.old_count, header.new_count) {
            let rest = &lines[body.lines..];
            // Names with a hunk right after them are another file's, whatever the header says.
            if names_files(rest) && rest.get(2).is_some_and(|line| line.starts_with("@@ -")) {
                return None;
            }
            body.take(rest.first()?).then_some(())?;
            if body.old > header.old_count || body.new > header.new_count {
                return None;
            }
        }
        while lines.get(body.lines).is_some_and(|line| line.starts_with('\\')) {
            body.lines += 1;
        }
        Some(body)
    }

    /// As far as lines look like a hunk's; empty ones at the end part it from what follows.
    fn by_looks(lines: &[&str]) -> Self {
        let end = (0..lines.len())
            .find(|at| {
                names_files(&lines[*at..]) || !lines[*at].starts_with([' ', '+', '-', '\\', '\n', '\r'])
            })
            .unwrap_or(lines.len());
        let empty =
            lines[..end].iter().rev().take_while(|line| line.trim_end_matches(['\r', '\n']).is_empty());
        let end = end - empty.count();
        let mut body = Self { lines: 0, old: 0, new: 0 };
        while body.lines < end {
            body.take(lines[body.lines]);
        }
        body
    }

    /// Counts a line; says whether it can be one of a hunk.
    fn take(&mut self, line: &str) -> bool {
        let (old, new) = match line.as_bytes().first() {
            Some(b' ' | b'\n' | b'\r') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            _ => return false,
        };
        self.lines += 1;
        self.old += old;
        self.new += new;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "\
diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,2 +1,2 @@ fn x()
-one
+ONE
 two
@@ -9 +9 @@
-nine
\\ No newline at end of file
+NINE
\\ No newline at end of file
diff --git a/y b/y
deleted file mode 100644
--- a/y
+++ /dev/null
@@ -1 +0,0 @@
--- y
";

    fn mended(diff: &str) -> String {
        sections(diff).into_iter().map(|section| section.text).collect()
    }

    #[test]
    fn a_sound_diff_stays_as_it_is() {
        assert_eq!(mended(SOUND), SOUND);
        assert_eq!(mended(&format!("Here it is:\n{SOUND}-- \n2.43\n")), format!("{SOUND}-- \n2.43\n"));
        let counts: Vec<_> = sections(SOUND).iter().map(|section| (section.hunks, section.stray)).collect();
        assert_eq!(counts, [(2, 0), (1, 0)]);
    }

    #[test]
    fn wrong_counts_are_made_right() {
        for wrong in ["-1,9 +1,9", "-1 +1", "-1,0 +1,0", "-1,2 +1,3"] {
            assert_eq!(mended(&SOUND.replace("-1,2 +1,2", wrong)), SOUND, "{wrong}");
        }
    }

    #[test]
    fn an_empty_line_after_a_miscounted_hunk_is_not_part_of_it() {
        let diff = "--- x\n+++ x\n@@ -1,3 +1,3 @@\n-a\n+b\n\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b\n";
        let expected = "diff --git a/file b/file\n--- x\n+++ x\n@@ -1,1 +1,1 @@\n-a\n+b\n\n\
                        diff --git a/file b/file\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(mended(diff), expected);
    }

    #[test]
    fn a_deleted_line_of_dashes_is_not_a_file_name() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n same\n";
        assert_eq!(mended(diff), diff);
    }

    #[test]
    fn a_file_without_its_git_line_after_a_rename_is_a_file_of_its_own() {
        let diff =
            "diff --git a/x b/y\nrename from x\nrename to y\n\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(sections(diff).len(), 2);
    }

    #[test]
    fn a_lost_last_line_end_is_put_back() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b";
        assert_eq!(mended(diff), format!("{diff}\n"));
    }

    #[test]
    fn lines_outside_any_hunk_are_counted() {
        let [section] = sections("--- /dev/null\n+++ b/x\n+a\n+b\n").try_into().expect("one file");
        assert_eq!((section.named, section.hunks, section.stray), (true, 0, 2));
    }
}
