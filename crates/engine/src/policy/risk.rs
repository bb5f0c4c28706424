//! How much can go wrong with a command, when no rule says.
//!
//! Low: it only looks. High: it reaches the network, destroys, runs code from elsewhere, or cannot be understood.
//! Medium: everything else, builds and tests among it.

use loggia_domain::Risk;

use super::shell::{Command, git_subcommand};

/// Programs that only look.
const LOOKS: &[&str] = &[
    ":",
    "[",
    "basename",
    "cat",
    "cd",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
    "false",
    "fd",
    "fgrep",
    "file",
    "find",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "ls",
    "nl",
    "od",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xxd",
];

/// Programs that reach other machines, destroy, or change what the machine runs.
const DANGERS: &[&str] = &[
    ".",
    "apt",
    "apt-get",
    "at",
    "aws",
    "az",
    "brew",
    "chroot",
    "crontab",
    "curl",
    "dd",
    "dnf",
    "docker",
    "eval",
    "fdisk",
    "ftp",
    "gcloud",
    "gh",
    "helm",
    "kill",
    "killall",
    "kubectl",
    "mount",
    "nc",
    "ncat",
    "netcat",
    "nsenter",
    "pacman",
    "parted",
    "pkill",
    "podman",
    "rsync",
    "scp",
    "sftp",
    "shred",
    "socat",
    "source",
    "ssh",
    "systemctl",
    "systemd-run",
    "telnet",
    "terraform",
    "truncate",
    "umount",
    "unshare",
    "wget",
    "xargs",
    "yum",
];

/// Subcommands of `git` that only look.
const GIT_LOOKS: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "reflog",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "version",
    "whatchanged",
];

/// Subcommands of `git` that reach other machines, lose work or change what git runs.
const GIT_DANGERS: &[&str] = &[
    "clean",
    "clone",
    "config",
    "fetch",
    "filter-branch",
    "filter-repo",
    "gc",
    "prune",
    "pull",
    "push",
    "remote",
    "reset",
    "restore",
    "submodule",
    "update-ref",
    "worktree",
];

/// Subcommands of package managers that bring in or give away code.
const PACKAGE_DANGERS: &[&str] = &[
    "add", "ci", "dlx", "exec", "get", "i", "install", "login", "owner", "publish", "update", "upgrade", "x",
    "yank",
];

const PACKAGE_MANAGERS: &[&str] = &[
    "bun", "bundle", "cargo", "composer", "gem", "go", "npm", "npx", "pip", "pip3", "pipx", "pnpm", "poetry",
    "uv", "yarn",
];

/// How risky a command is.
pub(crate) fn of_command(command: &Command) -> Risk {
    let Some(name) = command.name() else {
        return if command.words.is_empty() { Risk::Medium } else { Risk::High };
    };
    let arguments = command.arguments();
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&word.text.as_str()));
    let risk = match name {
        "git" => of_git(command),
        "rm" | "find" if arguments.iter().any(|word| is_destructive_option(&word.text)) => Risk::High,
        "chmod" | "chown" | "chgrp" if has(&["-R", "--recursive"]) => Risk::High,
        "npx" => Risk::High,
        _ if PACKAGE_MANAGERS.contains(&name) && has(PACKAGE_DANGERS) => Risk::High,
        _ if runs_inline_code(name) && has(&["-c", "-e", "-E", "-p", "--eval", "--print"]) => Risk::High,
        _ if DANGERS.contains(&name) => Risk::High,
        _ if LOOKS.contains(&name) => Risk::Low,
        _ => Risk::Medium,
    };
    command.assignments.iter().map(|word| of_variable(&word.text)).fold(risk, Risk::max)
}

/// Some variables turn any program into another.
fn of_variable(assignment: &str) -> Risk {
    const NAMES: &[&str] = &[
        "BASH_ENV",
        "CDPATH",
        "EDITOR",
        "ENV",
        "IFS",
        "JAVA_TOOL_OPTIONS",
        "NODE_OPTIONS",
        "PAGER",
        "PATH",
        "PERL5LIB",
        "PERL5OPT",
        "PROMPT_COMMAND",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "RUBYLIB",
        "RUBYOPT",
        "SHELL",
        "VISUAL",
    ];
    let name = assignment.split('=').next().unwrap_or_default();
    let is_danger =
        NAMES.contains(&name) || ["LD_", "DYLD_", "GIT_"].iter().any(|start| name.starts_with(start));
    if is_danger { Risk::High } else { Risk::Medium }
}

fn is_destructive_option(text: &str) -> bool {
    matches!(text, "-delete" | "--recursive" | "--force")
        || text.starts_with("-exec")
        || text.starts_with("-ok")
        || text.starts_with('-')
            && !text.starts_with("--")
            && text.len() <= 4
            && text.contains(['r', 'R', 'f'])
            && text[1..].bytes().all(|byte| b"rRfvid".contains(&byte))
}

fn of_git(command: &Command) -> Risk {
    let Some(at) = git_subcommand(&command.words) else { return Risk::Low };
    let has_options_of_its_own = at > 1;
    let arguments = &command.words[at + 1..];
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&word.text.as_str()));
    let risk = match command.words[at].text.as_str() {
        name if GIT_LOOKS.contains(&name) => Risk::Low,
        name if GIT_DANGERS.contains(&name) => Risk::High,
        "branch" | "tag" if has(&["-d", "-D", "--delete", "-f", "--force", "-m", "-M"]) => Risk::High,
        "stash" if has(&["list", "show"]) => Risk::Low,
        "branch" | "tag" if arguments.is_empty() || has(&["--list", "-l"]) => Risk::Low,
        "checkout" | "switch" | "stash" if has(&["-f", "--force", "--", ".", "drop", "clear"]) => Risk::High,
        _ => Risk::Medium,
    };
    if has_options_of_its_own { risk.max(Risk::Medium) } else { risk }
}

fn runs_inline_code(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        base,
        "python" | "perl" | "ruby" | "node" | "deno" | "bun" | "php" | "lua" | "sh" | "bash" | "zsh" | "dash"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Place;
    use crate::policy::paths::Directory;
    use crate::policy::shell;

    #[test]
    fn commands_have_a_default_risk() {
        use Risk::{High, Low, Medium};
        let place = Place { root: "/home/ada/project".into(), home: None };
        for (line, risk) in [
            ("ls -la", Low),
            ("cat README.md", Low),
            ("git status", Low),
            ("git log --oneline", Low),
            ("git branch", Low),
            ("git -C x status", Medium),
            ("git add .", Medium),
            ("git commit -m x", Medium),
            ("git branch -D x", High),
            ("git push --force", High),
            ("git reset --hard", High),
            ("git checkout -- .", High),
            ("cargo test", Medium),
            ("cargo publish", High),
            ("npm install x", High),
            ("npm test", Medium),
            ("make", Medium),
            ("mkdir x", Medium),
            ("rm x", Medium),
            ("rm -rf x", High),
            ("find . -name x", Low),
            ("find . -name x -delete", High),
            ("curl https://example.org", High),
            ("python3 -c 'x'", High),
            ("python3 x.py", Medium),
            ("LD_PRELOAD=x ls", High),
            ("LANG=C ls", Medium),
            ("git stash", Medium),
            ("git stash list", Low),
            ("chmod -R 777 .", High),
            ("sort a", Low),
        ] {
            let reading = shell::read(line, &Directory::Inside(String::new()), &place);
            assert_eq!(of_command(&reading.commands[0]), risk, "{line}");
        }
    }
}
