//! What changed from one commit to another, as text.

use loggia_domain::{Commit, RepositoryError};

use crate::refs::checked;
use crate::work::Work;

/// The last line of a diff that was cut.
const CUT: &str = "... the rest of the changes is left out\n";

/// A unified diff of at most `limit` bytes, cut between lines.
pub(crate) async fn between(
    work: &Work<'_>,
    from: &Commit,
    to: &Commit,
    limit: usize,
) -> Result<String, RepositoryError> {
    let arguments = [
        "diff-tree",
        "-r",
        "-p",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--find-renames",
        "--submodule=short",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        checked(from)?,
        checked(to)?,
    ];
    let said = work.ask(&arguments).most(limit).good().await?;
    let text = String::from_utf8_lossy(&said.output);
    // A byte that is no text takes three when it is shown.
    let fits = !said.is_cut && text.len() <= limit;
    Ok(if fits { text.into_owned() } else { cut(&text, limit) })
}

/// As many whole lines as fit, and a line that says that there were more.
fn cut(text: &str, limit: usize) -> String {
    let Some(room) = limit.checked_sub(CUT.len()) else { return String::new() };
    let end = text.floor_char_boundary(room);
    let end = text[..end].rfind('\n').map_or(0, |end| end + 1);
    format!("{}{CUT}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_lines_and_says_so() {
        assert_eq!(cut("one\ntwo\nthree\n", CUT.len() + 9), format!("one\ntwo\n{CUT}"));
        assert_eq!(cut("€€€\n", CUT.len() + 4), CUT);
        assert_eq!(cut("one\n", 3), "");
    }
}
