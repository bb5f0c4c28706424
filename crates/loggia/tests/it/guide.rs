//! Pages whose commands are run: `$` begins a command, the lines below it are what it prints, and `…` stands for anything;
//! alone on a line, for any lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::stage::Stage;

/// The blocks of one language, in order.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let ends = |text: &str| text.split("\n```").next().unwrap_or_default().to_owned();
    page.split(&fence).skip(1).map(ends).collect()
}

/// The commands of a block, each with the lines below it.
pub(crate) fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command, Vec::new())),
            None => commands.last_mut().unwrap_or_else(|| panic!("nobody prints {line}")).1.push(line),
        }
    }
    commands
}

/// Whether a line is what a pattern says.
pub(crate) fn fits(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether lines are what a page says.
fn all_fit(lines: &[String], told: &[&str]) -> bool {
    match (told, lines) {
        ([], lines) => lines.is_empty(),
        (["…", told @ ..], lines) => (0..=lines.len()).any(|skipped| all_fit(&lines[skipped..], told)),
        ([told, rest @ ..], [line, lines @ ..]) => fits(line, told) && all_fit(lines, rest),
        (_, []) => false,
    }
}

/// A shell that stays.
pub(crate) struct Shell {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    /// In the stage's project, with a path on which the binary is.
    pub(crate) fn start(stage: &Stage, variables: &[(&str, &str)]) -> Self {
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_loggia")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut process = stage
            .program("bash")
            .args(["--noprofile", "--norc"])
            .env("PATH", format!("{}:{path}", binary.display()))
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Nobody is at a keyboard, wherever the tests run.
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output }
    }

    /// Runs a command; what it printed, line by line.
    pub(crate) fn run(&mut self, command: &str) -> Vec<String> {
        const END: &str = "the command has ended with";
        // The commands themselves come on the shell's input. Where the output does not end with a line break, the end is
        // on its last line.
        writeln!(self.input, "{{ {command}\n}} < /dev/null\necho \"{END} $?\"").unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the shell has ended in `{command}`");
            if let Some((before, code)) = line.split_once(END) {
                assert_eq!(code.trim(), "0", "`{command}` failed after {lines:#?}");
                lines.extend((!before.is_empty()).then(|| before.to_owned()));
                return lines;
            }
            lines.push(line.trim_end().to_owned());
        }
    }

    /// Runs a command and compares what it prints.
    pub(crate) fn check(&mut self, command: &str, told: &[&str]) {
        let printed = self.run(command);
        let (shown, expected) = (printed.join("\n"), told.join("\n"));
        assert!(all_fit(&printed, told), "`{command}` prints\n{shown}\nand the guide says\n{expected}");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_pattern_says_what_a_line_is() {
    for (line, pattern, expected) in [
        ("abc", "abc", true),
        ("abc", "ab", false),
        ("abc", "a…", true),
        ("abc", "…c", true),
        ("abc", "a…c", true),
        ("abcbc", "a…b…c", true),
        ("abc", "a…x…c", false),
        ("xabc", "a…", false),
        ("", "…", true),
    ] {
        assert_eq!(fits(line, pattern), expected, "{line} {pattern}");
    }
    let lines = ["a", "b", "c"].map(str::to_owned);
    assert!(
        all_fit(&lines, &["a", "…"])
            && all_fit(&lines, &["…", "c"])
            && all_fit(&lines, &["a", "…", "b", "c"])
    );
    assert!(
        !all_fit(&lines, &["a", "b"]) && !all_fit(&lines, &["…", "b"]) && !all_fit(&lines[..1], &["a", "b"])
    );
}
