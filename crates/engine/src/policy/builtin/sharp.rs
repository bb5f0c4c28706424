//! Words that no wildcard may swallow.
//!
//! Some options make a harmless program run others, write files or work elsewhere. A rule like `git diff *` does not
//! mean them: it must name them word for word to allow them.

use super::super::shell::{Word, program_name};

/// Options of a program that reach beyond it. A long one also stands for its abbreviations.
const SHARP: &[(&str, &[&str])] = &[
    ("awk", &["-i", "-f", "-l", "--include", "--load"]),
    ("cargo", &["--config", "--manifest-path", "--target-dir", "-C", "-Z"]),
    ("curl", &["-K", "--config", "-o", "-O", "--output", "--remote-name", "-T", "--upload-file"]),
    ("docker", &["-v", "--volume", "--mount", "--privileged", "--pid", "--cap-add", "--device"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    (
        "git",
        &[
            "-C",
            "-c",
            "-O",
            "--config",
            "--config-env",
            "--exec",
            "--exec-path",
            "--ext-diff",
            "--extcmd",
            "--git-dir",
            "--namespace",
            "--no-index",
            "--open-files-in-pager",
            "--output",
            "--receive-pack",
            "--template",
            "--textconv",
            "--upload-pack",
            "--work-tree",
            "ext::",
        ],
    ),
    ("go", &["-C", "-exec", "-toolexec", "-overlay", "-modfile", "-o"]),
    ("make", &["-C", "-f", "-I", "--directory", "--eval", "--file", "--makefile", "--include-dir", "SHELL="]),
    ("npm", &["-C", "--prefix", "--script-shell", "--node-options", "--userconfig", "--globalconfig"]),
    ("pnpm", &["-C", "--dir", "--prefix", "--script-shell"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-o", "-S", "-F"]),
    ("sed", &["-i", "--in-place"]),
    ("sort", &["-o", "--output", "--compress-program"]),
    ("ssh", &["-o", "-F", "-S", "-I", "-E"]),
    (
        "tar",
        &[
            "-C",
            "-F",
            "-I",
            "-P",
            "--absolute-names",
            "--checkpoint-action",
            "--directory",
            "--info-script",
            "--new-volume-script",
            "--to-command",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    ("tree", &["-o"]),
    (
        "wget",
        &[
            "-e",
            "-i",
            "-O",
            "-P",
            "--execute",
            "--output-document",
            "--directory-prefix",
            "--use-askpass",
            "--config",
        ],
    ),
    ("yarn", &["--cwd", "--script-shell", "--use-yarnrc"]),
];

/// How short an abbreviation of a long option may be: `--o` could be anything.
const SHORTEST_ABBREVIATION: usize = 4;

/// For each word, whether only a plain word of a pattern may match it.
pub(crate) fn sharp_words(words: &[Word]) -> Vec<bool> {
    let options = program_name(words)
        .and_then(|name| SHARP.iter().find(|(known, _)| *known == name))
        .map_or(&[][..], |(_, options)| *options);
    words
        .iter()
        .enumerate()
        .map(|(at, word)| at > 0 && options.iter().any(|option| is(option, &word.text)))
        .collect()
}

fn is(option: &str, text: &str) -> bool {
    if !option.starts_with("--") {
        // A letter's value may be attached, and so may the rest of `SHELL=` and `ext::`.
        return text.starts_with(option);
    }
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    name == option || name.len() >= SHORTEST_ABBREVIATION && option.starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_reach_beyond_a_program_are_sharp() {
        let sharp = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(Word::known).collect();
            sharp_words(&words).contains(&true)
        };
        for line in [
            "git -c x=y status",
            "git diff --output=x",
            "git diff --outp x",
            "rg --pre=sh x",
            "/usr/bin/git -C / log",
            "sort -ox a",
            "cargo --config x build",
            "git clone ext::sh",
            "make SHELL=/x",
            "tar --checkpoint-action=exec=sh",
        ] {
            assert!(sharp(line), "{line}");
        }
        for line in ["git status -s", "git diff --stat", "cargo test --all", "ls -C", "rg pre"] {
            assert!(!sharp(line), "{line}");
        }
    }
}
