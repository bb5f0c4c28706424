//! How much a client wants to be asked, by its command line.
//!
//! Pure. What cannot be read is taken for less than was asked for, never for more.

use std::time::Duration;

use loggia_protocol_autohand::PermissionMode;

use super::{Arguments, LaunchError, Remark};
use crate::approvals::{Approvals, Yolo};

/// How long a standing yes lasts; nothing if it lasts for good. One whose time is none ends at once: rather too little than
/// too much.
fn lasts(arguments: &Arguments) -> Option<Duration> {
    let text = yolo_time(arguments)?;
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    Some(
        seconds
            .map_or(Duration::ZERO, |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
    )
}

fn yolo_time(arguments: &Arguments) -> Option<&str> {
    ["timeout", "yolo-timeout"].iter().find_map(|name| arguments.value(name))
}

/// A limit of a standing yes that cannot be read.
pub(super) fn no_time(arguments: &Arguments) -> Option<Remark> {
    if !arguments.has("yolo") {
        return None;
    }
    let text = yolo_time(arguments).filter(|text| !text.parse().is_ok_and(|seconds: f64| seconds >= 0.0))?;
    Some(Remark {
        message: format!(
            "`{}` is no time, so everything is asked that the policy wants asked",
            text.chars().take(64).collect::<String>()
        ),
        hint: "give `--timeout` in seconds",
    })
}

/// The mode, by the precedence of existing agents: dry run, restricted, unrestricted, yes.
pub(super) fn approvals(arguments: &Arguments, yes: bool) -> Result<Approvals, LaunchError> {
    // As in `yoloSet`, an empty pattern is no yes at all; only the flag alone is one to everything.
    let yolo = match arguments.value("yolo").map(str::trim) {
        Some(pattern) if !pattern.is_empty() => Some(Yolo::parse(Some(pattern))?),
        None if arguments.stands_alone("yolo") => Some(Yolo::parse(None)?),
        _ => None,
    };
    let yolo = yolo.or_else(|| {
        // An entry for certain commands or paths only is no yes to the whole tool: it is asked.
        let tools = list(arguments.value("permission-allow-list")).filter(|entry| !entry.contains(':'));
        let tools: Vec<String> = tools.map(str::to_owned).collect();
        (!tools.is_empty()).then_some(Yolo::Only(tools))
    });
    // A tool that is refused for certain commands or paths is refused: rather too much than too little.
    let tool = |entry: &str| entry.split(':').next().unwrap_or(entry).to_owned();
    let mut denied: Vec<String> = list(arguments.value("permission-deny-list")).map(tool).collect();
    let context = arguments.value("client-context");
    if context == Some("api") {
        denied.extend(["run_command", "delete_path"].map(str::to_owned));
    }
    let asked = Approvals::default().with_yolo(yolo, lasts(arguments)).denying(denied);
    let read_only = matches!(context, Some("slack" | "restricted" | "blueprint"));
    if arguments.has("dry-run") || read_only {
        return Ok(asked.reading_only());
    }
    let named = arguments.value("permission-mode").and_then(mode);
    let mode = match named {
        _ if arguments.has("restricted") => PermissionMode::Restricted,
        _ if arguments.has("unrestricted") || arguments.has("yes") || yes => PermissionMode::Unrestricted,
        Some(mode) => mode,
        None => PermissionMode::Interactive,
    };
    Ok(asked.clone().with_mode(mode).unwrap_or(asked))
}

/// The entries of a list with commas.
fn list(value: Option<&str>) -> impl Iterator<Item = &str> {
    value.unwrap_or_default().split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

fn mode(word: &str) -> Option<PermissionMode> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::{launch, try_launch};

    #[test]
    fn approvals_follow_the_precedence_of_existing_agents() {
        let mode = |line: &str| launch(line).approvals.mode();
        assert_eq!(mode("--rpc"), PermissionMode::Interactive);
        for line in ["-y", "--yes", "--y", "--unrestricted", "--permission-mode bypassPermissions"] {
            assert_eq!(mode(line), PermissionMode::Unrestricted, "{line}");
        }
        assert_eq!(mode("--yes --restricted"), PermissionMode::Restricted);
        let held = |line: &str| launch(line).approvals.restraint();
        for line in
            ["--restricted", "--dry-run --yes", "--client-context restricted", "--permission-mode plan"]
        {
            assert!(held(line).reading_only, "{line}");
        }
        assert!(held("--client-context vscode --yes").is_none());
        assert_eq!(held("--client-context api").without, ["run_command", "delete_file"]);
        assert_eq!(mode("--permission-mode plan"), PermissionMode::Plan);
        let by_environment = try_launch("--rpc", &[("AUTOHAND_YES", "1")]).unwrap();
        assert_eq!(by_environment.approvals.mode(), PermissionMode::Unrestricted);
        assert_eq!(try_launch("--rpc", &[("AUTOHAND_YES", "0")]).unwrap(), launch("--rpc"));
    }

    #[test]
    fn lists_of_tools_are_allowed_and_refused() {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let denying = launch("--yes --permission-deny-list run_command,write_file:/etc/*");
        let denied = named(&["run_command", "write_file"]);
        let expected = Approvals::default().denying(denied).with_mode(PermissionMode::Unrestricted);
        assert_eq!(Some(denying.approvals), expected);
        let allowing = launch("--permission-allow-list run_command:ls,delete_path");
        let only = Yolo::Only(named(&["delete_path"]));
        assert_eq!(allowing.approvals, Approvals::default().with_yolo(Some(only), None));
        assert_eq!(launch("--permission-allow-list run_command:ls"), launch("--rpc"));
    }

    #[test]
    fn a_yolo_pattern_that_says_nothing_is_refused() {
        assert!(launch("--yolo --model m").approvals != Approvals::default());
        assert!(launch("--yolo allow:read_file --timeout 60").approvals != Approvals::default());
        // An empty pattern is no yes, here as in a call.
        assert_eq!(launch("--yolo=").approvals, Approvals::default());
        let error = try_launch("--yolo whatever", &[]).unwrap_err().to_string();
        assert!(error.contains("`whatever`"), "{error}");
    }

    /// A limit that cannot be read is never taken for none.
    #[test]
    fn a_yes_for_a_time_that_is_none_is_no_yes() {
        let question = loggia_domain::Question::Command {
            command: "ls".to_owned(),
            directory: String::new(),
            environment: Vec::new(),
            reason: None,
        };
        let is_asked = |line: &str| {
            let approvals = launch(line).approvals;
            approvals.verdict("x", &question, tokio::time::Instant::now()) == crate::approvals::Verdict::Ask
        };
        for (line, asked) in [
            ("--yolo", false),
            ("--yolo --timeout 60", false),
            ("--yolo --yolo-timeout 1.5e3", false),
            ("--yolo --timeout 99999999999999999999", false),
            ("--yolo --timeout 0", true),
            ("--yolo --timeout soon", true),
            ("--yolo --timeout -5", true),
        ] {
            assert_eq!(is_asked(line), asked, "{line}");
        }
        assert_eq!(launch("--yolo --timeout soon").remarks.len(), 1);
        assert!(launch("--yolo --timeout 2.5").remarks.is_empty());
        assert!(launch("--timeout soon").remarks.is_empty());
    }
}
