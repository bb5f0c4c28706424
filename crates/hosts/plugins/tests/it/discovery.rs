//! Finding plugins, and what they are listed as. Nothing is started for any of it.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

use loggia_domain::GuestError;
use loggia_plugins::{Listing, PluginSettings, PluginState, Plugins, Scope, read_variables, usual_places};

use crate::support::{Home, lines, manifest};

/// Each listed plugin in one line.
fn seen(host: &Plugins) -> Vec<String> {
    let line = |one: Listing| {
        let kind = one.kind.map_or("-", |kind| kind.name());
        let state = match one.state {
            PluginState::Broken(problem) => format!("broken: {problem}"),
            state => format!("{state:?}").to_lowercase(),
        };
        format!("{} {kind} {} {state}", one.name, one.scope.name())
    };
    host.list().into_iter().map(line).collect()
}

#[test]
fn plugins_are_listed_by_name_with_what_is_wrong_with_them() {
    let mut home = Home::new();
    home.add("provider", "beta", &[]);
    home.add_raw(Scope::Global, "zed", &manifest("agent", "alpha", &[]));
    home.add_raw(Scope::Global, "broken", "name: x\n");
    std::fs::create_dir(home.of("empty")).unwrap();
    std::fs::write(home.of("a-file"), "").unwrap();
    home.enabled.push("betta".to_owned());
    let host = home.host();
    assert_eq!(host.enabled_in_vain().collect::<Vec<_>>(), ["betta"]);
    let listed = seen(&host);
    let place = home.place(Scope::Global);
    let file = |name: &str| place.join(name).join("plugin.yaml").display().to_string();
    assert_eq!(
        listed,
        [
            "alpha agent global disabled".to_owned(),
            "beta provider global enabled".to_owned(),
            format!("broken - global broken: `{}`: `version` is required", file("broken")),
            format!(
                "empty - global broken: cannot read `{}`: No such file or directory (os error 2)",
                file("empty")
            ),
        ]
    );
}

#[test]
fn places_that_are_not_there_have_no_plugins() {
    let home = Home::new();
    assert!(home.host().list().is_empty());
}

#[test]
fn fifty_plugins_are_listed_and_none_is_started() {
    let mut home = Home::new();
    for number in 0..50 {
        home.add("provider", &format!("p{number:02}"), &[]);
    }
    let host = home.host();
    assert_eq!(host.list().len(), 50);
    assert_eq!(host.enabled().count(), 50);
    assert_eq!(host.providers().len(), 1, "they all call themselves jira; the first counts");
    for number in 0..50 {
        assert!(lines(&home.of(&format!("p{number:02}")).join("starts.log")).is_empty());
    }
}

#[test]
fn a_workspaces_plugin_replaces_one_of_the_users() {
    let mut home = Home::new();
    home.add("provider", "same", &[]);
    home.add_raw(Scope::Project, "other-directory", &manifest("agent", "same", &[]));
    assert_eq!(seen(&home.host()), ["same agent project enabled"]);
}

#[test]
fn a_workspace_that_is_not_trusted_replaces_nothing_and_runs_nothing() {
    let mut home = Home::new();
    home.add("provider", "same", &[]);
    home.add_raw(Scope::Project, "same", &manifest("agent", "same", &[]));
    home.enabled.push("theirs".to_owned());
    home.add_raw(Scope::Project, "theirs", &manifest("agent", "theirs", &[]));
    home.trusted.store(false, SeqCst);
    let host = home.host();
    assert_eq!(
        seen(&host),
        ["same provider global enabled", "same agent project untrusted", "theirs agent project untrusted"]
    );
    assert!(host.agents().is_empty(), "nobody hears of them");
    let barred: Vec<String> = host.barred_agents().into_iter().map(|agent| agent.name).collect();
    assert_eq!(barred, ["openai", "openai"], "agents are told by their own names");
    let why = host.barred_agents().remove(1).why;
    assert!(why.contains("not trusted") && why.contains("`loggia trust`"), "{why}");
    assert_eq!(host.get("same").unwrap().scope(), Scope::Global);
}

#[test]
fn places_that_tasks_come_from_and_that_may_not_run_are_told_with_what_lets_them() {
    let mut home = Home::new();
    home.add("provider", "on", &[]);
    home.add_raw(Scope::Global, "off", &manifest("provider", "off", &[]));
    home.add_raw(Scope::Project, "theirs", &manifest("provider", "theirs", &[]));
    home.trusted.store(false, SeqCst);
    let barred = home.host().barred_providers();
    let seen: Vec<_> = barred.iter().map(|one| (one.plugin.as_str(), one.schemes.join(" "))).collect();
    assert_eq!(seen, [("off", "jira".to_owned()), ("theirs", "jira".to_owned())]);
    assert!(barred[0].why.contains("`loggia plugin enable off`"), "{}", barred[0].why);
    assert!(barred[1].why.contains("`loggia trust`"), "{}", barred[1].why);
}

#[tokio::test]
async fn trust_is_asked_before_every_call() {
    let mut home = Home::new();
    home.enabled.push("theirs".to_owned());
    let directory = home.add_raw(Scope::Project, "theirs", &manifest("provider", "theirs", &[]));
    let host = home.host();
    let provider = host.providers().remove(0);
    home.trusted.store(false, SeqCst);
    let error = provider.resolve("jira:PROJ-1".to_owned()).await.unwrap_err();
    assert!(matches!(&error, GuestError::Untrusted(words) if words.contains("loggia trust")), "{error}");
    assert!(lines(&directory.join("starts.log")).is_empty());
    home.trusted.store(true, SeqCst);
    assert_eq!(provider.resolve("jira:PROJ-1".to_owned()).await.unwrap(), "PROJ-1");
    home.trusted.store(false, SeqCst);
    provider.resolve("jira:PROJ-1".to_owned()).await.unwrap_err();
    assert!(matches!(host.list()[0].state, PluginState::Untrusted));
    assert_eq!(
        host.get("theirs").unwrap().sketch().pid,
        None,
        "what is not trusted any more does not run on"
    );
}

#[test]
fn a_plugin_behind_a_link_is_listed_and_not_used() {
    let home = Home::new();
    let elsewhere = home.add_raw(Scope::Project, "real", &manifest("agent", "real", &[]));
    std::fs::create_dir_all(home.place(Scope::Global)).unwrap();
    symlink(&elsewhere, home.of("linked")).unwrap();
    let listed = seen(&home.host());
    assert!(
        listed[0].starts_with("linked - global broken: ") && listed[0].contains("is a symbolic link"),
        "{listed:?}"
    );
}

#[test]
fn a_manifest_elsewhere_or_no_file_at_all_is_refused() {
    let home = Home::new();
    let elsewhere = home.add_raw(Scope::Project, "real", &manifest("agent", "real", &[]));
    for name in ["linked", "directory", "large"] {
        std::fs::create_dir_all(home.of(name)).unwrap();
    }
    symlink(elsewhere.join("plugin.yaml"), home.of("linked").join("plugin.yaml")).unwrap();
    std::fs::create_dir(home.of("directory").join("plugin.yaml")).unwrap();
    let large = format!("{}# {}", manifest("agent", "large", &[]), "x".repeat(300_000));
    std::fs::write(home.of("large").join("plugin.yaml"), large).unwrap();
    let listed = seen(&home.host()).join("\n");
    for problem in ["leads out of the plugin's directory", "is not a file", "is too large for a manifest"] {
        assert!(listed.contains(problem), "{problem} in {listed}");
    }
}

#[test]
fn mehrhofs_places_and_our_own_are_looked_in() {
    let places = usual_places(Path::new("/h"), Path::new("/d"), Some(Path::new("/w")));
    let seen: Vec<String> =
        places.iter().map(|place| format!("{} {}", place.scope.name(), place.directory.display())).collect();
    assert_eq!(
        seen,
        [
            "global /h/.mehrhof/plugins",
            "global /h/.valksor/mehrhof/plugins",
            "global /d/plugins",
            "project /w/.mehrhof/plugins",
            "project /w/.loggia/plugins",
        ]
    );
}

#[test]
fn a_place_with_too_much_in_it_says_so() {
    let mut home = Home::new();
    home.add("provider", "one", &[]);
    for number in 0..1_000 {
        std::fs::write(home.place(Scope::Global).join(format!("file-{number}")), "").unwrap();
    }
    let listed = seen(&home.host());
    let place = home.place(Scope::Global).display().to_string();
    let expected = format!(
        "global - global broken: `{place}` has more than 1000 entries, and not all of them were looked at"
    );
    assert!(listed.contains(&expected), "{listed:?}");
}

#[test]
fn mehrhofs_configuration_says_what_is_enabled_and_what_plugins_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config.yaml");
    assert_eq!(PluginSettings::read(&file).unwrap(), PluginSettings::default());
    let text = "git: {auto_commit: true}\nplugins:\n  enabled: [b, a]\n  config:\n    a: {url: x, deep: {n: [1, yes]}}\n    \
                gone: {}\n    empty:\n";
    std::fs::write(&file, text).unwrap();
    let settings = PluginSettings::read(&file).unwrap();
    assert_eq!(settings.enabled, ["b", "a"]);
    assert_eq!(settings.config["a"].0["deep"]["n"][0], 1);
    assert_eq!(settings.agent_timeout, None);
    for (text, expected) in [("timeout: 90", Some(90)), ("timeout: 0", None), ("timeout: soon", None)] {
        std::fs::write(&file, format!("agent:\n  {text}\n")).unwrap();
        let timeout = PluginSettings::read(&file).unwrap().agent_timeout;
        assert_eq!(timeout.map(|timeout| timeout.as_secs()), expected, "{text}");
    }
    let text = "agent:\n  default: claude\n  steps:\n    planning: {name: thinker}\n    reviewing: critic\n    odd: [1]\n";
    std::fs::write(&file, text).unwrap();
    let agents = PluginSettings::read(&file).unwrap().agents;
    let named = [agents.any, agents.planning, agents.implementing, agents.reviewing];
    let named = named.map(|name| name.unwrap_or_else(|| "-".to_owned()));
    assert_eq!(named, ["claude", "thinker", "-", "critic"]);
    let text = "git: {branch_pattern: 'x/{key}', commit_prefix: ''}\nproviders: {default: jira}\n";
    std::fs::write(&file, text).unwrap();
    let names = PluginSettings::read(&file).unwrap().names;
    let named = [names.scheme, names.branch, names.commit_prefix];
    assert_eq!(named, ["jira", "x/{key}", ""].map(|name| Some(name.to_owned())));
    let odd = "git: {branch_pattern: '', commit_prefix: 7}\nproviders: [1]\nagents: [1]\nenv: x\n";
    for empty in ["", "plugins:\n", "git: {}\n", "agent: {default: 7, steps: [1]}\n", odd] {
        std::fs::write(&file, empty).unwrap();
        assert_eq!(PluginSettings::read(&file).unwrap(), PluginSettings::default(), "{empty:?}");
    }
    std::fs::write(&file, "plugins:\n  enabled: {a: 1}\n").unwrap();
    let words = PluginSettings::read(&file).unwrap_err().to_string();
    assert!(words.contains("config.yaml") && words.contains('2'), "{words}");
}

#[test]
fn variables_are_read_from_their_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(".env");
    assert!(read_variables(&file).unwrap().is_empty());
    std::fs::write(&file, "# keys\nTOKEN=abc\n\nURL=\"https://x\"\nnonsense\n").unwrap();
    let read = read_variables(&file).unwrap();
    assert_eq!(read, [("TOKEN".to_owned(), "abc".to_owned()), ("URL".to_owned(), "https://x".to_owned())]);
}
