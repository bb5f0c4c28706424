//! Which files the last commits changed.

use loggia_domain::RepositoryError;

use crate::work::Work;

/// A commit that changes more files than this is about none of them: a move, another format, somebody else's code.
const MAX_FILES: usize = 50;

/// How much of the answer is read: hundreds of times what usual commits come to.
const MAX_ANSWER: usize = 1024 * 1024;

/// Begins each commit of the answer.
const COMMIT: &[u8] = b"\x01";

/// Files that the newest commits changed, the latest first, each once; relative to the directory that was asked for, and
/// without those outside it.
pub(crate) async fn changed(work: &Work<'_>, commits: usize) -> Result<Vec<String>, RepositoryError> {
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
        "--format=%x01".as_ref(),
        relative.as_os_str(),
    ];
    let said = work.ask(&arguments).most(MAX_ANSWER).good().await?;
    Ok(parse(&said.output, said.is_cut))
}

fn parse(output: &[u8], is_cut: bool) -> Vec<String> {
    // A path that was cut is another path.
    let end = if is_cut { output.iter().rposition(|byte| *byte == 0).unwrap_or(0) } else { output.len() };
    let mut found: Vec<String> = Vec::new();
    let words = output[..end].split(|byte| *byte == 0).map(|word| word.strip_prefix(b"\n").unwrap_or(word));
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    for commit in words.split(|word| *word == COMMIT).filter(|commit| commit.len() <= MAX_FILES) {
        // What is no text is no path that anybody could ask about.
        for path in commit.iter().filter_map(|path| str::from_utf8(path).ok()) {
            if !found.iter().any(|other| other == path) {
                found.push(path.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_of_many_files_and_a_path_that_was_cut_are_left_out() {
        let many: String = (0..=MAX_FILES).map(|number| format!("m{number}\0")).collect();
        let text = format!("\x01\0\na\0b\0\x01\0\n{many}\x01\0\nb\0c\0");
        assert_eq!(parse(text.as_bytes(), false), ["a", "b", "c"]);
        assert_eq!(parse(b"\x01\0\na\0b\0cut", true), ["a", "b"]);
        assert_eq!(parse(b"", false), Vec::<String>::new());
    }
}
