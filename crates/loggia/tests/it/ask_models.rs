//! Providers as models of the real binary: servers of our own, named by the variables that people set.

use std::path::Path;
use std::process::Command;

use loggia_mock_models::{Answer, Gate, Mock, Nobody, Request, Say, Step, frames, text};
use loggia_models::EndpointKind;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::auto::AutoStage;
use crate::stage::{Stage, Transcript};

/// A key that must be seen nowhere but by its provider.
const KEY: &str = "sk-very-secret-0123456789";

/// What the model is asked to improve.
const BEFORE: &str = "greeting = \"helo\"\n";
const AFTER: &str = "greeting = \"hello\"\n";

/// The arguments of a call that improves it.
const PATCH: &str = r#"{"diff":"--- a/app.toml\n+++ b/app.toml\n@@ -1 +1 @@\n-greeting = \"helo\"\n+greeting = \"hello\"\n"}"#;

/// A server that plays a provider, for tests that are not asynchronous.
pub(crate) struct Provider {
    mock: Mock,
    kind: EndpointKind,
    _runtime: Runtime,
}

impl Provider {
    /// One of this kind with these answers to prompts, in order; the last is given again and again.
    fn new(kind: EndpointKind, answers: Vec<Answer>) -> Self {
        // Two names, one of a model that only makes embeddings.
        let listing = match kind {
            EndpointKind::Ollama => r#"{"models":[{"name":"nomic-embed-text"},{"name":"qwen3-coder:30b"}]}"#,
            _ => r#"{"data":[{"id":"text-embedding-nomic"},{"id":"gpt-5"}]}"#,
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mock = runtime.block_on(Mock::start_listing(Answer::json(200, listing), answers));
        Self { mock, kind, _runtime: runtime }
    }

    /// One that says something, waits at the gate, and says the rest.
    pub(crate) fn held_up(first: &str, gate: &Gate, rest: &str) -> Self {
        let kind = EndpointKind::OpenAi;
        let send = |frame: String| Step::Send(frame.into_bytes());
        let before = frames(kind, &[text(first)]).into_iter().map(send);
        let after = frames(kind, &[text(rest), Say::Done]).into_iter().map(send);
        let steps = before.chain([Step::Wait(gate.clone())]).chain(after).chain([Step::End]);
        Self::new(kind, vec![Answer::stream(steps.collect())])
    }

    /// What it was asked until now, without listings.
    fn prompts(&self) -> Vec<Request> {
        let requests = self.mock.requests().into_iter();
        requests.filter(|request| request.head.starts_with("POST ")).collect()
    }
}

/// A stage on which variables name providers, and nothing else on the machine is found.
pub(crate) struct ProviderStage {
    stage: AutoStage,
    variables: Vec<(String, String)>,
    _nobody: Nobody,
}

impl ProviderStage {
    /// Nothing is configured; servers that may run on this machine are looked for where nobody is.
    fn bare(variables: &[(&str, &str)]) -> Self {
        let nobody = Nobody::new();
        let stage = Stage::new();
        stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
        stage.write("project/app.toml", BEFORE);
        let address = &nobody.address;
        stage.user_file(&format!(
            "[models.lmstudio]\nbase_url = \"{address}\"\n[models.llamacpp]\nbase_url = \"{address}\"\n\
             [sandbox]\nrequired = false\n"
        ));
        let mut variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        if !variables.iter().any(|(name, _)| name == "OLLAMA_HOST") {
            variables.push(("OLLAMA_HOST".to_owned(), address.clone()));
        }
        Self { stage: AutoStage(stage), variables, _nobody: nobody }
    }

    /// The variables of this provider, and the name of one of its models.
    fn of(provider: &Provider) -> Self {
        let address = provider.mock.address.as_str();
        match provider.kind {
            EndpointKind::OpenAi => Self::bare(&[
                ("OPENAI_BASE_URL", &format!("{address}/v1")),
                ("OPENAI_API_KEY", KEY),
                ("LOGGIA_MODEL", "openai:gpt-5"),
            ]),
            EndpointKind::Anthropic => Self::bare(&[
                ("ANTHROPIC_BASE_URL", address),
                ("ANTHROPIC_API_KEY", KEY),
                ("LOGGIA_MODEL", "anthropic:claude-sonnet-4-5"),
            ]),
            EndpointKind::Ollama => {
                Self::bare(&[("OLLAMA_HOST", address), ("LOGGIA_MODEL", "ollama:qwen3-coder:30b")])
            }
            kind => panic!("no variable names the address of {kind:?}"),
        }
    }

    /// The same for whoever knows that it is one that speaks as OpenAI does.
    pub(crate) fn open_ai(provider: &Provider) -> Self {
        Self::of(provider)
    }

    /// A run with its variables, to be completed.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stage.0.command(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run(&self, arguments: &[&str]) -> Transcript {
        self.stage.0.finish(self.command(arguments), b"")
    }

    fn app(&self) -> String {
        self.stage.0.read("project/app.toml")
    }

    /// That the key is in no file that anybody writes, and in nothing that was said.
    fn assert_no_key(&self, said: &[&Transcript]) {
        for transcript in said {
            assert!(!format!("{transcript}").contains(KEY), "{transcript}");
        }
        // Settled on the disk.
        self.run(&["stop"]);
        let mut files = 0;
        each_file(&self.stage.0.path(""), &mut |path| {
            files += 1;
            let bytes = std::fs::read(path).unwrap();
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "the key is in {}", path.display());
        });
        assert!(files > 3, "there is a store, a log and a project");
    }
}

fn each_file(directory: &Path, look: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            each_file(&entry.path(), look);
        } else if kind.is_file() {
            look(&entry.path());
        }
    }
}

/// A whole answer.
fn says(kind: EndpointKind, words: &str) -> Answer {
    Answer::frames(&frames(kind, &[text(words), Say::Done]))
}

fn calls(kind: EndpointKind, id: &'static str, tool: &'static str, arguments: &'static str) -> Answer {
    // In two pieces, as it comes over a network.
    let (first, rest) = arguments.split_at(arguments.len() / 2);
    Answer::frames(&frames(kind, &[Say::Calls(vec![(id, tool, vec![first, rest])]), Say::Done]))
}

/// Reads the file, proposes a patch, and says that it is done.
fn improves(kind: EndpointKind) -> Vec<Answer> {
    vec![
        calls(kind, "call_1", "read_file", r#"{"path":"app.toml"}"#),
        calls(kind, "call_2", "apply_patch", PATCH),
        says(kind, "The greeting is **right** now."),
    ]
}

/// Reads, changes and takes back, with one kind of provider.
fn a_whole_turn(kind: EndpointKind, service: &str, key_header: Option<&str>) {
    let provider = Provider::new(kind, improves(kind));
    let stage = ProviderStage::of(&provider);
    let asked = stage.run(&["ask", "--yes", "correct the greeting"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(0), "The greeting is **right** now.\n"), "{asked}");
    assert_eq!(stage.app(), AFTER);
    let prompts = provider.prompts();
    assert_eq!(prompts.len(), 3);
    for request in &prompts {
        assert!(request.head.starts_with(&format!("POST {service} ")), "{}", request.head);
        let has_key = |header: &str| request.head.to_lowercase().contains(&header.to_lowercase());
        assert!(key_header.is_none_or(has_key), "{}", request.head);
    }
    assert!(prompts[0].body.to_string().contains("correct the greeting"));
    assert!(prompts[1].body.to_string().contains("helo"), "the model is sent what the file says");
    let undone = stage.run(&["undo", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(stage.app(), BEFORE);
    stage.assert_no_key(&[&asked, &undone]);
}

#[test]
fn a_turn_with_a_provider_that_speaks_as_openai_does() {
    a_whole_turn(EndpointKind::OpenAi, "/v1/chat/completions", Some(&format!("authorization: bearer {KEY}")));
}

#[test]
fn a_turn_with_a_provider_that_speaks_as_anthropic_does() {
    a_whole_turn(EndpointKind::Anthropic, "/v1/messages", Some(&format!("x-api-key: {KEY}")));
}

#[test]
fn a_turn_with_a_provider_that_speaks_as_ollama_does() {
    a_whole_turn(EndpointKind::Ollama, "/api/chat", None);
}

#[test]
fn a_key_that_is_refused_is_told_with_what_to_do_and_is_seen_nowhere() {
    for kind in [EndpointKind::OpenAi, EndpointKind::Anthropic] {
        // A provider that repeats the key in its refusal, as some do.
        let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}","type":"auth"}}}}"#);
        let provider = Provider::new(kind, vec![Answer::json(401, &body)]);
        let stage = ProviderStage::of(&provider);
        // As talkative as it gets.
        let file = stage.stage.0.read("home/.config/loggia/config.toml");
        stage.stage.0.user_file(&format!("{file}[log]\nlevel = \"trace\"\n"));
        let asked = stage.run(&["ask", "hello"]);
        assert_eq!((asked.code, asked.stdout.as_str()), (Some(8), ""), "{asked}");
        let variable = if kind == EndpointKind::OpenAi { "OPENAI_API_KEY" } else { "ANTHROPIC_API_KEY" };
        assert!(asked.stderr.contains(variable) && asked.stderr.contains("\nhint: "), "{asked}");
        assert_eq!(provider.prompts().len(), 1, "it is no use to try again");
        let events = stage.run(&["ask", "--json", "hello"]);
        assert_eq!(events.code, Some(8), "{events}");
        stage.assert_no_key(&[&asked, &events]);
    }
}

#[test]
fn a_provider_that_is_asked_too_often_is_asked_again_after_a_while() {
    let kind = EndpointKind::OpenAi;
    let refusal = Answer::json(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "1");
    let provider = Provider::new(kind, vec![refusal, says(kind, "Here I am.")]);
    let stage = ProviderStage::of(&provider);
    let asked = stage.run(&["ask", "hello"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(0), "Here I am.\n"), "{asked}");
    assert_eq!(provider.prompts().len(), 2);
}

#[test]
fn the_next_model_of_a_chain_replies_and_that_is_told() {
    let first = Provider::new(EndpointKind::OpenAi, vec![Answer::json(503, "{}")]);
    let second = Provider::new(EndpointKind::Anthropic, vec![says(EndpointKind::Anthropic, "I stand in.")]);
    let stage = ProviderStage::bare(&[
        ("OPENAI_BASE_URL", &first.mock.address),
        ("OPENAI_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", &second.mock.address),
        ("ANTHROPIC_API_KEY", KEY),
    ]);
    let file = stage.stage.0.read("home/.config/loggia/config.toml");
    let chain = "[model]\ndefault = \"openai:gpt-5, anthropic:claude-sonnet-4-5\"\n";
    stage.stage.0.user_file(&format!("{file}{chain}"));
    let asked = stage.run(&["ask", "hello"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(0), "I stand in.\n"), "{asked}");
    let told = "! anthropic:claude-sonnet-4-5 replies instead of openai:gpt-5: ";
    assert!(asked.stderr.contains(told), "{asked}");
    assert_eq!((first.prompts().len(), second.prompts().len()), (1, 1));
    // The one that failed rests; a program is told of it as well.
    let events = stage.run(&["ask", "--json", "hello"]);
    let events: Vec<Value> = events.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = events.iter().filter(|event| event["kind"] == "model_switched").count();
    assert_eq!(told, 1, "{events:?}");
    assert_eq!((first.prompts().len(), second.prompts().len()), (1, 2));
    stage.assert_no_key(&[&asked]);
}

#[test]
fn a_test_of_a_model_tells_whether_it_works() {
    let kind = EndpointKind::OpenAi;
    let provider = Provider::new(kind, vec![says(kind, "ok"), Answer::json(401, "{}")]);
    let stage = ProviderStage::of(&provider);
    let tested = stage.run(&["model", "test", "openai:gpt-5"]);
    assert_eq!(tested.code, Some(0), "{tested}");
    assert!(tested.stdout.starts_with("openai:gpt-5 works: "), "{tested}");
    let failed = stage.run(&["model", "test", "openai:gpt-5", "--json"]);
    assert_eq!(failed.code, Some(8), "{failed}");
    let body: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((&body["works"], &body["model"]), (&false.into(), &"openai:gpt-5".into()));
    assert!(body["error"].as_str().unwrap().contains("OPENAI_API_KEY"), "{failed}");
    stage.assert_no_key(&[&tested, &failed]);
}

#[test]
fn the_doctor_names_what_was_found() {
    let provider = Provider::new(EndpointKind::OpenAi, Vec::new());
    let address = provider.mock.address.as_str();
    let stage = ProviderStage::bare(&[("OPENAI_BASE_URL", address), ("OPENAI_API_KEY", KEY)]);
    let told = stage.run(&["doctor"]);
    let line =
        |start: &str| told.stdout.lines().find(|line| line.contains(start)).unwrap_or_default().to_owned();
    assert!(line(" model:").contains("openai:gpt-5"), "{told}");
    assert!(!told.stdout.contains("no model is set"), "{told}");
    assert!(line("provider openai:").starts_with('✓'), "{told}");
    assert!(line("provider openai:").ends_with("has 1 model"), "{told}");
    stage.assert_no_key(&[&told]);
}

#[test]
fn a_server_on_this_machine_is_found_and_answers_with_nothing_configured() {
    let kind = EndpointKind::Ollama;
    let provider = Provider::new(kind, vec![says(kind, "From this machine.")]);
    // As people write it: without a scheme.
    let host = provider.mock.address.trim_start_matches("http://");
    let stage = ProviderStage::bare(&[("OLLAMA_HOST", host)]);
    let asked = stage.run(&["ask", "hello"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(0), "From this machine.\n"), "{asked}");
    let prompts = provider.prompts();
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].body["model"], "qwen3-coder:30b");
    assert!(prompts[0].head.starts_with("POST /api/chat "), "{}", prompts[0].head);
}

#[test]
fn with_nothing_at_all_a_search_answers_and_says_how_to_set_a_model() {
    let stage = ProviderStage::bare(&[]);
    let asked = stage.run(&["ask", "where is the greeting?"]);
    assert_eq!(asked.code, Some(0), "{asked}");
    assert!(asked.stdout.starts_with("No model is set"), "{asked}");
    assert!(
        asked.stdout.contains("app.toml, lines 1 to 1:") && asked.stdout.contains("OPENAI_API_KEY"),
        "{asked}"
    );
    let told = stage.run(&["doctor"]);
    assert!(told.stdout.contains("no model is set"), "{told}");
}
