//! What was typed: a prompt, perhaps with files named, or a command.

/// Every command, with what it does. Those that the server knows are prompts.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("/fix", "find what is wrong and repair it"),
    ("/test", "write or extend tests and run them"),
    ("/explain", "explain, and change nothing"),
    ("/refactor", "improve code without changing what it does"),
    ("/plan", "make a plan for what follows; every question meanwhile is answered with no"),
    ("/undo", "take the last change back"),
    ("/redo", "make it again"),
    ("/model", "tell the model, or go on with another one"),
    ("/cost", "what the last prompt and the session took"),
    ("/new", "begin a new session"),
    ("/help", "this list"),
    ("/quit", "leave"),
];

/// What `/plan` says to the model.
const PLAN: &str = "Make a plan with update_plan for the following, and change nothing yet:";

/// The most files a prompt names; more is not written by hand.
const MAX_FILES: usize = 64;

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Nothing,
    Prompt {
        text: String,
        files: Vec<String>,
    },
    /// A prompt during whose turn every question is answered with no.
    Plan {
        text: String,
        files: Vec<String>,
    },
    Undo,
    Redo,
    New,
    Model(Option<String>),
    Cost,
    Help,
    Leave,
    Unknown(String),
}

/// Reads a line.
pub(super) fn read(text: &str) -> Line {
    let text = text.trim();
    if text.is_empty() {
        return Line::Nothing;
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    match word {
        "/undo" => Line::Undo,
        "/redo" => Line::Redo,
        "/new" => Line::New,
        "/model" => Line::Model((!rest.is_empty()).then(|| rest.to_owned())),
        "/cost" => Line::Cost,
        "/help" | "/?" => Line::Help,
        "/quit" | "/exit" | "/q" => Line::Leave,
        "/plan" => Line::Plan { text: format!("{PLAN} {rest}"), files: files(rest) },
        "/fix" | "/test" | "/explain" | "/refactor" => prompt(text),
        // A path begins with a slash as well.
        word if word.starts_with('/') && !word[1..].contains('/') => Line::Unknown(word.to_owned()),
        _ => prompt(text),
    }
}

fn prompt(text: &str) -> Line {
    Line::Prompt { text: text.to_owned(), files: files(text) }
}

/// The files that a text names.
fn files(text: &str) -> Vec<String> {
    let named = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    let named = named.map(|path| path.trim_end_matches([',', '.', ';', ':', '?', '!', ')']));
    let mut files: Vec<String> = Vec::new();
    for path in named.filter(|path| !path.is_empty()).take(MAX_FILES) {
        if !files.iter().any(|known| known == path) {
            files.push(path.to_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, files: &[&str]) -> Line {
        Line::Prompt { text: text.to_owned(), files: files.iter().map(|file| (*file).to_owned()).collect() }
    }

    #[test]
    fn commands_are_told_from_prompts() {
        assert_eq!(read("  "), Line::Nothing);
        assert_eq!(read("/undo"), Line::Undo);
        assert_eq!(read("/model ollama:qwen3"), Line::Model(Some("ollama:qwen3".to_owned())));
        assert_eq!(read("/model"), Line::Model(None));
        assert_eq!(read("/fix the test"), asked("/fix the test", &[]));
        assert_eq!(read("/usr/bin/env is a path"), asked("/usr/bin/env is a path", &[]));
        assert_eq!(read("/udno"), Line::Unknown("/udno".to_owned()));
        assert_eq!(read("why?"), asked("why?", &[]));
        let plan = Line::Plan { text: format!("{PLAN} tidy @a.rs"), files: vec!["a.rs".to_owned()] };
        assert_eq!(read("/plan  tidy @a.rs"), plan);
    }

    #[test]
    fn files_are_named_with_an_at_sign() {
        assert_eq!(
            read("compare @src/a.rs with @src/b.rs, and @src/a.rs."),
            asked("compare @src/a.rs with @src/b.rs, and @src/a.rs.", &["src/a.rs", "src/b.rs"])
        );
        assert_eq!(read("me@example.org @"), asked("me@example.org @", &[]));
    }

    #[test]
    fn every_listed_command_is_known() {
        for (name, _) in COMMANDS {
            assert!(!matches!(read(name), Line::Unknown(_)), "{name}");
        }
    }
}
