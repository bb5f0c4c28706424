//! What `git` runs besides itself, and its words without the options that stand before the subcommand.
//!
//! Knows the options of `git` itself and the subcommands that start programs.

use super::carry::Inside;
use super::word::Word;

/// Options of `git` itself that take the next word as their value.
const VALUED: &[&str] =
    &["-C", "-c", "--config-env", "--exec-path", "--git-dir", "--namespace", "--super-prefix", "--work-tree"];

/// The index of the subcommand, if there is one.
pub(crate) fn subcommand(words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            // Without a value attached, this one only prints.
            "--exec-path" => at += 1,
            option if VALUED.contains(&option) => at += 2,
            option if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// What these words of `git` run besides `git`.
pub(super) fn insides(words: &[Word]) -> Vec<Inside> {
    let mut insides = Vec::new();
    let end = subcommand(words).unwrap_or(words.len());
    for pair in words[..end].windows(2) {
        if pair[0].text == "-c" {
            insides.extend(setting(&pair[1].text));
        }
    }
    let Some((subcommand, rest)) = words[end..].split_first() else { return insides };
    match subcommand.text.as_str() {
        "bisect" if rest.first().is_some_and(|word| word.text == "run") => {
            insides.push(Inside::Command { assignments: Vec::new(), words: rest[1..].to_vec() });
        }
        "submodule" if rest.iter().any(|word| word.text == "foreach") => {
            let script = rest.iter().skip_while(|word| word.text != "foreach").skip(1);
            let script: Vec<Word> = script.skip_while(|word| word.text.starts_with('-')).cloned().collect();
            insides.extend(Inside::joined(&script));
        }
        "rebase" => insides.extend(option_values(rest, &["-x", "--exec"]).flat_map(script_of)),
        "difftool" => insides.extend(option_values(rest, &["-x", "--extcmd"]).flat_map(script_of)),
        "filter-branch" => insides.push(Inside::Unknown("`git filter-branch` runs scripts")),
        "config" => insides
            .extend(rest.windows(2).flat_map(|pair| setting(&format!("{}={}", pair[0].text, pair[1].text)))),
        _ => {}
    }
    insides
}

/// The script in a setting: `alias.x=!script` makes `git x` a shell, and some settings name programs.
fn setting(setting: &str) -> Option<Inside> {
    const PROGRAMS: &[&str] = &[
        "clean",
        "cmd",
        "editor",
        "external",
        "fsmonitor",
        "helper",
        "pager",
        "process",
        "program",
        "smudge",
        "sshcommand",
        "textconv",
    ];
    let (key, value) = setting.split_once('=')?;
    let key = key.to_ascii_lowercase();
    let script = value.trim_start().strip_prefix('!');
    if key.starts_with("alias.") {
        return script.map(|script| Inside::Script(script.to_owned()));
    }
    let names_program = PROGRAMS.contains(&key.rsplit('.').next().unwrap_or(&key));
    names_program.then(|| Inside::Script(script.unwrap_or(value).to_owned()))
}

fn script_of(word: Word) -> Vec<Inside> {
    Inside::joined(&[word])
}

/// The values of options, attached by `=` or in the next word.
fn option_values<'a>(words: &'a [Word], options: &'a [&str]) -> impl Iterator<Item = Word> + 'a {
    words.iter().enumerate().filter_map(move |(at, word)| {
        if options.contains(&word.text.as_str()) {
            return words.get(at + 1).cloned();
        }
        let (option, value) = word.text.split_once('=')?;
        options.contains(&option).then(|| Word { text: value.to_owned(), certainty: word.certainty })
    })
}
