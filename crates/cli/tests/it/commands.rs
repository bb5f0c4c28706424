//! Listings, and single things done.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use loggia_cli::{
    Approvals, Ask, CliError, ConfiguredModel, Interrupts, ModelList, ModelTest, ModelUse, Outcome,
    PolicyCheck, PolicyShow, SessionChoice, SessionDelete, SessionExport, SessionFork, SessionImport,
    SessionRename, SessionShow, SessionsList, Undo,
};
use loggia_protocol_agent_server::{PolicyPreset, SessionId};
use serde_json::Value;

use crate::house::{House, calls, says};
use crate::screen::{FILES, Screen, TERMINAL};

/// A house in which one turn has changed a file.
async fn changed() -> (House, SessionId) {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    let house = House::new(&[("a.txt", "old\n")], &format!("{script}{}{}", says("One."), says("Two."))).await;
    let (_, mut terminal) = Screen::new(FILES);
    let options =
        Ask { approvals: Approvals::Yes, preset: Some(PolicyPreset::Ask), ..house.prompt("Write it anew") };
    house.ask(options, &mut terminal).await.unwrap();
    let page = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap();
    (house, page.sessions[0].session_id.clone())
}

fn undoing(house: &House) -> Undo {
    Undo { session: SessionChoice::Latest, workspace: house.root(), steps: None, yes: false, json: false }
}

#[tokio::test]
async fn changes_are_taken_back_and_made_again() {
    let (house, id) = changed().await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "xyy");
    let mut interrupts = Interrupts::never();
    let undone = loggia_cli::undo(&house.client, undoing(&house), &mut terminal, &mut interrupts).await;
    assert_eq!(undone.unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "old\n");
    let redone = loggia_cli::redo(&house.client, undoing(&house), &mut terminal, &mut interrupts).await;
    assert_eq!(redone.unwrap(), Outcome::Done);
    assert_eq!(house.read("a.txt"), "new\n");
    let of = format!("of \"Write it anew\" ({})", id.0);
    assert_eq!(screen.out(), format!("Took back 1 step {of}.\n  a.txt\nMade again 1 step {of}.\n  a.txt\n"));
    assert!(
        screen.err().starts_with("? Undo the last change of \"Write it anew\"?  y yes  n no \n"),
        "{}",
        screen.err()
    );
}

#[tokio::test]
async fn the_newest_session_with_something_to_take_back_is_found_and_keeps_its_name() {
    let (house, id) = changed().await;
    let mut interrupts = Interrupts::never();
    let (screen, mut terminal) = Screen::new(FILES);
    let newer = || Ask { preset: Some(PolicyPreset::ReadOnly), ..house.prompt("Only words") };
    house.ask(newer(), &mut terminal).await.unwrap();
    let yes = || Undo { yes: true, json: true, ..undoing(&house) };
    loggia_cli::undo(&house.client, yes(), &mut terminal, &mut interrupts).await.unwrap();
    assert_eq!(house.read("a.txt"), "old\n");
    house.ask(newer(), &mut terminal).await.unwrap();
    loggia_cli::redo(&house.client, yes(), &mut terminal, &mut interrupts).await.unwrap();
    assert_eq!(house.read("a.txt"), "new\n");
    let told: Vec<Value> = screen.out().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(
        (told.len(), &told[0]["session_id"], &told[1]["session_id"]),
        (2, &id.0.clone().into(), &id.0.clone().into())
    );
    let error = loggia_cli::redo(&house.client, yes(), &mut terminal, &mut interrupts).await.unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to redo in the sessions of this workspace");
    loggia_cli::undo(&house.client, yes(), &mut terminal, &mut interrupts).await.unwrap();
    assert_eq!(house.client.session(&id).await.unwrap().title, "Write it anew");
}

#[tokio::test]
async fn a_file_that_was_changed_since_is_left_alone_and_told_what_to_do_about() {
    let (house, _) = changed().await;
    std::fs::write(house.root().join("a.txt"), "mine\n").unwrap();
    let (_, mut terminal) = Screen::new(FILES);
    let options = Undo { yes: true, ..undoing(&house) };
    let undone = loggia_cli::undo(&house.client, options, &mut terminal, &mut Interrupts::never()).await;
    let error = undone.unwrap_err();
    assert_eq!(house.read("a.txt"), "mine\n");
    assert_eq!(error.to_string(), "changed since by somebody else: a.txt");
    assert!(error.hint().contains("take that change back") && error.hint().contains("--session ID"));
}

#[tokio::test]
async fn nothing_is_taken_back_without_a_yes() {
    let (house, _) = changed().await;
    let mut interrupts = Interrupts::never();
    let (_, mut terminal, _keys) = Screen::with_keys(TERMINAL, "n");
    let no = loggia_cli::undo(&house.client, undoing(&house), &mut terminal, &mut interrupts).await;
    assert_eq!(no.unwrap(), Outcome::Refused);
    let (_, mut terminal) = Screen::new(FILES);
    let error =
        loggia_cli::undo(&house.client, undoing(&house), &mut terminal, &mut interrupts).await.unwrap_err();
    assert!(matches!(error, CliError::NotConfirmed { .. }) && error.hint().contains("--yes"));
    let (interrupter, mut interrupts) = Interrupts::channel();
    interrupter.interrupt();
    let (_, mut terminal, _keys) = Screen::with_keys(TERMINAL, "");
    let no = loggia_cli::undo(&house.client, undoing(&house), &mut terminal, &mut interrupts).await;
    assert_eq!(no.unwrap(), Outcome::Refused);
    assert_eq!(house.read("a.txt"), "new\n");
}

#[tokio::test]
async fn sessions_are_listed_renamed_forked_and_deleted() {
    let (house, id) = changed().await;
    let (screen, mut terminal) = Screen::new(FILES);
    let client = &house.client;
    let rename = SessionRename { session: id.clone(), title: "Anew".to_owned(), json: false };
    loggia_cli::sessions_rename(client, rename, &mut terminal).await.unwrap();
    let fork = SessionFork { session: id.clone(), seq: None, title: Some("Twin".to_owned()), json: false };
    loggia_cli::sessions_fork(client, fork, &mut terminal).await.unwrap();
    assert!(
        screen.out().contains(" is now called Anew\n") && screen.out().contains(" is new: Twin\n"),
        "{}",
        screen.out()
    );
    let list = |json| SessionsList { workspace: Some(house.root()), limit: 10, json };
    let (screen, mut terminal) = Screen::new(FILES);
    loggia_cli::sessions_list(client, list(false), &mut terminal).await.unwrap();
    let out = screen.out();
    assert!(
        out.starts_with("SESSION") && out.contains("  idle    Anew\n") && out.contains("  idle    Twin\n"),
        "{out}"
    );
    let delete = SessionDelete { session: id, yes: true, json: false };
    loggia_cli::sessions_delete(client, delete, &mut terminal, &mut Interrupts::never()).await.unwrap();
    let (screen, mut terminal) = Screen::new(FILES);
    loggia_cli::sessions_list(client, list(true), &mut terminal).await.unwrap();
    let listed: Value = serde_json::from_str(&screen.out()).unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(listed["sessions"][0]["title"], "Twin");
}

#[tokio::test]
async fn a_session_is_shown_exported_and_imported() {
    let (house, id) = changed().await;
    let (screen, mut terminal) = Screen::new(FILES);
    let show = SessionShow { session: SessionChoice::Id(id.clone()), workspace: PathBuf::new(), json: false };
    loggia_cli::sessions_show(&house.client, show, &mut terminal).await.unwrap();
    assert_eq!(screen.out(), "Let me see. Done.\n");
    assert!(screen.err().contains("loggia ask: Write it anew\n✓ Write a.txt\n"), "{}", screen.err());
    let path = house.directory.path().join("out.jsonl");
    let export = SessionExport { session: id, to: Some(path.clone()) };
    loggia_cli::sessions_export(&house.client, export.clone(), &mut terminal).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = loggia_cli::sessions_export(&house.client, export, &mut terminal).await.unwrap_err();
    assert!(matches!(again, CliError::File { .. }), "{again}");
    let import = SessionImport { workspace: house.root(), lines: std::fs::read(path).unwrap(), json: true };
    let (screen, mut terminal) = Screen::new(FILES);
    loggia_cli::sessions_import(&house.client, import, &mut terminal).await.unwrap();
    let session: Value = serde_json::from_str(&screen.out()).unwrap();
    assert_eq!(session["title"], "Write it anew");
}

#[tokio::test]
async fn models_are_listed_tried_and_chosen() {
    let fails = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no such key\" } }]\n";
    let house = House::new(&[], &[says("ok").as_str(), fails].concat()).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let configured = |name: &str, by: &str, counts_first| {
        let configured = ConfiguredModel { name: name.to_owned(), by: by.to_owned(), counts_first };
        ModelList { configured: Some(configured), json: false }
    };
    let list = || configured("scripted:other, scripted:model", "config.toml:2", false);
    loggia_cli::model_list(&house.client, list(), &mut terminal).await.unwrap();
    assert!(screen.out().contains("scripted:model"), "{}", screen.out());
    assert_eq!(screen.err(), "New sessions use scripted:model, set by config.toml:2.\n");
    let told = async |options| {
        let (screen, mut terminal) = Screen::new(FILES);
        loggia_cli::model_list(&house.client, options, &mut terminal).await.unwrap();
        screen.err()
    };
    assert_eq!(
        told(configured("lab:new", "config.toml:2", false)).await,
        "New sessions use scripted:model.\nconfig.toml:2 now says lab:new; `loggia stop` lets it count.\n"
    );
    assert_eq!(
        told(configured("lab:new", "LOGGIA_MODEL", true)).await,
        "New sessions use lab:new, set by LOGGIA_MODEL.\n"
    );
    let chosen = ModelUse { name: Some("scripted:model".to_owned()), json: false };
    loggia_cli::model_use(&house.client, chosen, &mut terminal).await.unwrap();
    assert!(screen.out().ends_with("New sessions use scripted:model.\n"), "{}", screen.out());
    let (screen, mut terminal) = Screen::new(FILES);
    loggia_cli::model_list(&house.client, list(), &mut terminal).await.unwrap();
    assert!(
        screen.err().contains("scripted:model, chosen with `loggia model use`; `--unset`"),
        "{}",
        screen.err()
    );
    let unset = ModelUse { name: None, json: false };
    loggia_cli::model_use(&house.client, unset.clone(), &mut terminal).await.unwrap();
    assert!(
        screen.out().ends_with("The choice is forgotten; new sessions use scripted:model.\n"),
        "{}",
        screen.out()
    );
    loggia_cli::model_use(&house.client, unset, &mut terminal).await.unwrap();
    assert!(
        screen.out().ends_with("No model was chosen; new sessions use scripted:model.\n"),
        "{}",
        screen.out()
    );
    let test = ModelTest { name: Some("scripted:model".to_owned()), workspace: house.root(), json: false };
    let (screen, mut terminal) = Screen::new(FILES);
    let works = loggia_cli::model_test(&house.client, test.clone(), &mut terminal).await.unwrap();
    assert_eq!(works, Outcome::Done);
    assert!(screen.out().starts_with("scripted:model works: "), "{}", screen.out());
    let fails = loggia_cli::model_test(&house.client, test, &mut terminal).await.unwrap();
    assert_eq!(fails, Outcome::ModelFailed);
    assert!(screen.err().contains("does not work: no such key\nhint: "), "{}", screen.err());
    let left = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap();
    assert_eq!(left.sessions, []);
}

#[tokio::test]
async fn the_beginning_of_an_id_is_enough_where_it_is_one_sessions() {
    let (house, id) = changed().await;
    let bare = id.0.trim_start_matches("ses_").to_owned();
    let rename = async |given: &str| {
        let (screen, mut terminal) = Screen::new(FILES);
        let session = SessionId(given.to_owned());
        let options = SessionRename { session, title: "Anew".to_owned(), json: false };
        let done = loggia_cli::sessions_rename(&house.client, options, &mut terminal).await;
        done.map(|_| screen.out()).map_err(|error| format!("{error}\nhint: {}", error.hint()))
    };
    let told = format!("{} is now called Anew\n", id.0);
    for given in
        [id.0.clone(), bare.clone(), bare[..4].to_owned(), id.0[..12].to_owned(), bare.to_uppercase()]
    {
        assert_eq!(rename(&given).await.as_ref(), Ok(&told), "{given}");
    }
    for given in ["xyz", "ses_", "ses_01"] {
        assert!(rename(given).await.unwrap_err().contains("is too short"), "{given}");
    }
    for given in
        ["nope", "ses_ffff", "ffffffffffffffffffffffffffffffff", "ses_not-an-id-however-long-it-may-be--"]
    {
        let error = rename(given).await.unwrap_err();
        assert!(
            error.starts_with(&format!("there is no session `{given}`\nhint: `loggia sessions list")),
            "{error}"
        );
    }
    let fork = SessionFork { session: id.clone(), seq: None, title: Some("Twin".to_owned()), json: true };
    let (screen, mut terminal) = Screen::new(FILES);
    loggia_cli::sessions_fork(&house.client, fork, &mut terminal).await.unwrap();
    let twin: Value = serde_json::from_str(&screen.out()).unwrap();
    // Both began in the same minute, and ids begin with the time.
    let error = rename(&bare[..6]).await.unwrap_err();
    assert!(
        error.starts_with(&format!("2 sessions have an id that begins with `{}`: ", &bare[..6])),
        "{error}"
    );
    assert!(error.contains(&id.0) && error.contains(twin["session_id"].as_str().unwrap()), "{error}");
    assert!(error.contains("\"Twin\"") && error.contains("hint: give more of the id"), "{error}");
}

#[tokio::test]
async fn every_command_takes_the_beginning_of_an_id() {
    let (house, id) = changed().await;
    let given = || SessionId(id.0[4..16].to_owned());
    let (screen, mut terminal) = Screen::new(FILES);
    let client = &house.client;
    let mut interrupts = Interrupts::never();
    let undo = Undo { session: SessionChoice::Id(given()), yes: true, ..undoing(&house) };
    loggia_cli::undo(client, undo, &mut terminal, &mut interrupts).await.unwrap();
    let show = SessionShow { session: SessionChoice::Id(given()), workspace: house.root(), json: false };
    loggia_cli::sessions_show(client, show, &mut terminal).await.unwrap();
    let export = SessionExport { session: given(), to: None };
    loggia_cli::sessions_export(client, export, &mut terminal).await.unwrap();
    let fork = SessionFork { session: given(), seq: None, title: None, json: false };
    let ask = Ask { session: SessionChoice::Id(given()), ..house.prompt("") };
    let error =
        house.ask(Ask { prompt: "more".to_owned(), preset: Some(PolicyPreset::Full), ..ask }, &mut terminal);
    assert!(matches!(error.await.unwrap_err(), CliError::SessionHasBegun { .. }), "it was found");
    let delete = SessionDelete { session: given(), yes: true, json: false };
    loggia_cli::sessions_delete(client, delete, &mut terminal, &mut interrupts).await.unwrap();
    assert!(screen.out().ends_with(&format!("{} is deleted.\n", id.0)), "{}", screen.out());
    let gone = loggia_cli::sessions_fork(client, fork, &mut terminal).await.unwrap_err();
    assert!(matches!(gone, CliError::NoSuchSession(_)), "{gone}");
}

#[tokio::test]
async fn what_the_policy_decides_by_a_rule_is_told_with_its_number() {
    let house = House::new(&[], "").await;
    let mut policy = house.client.policy(&workspace_id(&house).await).await.unwrap();
    policy.rules = serde_json::from_value(serde_json::json!([
        {"decision": "ask", "command": "npm publish"}, {"decision": "allow", "command": "npm test"}
    ]))
    .unwrap();
    house.client.put_policy(&workspace_id(&house).await, &policy).await.unwrap();
    let (screen, mut terminal) = Screen::new(FILES);
    let command = Some("npm test".to_owned());
    let check = PolicyCheck { workspace: house.root(), command, ..PolicyCheck::default() };
    loggia_cli::policy_check(&house.client, check, &mut terminal).await.unwrap();
    assert!(screen.out().starts_with("allow: ") && screen.out().ends_with(", rule 2)\n"), "{}", screen.out());
    for (tool, words) in [("nope", "there is no tool `nope`; there are "), ("write_file", "name the `path`")]
    {
        let tool = Some(tool.to_owned());
        let check = PolicyCheck { workspace: house.root(), tool, ..PolicyCheck::default() };
        let error = loggia_cli::policy_check(&house.client, check, &mut terminal).await.unwrap_err();
        assert!(error.to_string().starts_with(words), "{error}");
    }
}

async fn workspace_id(house: &House) -> loggia_protocol_agent_server::WorkspaceId {
    let params = loggia_protocol_agent_server::RegisterWorkspaceParams {
        root_path: house.root().to_str().unwrap().to_owned(),
        name: None,
    };
    house.client.register_workspace(&params).await.unwrap().workspace_id
}

#[tokio::test]
async fn a_policy_is_shown_and_asked() {
    let house = House::new(&[], "").await;
    let (screen, mut terminal) = Screen::new(FILES);
    let show = PolicyShow { workspace: house.root(), json: false };
    loggia_cli::policy_show(&house.client, show, &mut terminal).await.unwrap();
    assert!(screen.out().starts_with("Preset "), "{}", screen.out());
    let check = |command: &str| PolicyCheck {
        workspace: house.root(),
        command: Some(command.to_owned()),
        ..PolicyCheck::default()
    };
    let (screen, mut terminal) = Screen::new(FILES);
    let outcome = loggia_cli::policy_check(&house.client, check("npm test"), &mut terminal).await.unwrap();
    assert_eq!(outcome, Outcome::Done);
    assert!(screen.out().starts_with("ask: "), "{}", screen.out());
}
