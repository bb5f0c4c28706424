//! What the last commits changed, and what they say of it.

use loggia_domain::{PastChange, RepositoryError};

use crate::work::Work;

/// A commit that changes more files than this is about none of them: a move, another format, somebody else's code.
const MAX_FILES: usize = 50;

/// How much of the answer is read: hundreds of times what usual commits come to.
const MAX_ANSWER: usize = 1024 * 1024;

/// How much of a subject is kept: whoever writes more has not written one line.
const MAX_SUBJECT: usize = 200;

/// Begins each commit of the answer.
const COMMIT: u8 = 1;

/// What the newest commits changed, the latest first; relative to the directory that was asked for, and without files
/// outside it.
pub(crate) async fn changed(work: &Work<'_>, commits: usize) -> Result<Vec<PastChange>, RepositoryError> {
    let mut relative = std::ffi::OsString::from("--relative=");
    relative.push(work.place.asked.strip_prefix(&work.place.top).unwrap_or(&work.place.top));
    let count = format!("--max-count={commits}");
    let arguments = [
        "log".as_ref(),
        count.as_ref(),
        "--no-merges".as_ref(),
        "--no-renames".as_ref(),
        "--no-ext-diff".as_ref(),
        "--no-show-signature".as_ref(),
        "--ignore-submodules=all".as_ref(),
        "--name-only".as_ref(),
        "--diff-filter=d".as_ref(),
        "-z".as_ref(),
        "--format=%x01%s".as_ref(),
        relative.as_os_str(),
    ];
    let said = work.ask(&arguments).most(MAX_ANSWER).good().await?;
    Ok(parse(&said.output, said.is_cut))
}

fn parse(output: &[u8], is_cut: bool) -> Vec<PastChange> {
    // A path that was cut is another path.
    let end = if is_cut { output.iter().rposition(|byte| *byte == 0).unwrap_or(0) } else { output.len() };
    let mut changes: Vec<PastChange> = Vec::new();
    for word in output[..end].split(|byte| *byte == 0) {
        let word = word.strip_prefix(b"\n").unwrap_or(word);
        match (word, changes.last_mut()) {
            ([COMMIT, subject @ ..], _) => {
                let subject = subject[..subject.len().min(MAX_SUBJECT)].utf8_chunks();
                let subject = subject.map(|chunk| chunk.valid()).collect();
                changes.push(PastChange { subject, files: Vec::new() });
            }
            ([], _) | (_, None) => {}
            // What is no text is no path that anybody could ask about.
            (path, Some(change)) => change.files.extend(str::from_utf8(path).ok().map(str::to_owned)),
        }
    }
    changes.retain(|change| (1..=MAX_FILES).contains(&change.files.len()));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, is_cut: bool, expected: &[&str]) {
        let changes = parse(output.as_bytes(), is_cut);
        let shown = changes.iter().map(|change| format!("{}: {}", change.subject, change.files.join(" ")));
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_commit_of_many_files_and_a_path_that_was_cut_are_left_out() {
        let many: String = (0..=MAX_FILES).map(|number| format!("m{number}\0")).collect();
        let text = format!("\x01One\0\na\0b\0\x01Many\0\n{many}\x01Nothing\0\x01Two\0\nb\0c\0");
        check(&text, false, &["One: a b", "Two: b c"]);
        check("\x01One\0\na\0b\0cut", true, &["One: a b"]);
        check("", false, &[]);
        check("a\0b", false, &[]);
    }

    #[test]
    fn a_long_subject_is_cut_between_letters() {
        let long = "ä".repeat(MAX_SUBJECT);
        let changes = parse(format!("\x01x{long}\0\na\0").as_bytes(), false);
        assert_eq!(changes[0].subject, format!("x{}", "ä".repeat(MAX_SUBJECT / 2 - 1)));
    }
}
