//! Keys in the keyring: against a secret service of our own, and against a real one where there is one.

mod fake;
mod real;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loggia_domain::{Finding, FindingLevel, ModelCatalogue, ModelErrorKind, ModelName};
use loggia_mock_models::{Answer, Mock, Nobody, Say, frames, text};
use loggia_models::{
    Endpoint, EndpointKind, Environment, KeySource, Keyring, KeyringError, KeyringState, Models, NotAKey,
    Secret, Settings, SystemKeyring,
};

use crate::contract::{KEY, ask, hear, settings};
use crate::keyring::fake::{Bus, State};

/// No test waits for this.
const LONG: Duration = Duration::from_secs(60);

fn keyring(bus: &Bus) -> SystemKeyring {
    SystemKeyring::new(&bus.environment()).with_limits(LONG, LONG)
}

#[test]
fn a_key_is_kept_replaced_found_and_taken_away() {
    let bus = Bus::start(State::default());
    let keyring = keyring(&bus);
    assert!(keyring.available());
    assert_eq!(keyring.get("openai"), Ok(None));
    keyring.set("openai", &Secret::new("sk-first")).unwrap();
    keyring.set("openai", &Secret::new(KEY)).unwrap();
    assert_eq!(keyring.get("openai"), Ok(Some(Secret::new(KEY))));
    assert_eq!(keyring.get("anthropic"), Ok(None));
    assert_eq!(keyring.remove("openai"), Ok(true));
    assert_eq!(keyring.remove("openai"), Ok(false));
    assert_eq!(keyring.get("openai"), Ok(None));
    assert!(!format!("{keyring:?}").contains(KEY));
}

#[tokio::test]
async fn it_can_be_asked_from_a_program_that_is_asynchronous() {
    let bus = Bus::start(State::default());
    keyring(&bus).set("openai", &Secret::new(KEY)).unwrap();
    assert_eq!(keyring(&bus).get("openai"), Ok(Some(Secret::new(KEY))));
}

#[test]
fn what_is_no_key_and_no_name_is_not_kept() {
    let bus = Bus::start(State::default());
    let keyring = keyring(&bus);
    for (key, reason) in [
        ("", NotAKey::Empty),
        ("sk one", NotAKey::Words),
        ("sk\nx-evil: 1", NotAKey::Words),
        ("sk-\u{7}1", NotAKey::Control),
        (&"k".repeat(20_000), NotAKey::TooLong),
    ] {
        assert_eq!(keyring.set("openai", &Secret::new(key)), Err(KeyringError::NotAKey(reason)), "{key:?}");
    }
    for name in ["", "a\nb"] {
        assert_eq!(keyring.set(name, &Secret::new("sk-1")), Err(KeyringError::NotAName), "{name:?}");
    }
    assert_eq!(bus.asked(), Vec::<String>::new());
}

#[test]
fn what_others_put_there_is_used_only_if_it_is_a_key() {
    for (value, expected) in [
        (b"sk-1\n".to_vec(), Ok(Some("sk-1"))),
        (b" \n".to_vec(), Ok(None)),
        (b"two words".to_vec(), Err("a key is one word")),
        (b"sk-\x1b1".to_vec(), Err("a control character is in it")),
        (vec![0xff, 0xfe], Err("it is not text")),
        (vec![b'k'; 20_000], Err("it is too long")),
    ] {
        let expected = expected
            .map(|key: Option<&str>| key.map(Secret::new))
            .map_err(|reason| format!("the keyring fails: the entry of `openai` is no key: {reason}"));
        let bus = Bus::start(State::with("openai", value));
        let found = keyring(&bus).get("openai").map_err(|error| error.to_string());
        assert_eq!(found, expected);
    }
}

#[test]
fn a_locked_keyring_is_opened_for_whoever_stores_and_for_nobody_else() {
    let locked = || State { locked: true, ..State::with("openai", KEY) };
    let bus = Bus::start(State { people_agree: true, ..locked() });
    let open = keyring(&bus);
    assert!(open.available());
    assert_eq!(open.get("openai"), Err(KeyringError::Locked));
    assert!(bus.asked().iter().all(|method| method != "Prompt"), "{:?}", bus.asked());
    open.set("anthropic", &Secret::new(KEY)).unwrap();
    assert_eq!(open.get("openai"), Ok(Some(Secret::new(KEY))));

    let bus = Bus::start(locked());
    assert_eq!(keyring(&bus).set("anthropic", &Secret::new(KEY)), Err(KeyringError::Dismissed));
    assert_eq!(keyring(&bus).remove("openai"), Err(KeyringError::Dismissed));
}

#[test]
fn one_that_never_answers_is_not_waited_for() {
    let bus = Bus::start(State { silent: true, ..State::default() });
    let limit = Duration::from_millis(50);
    let keyring = SystemKeyring::new(&bus.environment()).with_limits(limit, limit);
    assert!(!keyring.available());
    assert_eq!(keyring.get("openai"), Err(KeyringError::Silent { limit }));
    assert_eq!(keyring.set("openai", &Secret::new(KEY)), Err(KeyringError::Silent { limit }));
    assert_eq!(keyring.remove("openai"), Err(KeyringError::Silent { limit }));
}

#[test]
fn where_there_is_no_keyring_that_is_said() {
    let bus = Bus::start(State { absent: true, ..State::default() });
    assert!(!keyring(&bus).available());
    let said = keyring(&bus).get("openai").unwrap_err();
    assert_eq!(said.to_string(), "there is no keyring: no secret service is running");

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    // A directory without a bus's socket in it, and nothing at all.
    for environment in [Environment::from([("XDG_RUNTIME_DIR", path)]), Environment::empty()] {
        let none = SystemKeyring::new(&environment);
        assert!(!none.has_bus() && !none.available());
        let said = none.get("openai").unwrap_err();
        assert_eq!(said.to_string(), "there is no keyring: no session bus is running");
    }
    let address = format!("unix:path={path}/nothing");
    for address in [&*address, "nonsense", "tcp:host=localhost"] {
        let none = SystemKeyring::new(&Environment::from([("DBUS_SESSION_BUS_ADDRESS", address)]));
        assert!(!none.available());
        assert!(matches!(none.get("openai"), Err(KeyringError::Absent { .. })), "{address}");
    }
}

#[test]
fn the_bus_of_a_session_is_found_in_its_directory() {
    let bus = Bus::start(State::with("openai", KEY));
    let environment = Environment::from([("XDG_RUNTIME_DIR", bus.directory())]);
    let keyring = SystemKeyring::new(&environment).with_limits(LONG, LONG);
    assert_eq!(keyring.get("openai"), Ok(Some(Secret::new(KEY))));
}

/// A keyring that counts how often it is asked.
#[derive(Debug, Default)]
struct Counting {
    name: &'static str,
    failure: Option<KeyringError>,
    asked: AtomicUsize,
}

impl Keyring for Counting {
    fn read(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok((name == self.name).then(|| Secret::new(KEY))),
        }
    }
}

impl Counting {
    fn of(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, ..Self::default() })
    }

    fn failing(failure: KeyringError) -> Arc<Self> {
        Arc::new(Self { failure: Some(failure), ..Self::default() })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn name(name: &str) -> ModelName {
    ModelName(name.to_owned())
}

fn usual(mut settings: Settings) -> Settings {
    settings.endpoints[0].key = KeySource::Usual;
    settings
}

#[tokio::test]
async fn a_keyring_is_asked_at_the_first_reply_and_then_not_again() {
    let kind = EndpointKind::OpenAi;
    let answer = || Answer::frames(&frames(kind, &[text("hi"), Say::Done]));
    let mock = Mock::start(vec![answer(), answer()]).await;
    let keyring = Counting::of("mock");
    let models =
        Models::with_keyring(usual(settings(kind, &mock.address)), Environment::empty(), keyring.clone());
    let model = models.find(None).unwrap();
    models.look().await;
    assert_eq!(keyring.asked(), 0);
    for _ in 0..2 {
        hear(&*model, ask("hello")).await.unwrap();
    }
    assert_eq!(keyring.asked(), 1);
    assert!(mock.requests().iter().all(|request| request.head.contains(KEY)));
    assert!(!format!("{models:?}").contains(KEY));
}

#[tokio::test]
async fn a_variable_comes_before_the_keyring() {
    let keyring = Counting::of("openai");
    let environment = Environment::from([("OPENAI_API_KEY", "sk-variable"), ("OLLAMA_HOST", "127.0.0.1:9")]);
    let models = Models::with_keyring(Settings::default(), environment, keyring.clone());
    models.find(Some(&name("openai:gpt-5"))).unwrap();
    assert_eq!(keyring.asked(), 0);
}

#[tokio::test]
async fn a_key_that_is_nowhere_is_told_when_a_reply_needs_it() {
    let cases = [
        (
            Counting::of("other"),
            "set OPENAI_API_KEY or run `loggia init`, or keep it in the keyring under `openai`",
        ),
        (
            Counting::failing(KeyringError::Locked),
            "set OPENAI_API_KEY or run `loggia init` (the keyring is locked; unlock it, for example by logging in to the \
             desktop)",
        ),
    ];
    for (keyring, hint) in cases {
        let settings = Settings { default: vec![name("openai:gpt-5")], ..Settings::default() };
        let models = Models::with_keyring(settings, Environment::empty(), keyring);
        let model = models.find(None).unwrap();
        let (_, error) = hear(&*model, ask("hello")).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Permanent);
        assert_eq!(error.message, format!("`openai`: no key is set: {hint}"));
    }
}

#[tokio::test]
async fn a_server_that_needs_no_key_replies_though_the_keyring_fails() {
    let kind = EndpointKind::OpenAi;
    let answer = || Answer::frames(&frames(kind, &[text("hi"), Say::Done]));
    let mock = Mock::start(vec![answer(), answer()]).await;
    let keyring = Counting::failing(KeyringError::Locked);
    let models =
        Models::with_keyring(usual(settings(kind, &mock.address)), Environment::empty(), keyring.clone());
    let model = models.find(None).unwrap();
    hear(&*model, ask("hello")).await.unwrap();
    hear(&*model, ask("hello")).await.unwrap();
    assert_eq!(keyring.asked(), 1, "one that fails is left alone for a while");
}

/// Settings in which no server on this machine is found.
fn bare_machine(nobody: &Nobody) -> Settings {
    let endpoint = |name: &str, kind| Endpoint {
        name: name.to_owned(),
        kind,
        base_url: Some(nobody.address.clone()),
        key: KeySource::None,
        headers: Vec::new(),
    };
    let endpoints = vec![
        endpoint("ollama", EndpointKind::Ollama),
        endpoint("lmstudio", EndpointKind::OpenAi),
        endpoint("llamacpp", EndpointKind::OpenAi),
    ];
    Settings { endpoints, ..Settings::default() }
}

#[tokio::test]
async fn without_anything_else_a_provider_whose_key_is_in_the_keyring_is_taken() {
    let nobody = Nobody::new();
    let models = Models::with_keyring(bare_machine(&nobody), Environment::empty(), Counting::of("gemini"));
    models.look().await;
    assert_eq!(models.defaults(), [name("gemini:gemini-2.5-pro")]);
    // A key in the environment is at hand, so nobody is asked.
    let keyring = Counting::of("anthropic");
    let environment = Environment::from([("GEMINI_API_KEY", "g-1")]);
    let models = Models::with_keyring(bare_machine(&nobody), environment, keyring.clone());
    models.look().await;
    assert_eq!(models.defaults(), [name("gemini:gemini-2.5-pro")]);
    assert_eq!(keyring.asked(), 0);
}

#[tokio::test]
async fn the_doctor_tells_of_the_keyring_without_calling_its_absence_a_fault() {
    let absent = KeyringError::Absent { reason: "no secret service is running".to_owned() };
    let cases = [
        (None, FindingLevel::Ok, "it answers"),
        (Some(absent), FindingLevel::Absent, "there is no keyring: no secret service is running"),
        (
            Some(KeyringError::Silent { limit: Duration::from_secs(2) }),
            FindingLevel::Warning,
            "the keyring does not answer within 2 seconds",
        ),
    ];
    let nobody = Nobody::new();
    for (failure, level, message) in cases {
        let keyring = Arc::new(Counting { failure, ..Counting::default() });
        let models = Models::with_keyring(bare_machine(&nobody), Environment::empty(), keyring);
        let findings = ModelCatalogue::doctor(&models).await;
        let told: Vec<&Finding> = findings.iter().filter(|finding| finding.about == "keyring").collect();
        assert_eq!((told[0].level, &*told[0].message), (level, message));
        assert_eq!(told.len(), 1);
    }
    let without = Models::new(bare_machine(&nobody), Environment::empty());
    assert_eq!(without.doctor().await.keyring, KeyringState::None);
}
