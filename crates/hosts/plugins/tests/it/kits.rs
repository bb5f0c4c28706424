//! What authors start from: the kits' own tests, and starters in both languages, checked and hosted as they are.

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use loggia_domain::{AgentPart, AgentRequest, JsonText, ToolSpec, Verdict, WorkQuery};
use loggia_plugins::{Language, Outcome, PluginKind, Plugins, Scope, Starter, StarterError, check};
use loggia_wire::child::{ChildSpec, spawn};

use crate::support::{Home, keeper, options};
use crate::workflows::moment;

const KINDS: [PluginKind; 3] = [PluginKind::Provider, PluginKind::Agent, PluginKind::Workflow];

fn kit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../sdk")
}

/// Writes a starter into the home. The program of a Rust one was built with these tests.
fn add(home: &mut Home, kind: PluginKind, language: Language) -> PathBuf {
    let name = match language {
        Language::Python => format!("my-{}", kind.name()),
        // The name that its program was built with.
        Language::Rust => "starter-name".to_owned(),
    };
    let directory = home.place(Scope::Global).join(&name);
    Starter::new(&name, kind, language, None).unwrap().write(&directory).unwrap();
    if language == Language::Rust {
        let tests = std::env::current_exe().unwrap();
        let examples = tests.parent().unwrap().parent().unwrap().join("examples");
        let release = directory.join("target/release");
        std::fs::create_dir_all(&release).unwrap();
        std::fs::copy(examples.join(format!("kit-{}", kind.name())), release.join(&name)).unwrap();
    }
    home.enabled.push(name);
    directory
}

#[tokio::test]
async fn the_python_kit_passes_its_own_tests() {
    let path = std::env::var_os("PATH").unwrap();
    let python = std::env::split_paths(&path).map(|place| place.join("python3")).find(|file| file.is_file());
    let spec = ChildSpec::new("python", python.unwrap())
        .args(["-B", "-m", "unittest", "discover", "-s", "python/tests"])
        .cwd(kit());
    let mut child = spawn(&keeper(), spec).await.unwrap();
    child.close_input();
    let ended = child.ended().await;
    assert!(ended.exit.success(), "{}", ended.stderr.join("\n"));
    assert!(ended.stderr.iter().any(|line| line == "OK"), "{}", ended.stderr.join("\n"));
}

#[tokio::test]
async fn starters_pass_the_check_as_they_are() {
    for (language, kind) in
        [Language::Python, Language::Rust].into_iter().flat_map(|of| KINDS.map(|kind| (of, kind)))
    {
        let mut home = Home::new();
        let directory = add(&mut home, kind, language);
        let mut options = options(&home);
        (options.effects, options.malformed) = (true, true);
        let report = check(&directory, &options).await;
        let spotless = report.cases.iter().all(|case| {
            matches!(case.outcome, Outcome::Passed)
                // A provider is not asked for what it does not declare.
                || matches!(&case.outcome, Outcome::Skipped { reason } if reason == "it is not declared")
        });
        assert!(spotless, "{language:?}\n{}", report.render());
    }
}

#[tokio::test]
async fn starters_work_in_the_host() {
    for language in [Language::Python, Language::Rust] {
        for kind in KINDS {
            let mut home = Home::new();
            add(&mut home, kind, language);
            let host = home.host();
            match kind {
                PluginKind::Provider => provider(&host).await,
                PluginKind::Agent => agent(&host).await,
                PluginKind::Workflow => workflow(&host).await,
            }
            host.stop().await;
        }
    }
}

async fn provider(host: &Plugins) {
    let provider = host.providers().remove(0);
    let query = WorkQuery { status: None, tags: Vec::new(), limit: 10, cursor: None };
    let page = provider.list(query).await.unwrap();
    assert_eq!(page.items.len(), 1);
    let item = provider.fetch("hello".to_owned()).await.unwrap();
    assert_eq!((item.title.as_str(), item.label.as_deref()), ("Say hello", Some("hello")));
    assert!(provider.snapshot("hello".to_owned()).await.unwrap().starts_with("# Say hello"));
    provider.fetch("../plugin".to_owned()).await.unwrap_err();
}

async fn agent(host: &Plugins) {
    let agent = host.agents().remove(0);
    agent.ready().await.unwrap();
    let tool = ToolSpec {
        name: "list_directory".to_owned(),
        description: "Lists files".to_owned(),
        parameters: JsonText::empty_object(),
    };
    let request =
        AgentRequest { text: "make it so".to_owned(), tools: vec![tool], ..AgentRequest::default() };
    let mut run = agent.run(request).await.unwrap();
    let (mut text, mut files) = (String::new(), Vec::new());
    while let Some(part) = run.parts.next().await {
        match part.unwrap() {
            AgentPart::Text(more) => text.push_str(&more),
            AgentPart::File(path, content) => files.push((path, content)),
            AgentPart::Call(call) => run.results.give(&call.id, "a\nb\nc".to_owned()).unwrap(),
            AgentPart::Usage(usage) => assert_eq!((usage.input, usage.output), (3, 3)),
            _ => {}
        }
    }
    assert_eq!(text, "I looked around: 3 lines of files. make it so ");
    assert_eq!(files, [("PARROT.md".to_owned(), Some("make it so\n".to_owned()))]);
}

async fn workflow(host: &Plugins) {
    let hook = host.workflows().remove(0);
    assert_eq!(hook.parts().await.unwrap().steps[0].name, "approval");
    let verdict = hook.guard("approved".to_owned(), moment()).await.unwrap();
    assert!(matches!(&verdict, Verdict::Stop(reason) if reason.contains("approval")), "{verdict:?}");
    hook.effect("write_down".to_owned(), moment()).await.unwrap();
}

#[test]
fn a_starter_is_never_written_over_something() {
    let home = Home::new();
    let starter = Starter::new("mine", PluginKind::Agent, Language::Python, None).unwrap();
    let directory = home.of("mine");
    let files: Vec<&str> = starter.write(&directory).unwrap().iter().map(|file| file.path).collect();
    assert_eq!(files, ["plugin.yaml", "plugin.py", "loggia_plugin.py"]);
    assert!(matches!(starter.write(&directory), Err(StarterError::Exists { .. })));
    let all: String = starter.files().into_iter().map(|file| file.text).collect();
    assert!(
        !all.contains("starter-name") && !all.contains("starter-executable"),
        "every placeholder is filled"
    );
}

#[test]
fn names_of_starters_are_those_of_directories_schemes_and_packages() {
    for name in ["", "1st", "My", "a b", "../up", "a_b", "ä", &"x".repeat(65)] {
        let made = Starter::new(name, PluginKind::Agent, Language::Rust, None);
        assert!(matches!(made, Err(StarterError::Name { .. })), "{name}");
    }
}

#[test]
fn a_rust_starter_names_the_kit_by_its_path_or_its_version() {
    let cargo = |kit: Option<&Path>| {
        let starter = Starter::new("mine", PluginKind::Workflow, Language::Rust, kit).unwrap();
        starter.files().into_iter().find(|file| file.path == "Cargo.toml").unwrap().text
    };
    assert!(cargo(None).contains(&format!("loggia-plugin-kit = \"{}\"", env!("CARGO_PKG_VERSION"))));
    let place = kit().join("rust/plugin");
    let real = place.canonicalize().unwrap();
    assert!(cargo(Some(&place)).contains(&format!("loggia-plugin-kit = {{ path = '{}' }}", real.display())));
    let elsewhere = Starter::new("mine", PluginKind::Agent, Language::Rust, Some(&kit()));
    assert!(matches!(elsewhere, Err(StarterError::NoKit { .. })));
}
