//! Files in the text of agents that can only write text: blocks fenced as `yaml:file` and `yaml:summary`.
//!
//! Text in pieces goes in; text without these blocks, and files, come out. Invariant: text is held back only while it may
//! be such a block; what is none after all comes out as it was.

use loggia_domain::AgentPart;
use serde::Deserialize;

/// As content: the file should go.
const DELETE: &str = "__DELETE_FILE__";

/// What reads the text of one run.
#[derive(Debug, Default)]
pub(super) struct Fences {
    /// The line that is being read, as long as it may open a block.
    line: String,
    /// Whether the rest of the line is only text.
    in_text: bool,
    block: Option<Block>,
    /// Why a block cannot be used, the first one.
    problem: Option<String>,
}

/// A block that is being read.
#[derive(Debug)]
struct Block {
    kind: Kind,
    /// What stands before the opening's fence, and the fence: the end looks the same.
    end: String,
    /// The line that opened it.
    opening: String,
    body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Summary,
}

impl Kind {
    const ALL: [(Self, &str); 2] = [(Self::File, "yaml:file"), (Self::Summary, "yaml:summary")];
}

/// What a `yaml:file` block says.
#[derive(Debug, Deserialize)]
struct FileBlock {
    path: String,
    operation: Option<String>,
    content: Option<String>,
}

/// What a `yaml:summary` block says.
#[derive(Debug, Deserialize)]
struct SummaryBlock {
    text: String,
}

impl Fences {
    /// Takes a piece of text in.
    pub(super) fn push(&mut self, piece: &str) -> Vec<AgentPart> {
        let mut parts = Vec::new();
        let mut text = String::new();
        for line in piece.split_inclusive('\n') {
            self.take(line, &mut text, &mut parts);
        }
        flush(&mut text, &mut parts);
        parts
    }

    /// Something else was said: what is held back of a line outside of a block is only text.
    pub(super) fn interrupt(&mut self) -> Option<AgentPart> {
        if self.block.is_some() || self.line.is_empty() {
            return None;
        }
        self.in_text = true;
        Some(AgentPart::Text(std::mem::take(&mut self.line)))
    }

    /// The text is over. Gives what was held back, and why a block cannot be used, if one cannot.
    pub(super) fn finish(&mut self) -> (Vec<AgentPart>, Option<String>) {
        let mut parts = Vec::new();
        // A last line needs no end.
        if self.block.is_some() {
            let line = std::mem::take(&mut self.line);
            let mut text = String::new();
            self.take_whole(line, &mut text, &mut parts);
            flush(&mut text, &mut parts);
        }
        if let Some(block) = self.block.take() {
            if block.kind == Kind::File {
                let problem = "it wrote a `yaml:file` block without its end";
                self.problem.get_or_insert_with(|| problem.to_owned());
            }
            parts.push(AgentPart::Text(block.opening + &block.body));
        }
        parts.extend(self.interrupt());
        (parts, self.problem.take())
    }

    /// Takes a line in, or a piece of one.
    fn take(&mut self, piece: &str, text: &mut String, parts: &mut Vec<AgentPart>) {
        let ends = piece.ends_with('\n');
        if self.in_text {
            text.push_str(piece);
            self.in_text = !ends;
            return;
        }
        self.line.push_str(piece);
        if ends {
            let line = std::mem::take(&mut self.line);
            self.take_whole(line, text, parts);
        } else if self.block.is_none() && !may_open(&self.line) {
            self.in_text = true;
            text.push_str(&std::mem::take(&mut self.line));
        }
    }

    fn take_whole(&mut self, line: String, text: &mut String, parts: &mut Vec<AgentPart>) {
        match &mut self.block {
            Some(block) if line.trim_end() != block.end => block.body.push_str(&line),
            Some(_) => {
                if let Some(block) = self.block.take() {
                    flush(text, parts);
                    parts.push(self.read(block, &line));
                }
            }
            None => match opened(&line) {
                Some((kind, end)) => {
                    self.block = Some(Block { kind, end, opening: line, body: String::new() });
                }
                None => text.push_str(&line),
            },
        }
    }

    fn read(&mut self, block: Block, last: &str) -> AgentPart {
        let Block { kind, opening, body, .. } = block;
        let whole = || AgentPart::Text(format!("{opening}{body}{last}"));
        match kind {
            Kind::File => read_file(&body).unwrap_or_else(|problem| {
                let problem = format!("it wrote a `yaml:file` block that cannot be used: {problem}");
                self.problem.get_or_insert(problem);
                whole()
            }),
            Kind::Summary => match serde_saphyr::from_str::<SummaryBlock>(&body) {
                Ok(summary) => AgentPart::Text(format!("{}\n", summary.text.trim_end())),
                Err(_) => whole(),
            },
        }
    }
}

fn flush(text: &mut String, parts: &mut Vec<AgentPart>) {
    if !text.is_empty() {
        parts.push(AgentPart::Text(std::mem::take(text)));
    }
}

/// Whether a line that has not ended may open a block.
fn may_open(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    let info = rest.trim_start_matches('`');
    let fence = rest.len() - info.len();
    if info.is_empty() {
        return true;
    }
    fence >= 3 && Kind::ALL.iter().any(|(_, name)| name.starts_with(info) || info.trim_end() == *name)
}

/// The block that a line opens, and the line that ends it.
fn opened(line: &str) -> Option<(Kind, String)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let info = line[indent..].trim_start_matches('`');
    let fence = line.len() - info.len();
    let (kind, _) = Kind::ALL.iter().find(|(_, name)| *name == info.trim())?;
    (fence - indent >= 3).then(|| (*kind, line[..fence].to_owned()))
}

fn read_file(body: &str) -> Result<AgentPart, String> {
    let block: FileBlock =
        serde_saphyr::from_str(body).map_err(|error| error.without_snippet().to_string())?;
    let FileBlock { path, operation, content } = block;
    match (operation.as_deref(), content) {
        (Some("delete"), _) => Ok(AgentPart::File(path, None)),
        (None | Some("create" | "update"), Some(content)) => {
            Ok(AgentPart::File(path, Some(content).filter(|content| content.trim() != DELETE)))
        }
        (None | Some("create" | "update"), None) => Err(format!("`{path}` has no `content`")),
        (Some(other), _) => {
            Err(format!("`{path}` is to `{other}`; `create`, `update` and `delete` are known"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a text, in one piece and in pieces of every length.
    fn check(text: &str, expected: &[&str]) {
        for length in [usize::MAX, 1, 2, 3, 7] {
            let mut fences = Fences::default();
            let characters: Vec<char> = text.chars().collect();
            let pieces = characters.chunks(length.min(characters.len().max(1)));
            let mut parts: Vec<AgentPart> =
                pieces.flat_map(|piece| fences.push(&piece.iter().collect::<String>())).collect();
            let (rest, problem) = fences.finish();
            parts.extend(rest);
            let mut told: Vec<String> = Vec::new();
            let mut said = String::new();
            for part in parts {
                match part {
                    AgentPart::Text(text) => said.push_str(&text),
                    AgentPart::File(path, content) => told.push(format!("{path} {content:?}")),
                    other => panic!("{other:?}"),
                }
            }
            told.insert(0, said);
            told.extend(problem);
            assert_eq!(told, expected, "in pieces of {length}");
        }
    }

    #[test]
    fn files_come_out_of_the_text() {
        check(
            "Done:\n```yaml:file\npath: a.py\noperation: create\ncontent: |\n  x = 1\n  ```\n```\nThat is all.",
            &["Done:\nThat is all.", r#"a.py Some("x = 1\n```\n")"#],
        );
        check("```yaml:file\npath: a\noperation: delete\n```", &["", "a None"]);
        check("```yaml:file\npath: a\noperation: update\ncontent: __DELETE_FILE__\n```\n", &["", "a None"]);
        check("````yaml:file\npath: a\ncontent: b\n````\n", &["", r#"a Some("b")"#]);
    }

    #[test]
    fn a_summary_is_text() {
        check("```yaml:summary\ntext: All is well.\n```\n", &["All is well.\n"]);
        check("```yaml:summary\n[\n```\n", &["```yaml:summary\n[\n```\n"]);
    }

    #[test]
    fn other_text_comes_out_as_it_was() {
        for text in [
            "",
            "plain",
            "a ```yaml:file\n",
            "```yaml\na: 1\n```\n",
            "```yaml:fi",
            "`",
            "\n\n",
            "  ```rust\nx\n```",
        ] {
            check(text, &[text]);
        }
    }

    #[test]
    fn a_block_that_cannot_be_used_is_shown_and_told() {
        check(
            "```yaml:file\npath: a\n```\n",
            &[
                "```yaml:file\npath: a\n```\n",
                "it wrote a `yaml:file` block that cannot be used: `a` has no `content`",
            ],
        );
        check(
            "```yaml:file\npath: a\noperation: move\n```\n",
            &[
                "```yaml:file\npath: a\noperation: move\n```\n",
                "it wrote a `yaml:file` block that cannot be used: `a` is to `move`; `create`, `update` and `delete` are known",
            ],
        );
        check(
            "```yaml:file\npath: a\ncontent: b",
            &["```yaml:file\npath: a\ncontent: b", "it wrote a `yaml:file` block without its end"],
        );
    }

    #[test]
    fn what_is_said_in_between_does_not_wait() {
        let mut fences = Fences::default();
        assert_eq!(fences.push("``"), []);
        assert_eq!(fences.interrupt(), Some(AgentPart::Text("``".to_owned())));
        assert_eq!(fences.push("`yaml:file\n"), [AgentPart::Text("`yaml:file\n".to_owned())]);
    }
}
