//! Plugins that are stopped, tried and told things while they are in the middle of something.

use std::sync::atomic::Ordering::SeqCst;

use futures_util::StreamExt;
use loggia_domain::{AgentRequest, GuestError};
use loggia_plugins::{Plugins, Scope};

use crate::support::{Home, One, eventually, is_alive, lines, manifest};

fn request(text: &str) -> AgentRequest {
    AgentRequest { text: text.to_owned(), ..AgentRequest::default() }
}

#[tokio::test]
async fn a_run_that_the_host_stops_sees_the_end_of_its_input() {
    let one = One::new("agent", &["forever"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    one.host.stop().await;
    assert_eq!(one.lines("cancelled.log"), ["saw the end of its input"]);
    assert!(!is_alive(&pid), "the host's stop waits for it");
    let error = run.parts.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, GuestError::Gone(words) if words.contains("it is being stopped")), "{error}");
}

#[tokio::test]
async fn a_call_that_the_host_stops_fails_at_once_and_its_plugin_is_gone_afterwards() {
    let one = One::new("provider", &["hang:provider.fetch"]);
    let provider = one.provider();
    let fetching = tokio::spawn(async move { provider.fetch("PROJ-123".to_owned()).await });
    eventually("the call", || one.requests("provider.fetch").len() == 1).await;
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    one.host.stop().await;
    assert!(!is_alive(&pid));
    let error = fetching.await.unwrap().unwrap_err();
    let expected = "plugin `one`, `provider.fetch`: it is being stopped";
    assert!(matches!(&error, GuestError::Gone(words) if words.starts_with(expected)), "{error}");
}

#[tokio::test]
async fn trying_a_plugin_neither_waits_for_its_run_nor_disturbs_it() {
    let one = One::new("agent", &["forever"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    let pid = one.plugin.sketch().pid.unwrap();
    one.host.probe("one").await.unwrap().unwrap();
    one.plugin.revive();
    assert_eq!(one.starts(), 2, "it was tried in a process of its own");
    assert_eq!(one.plugin.sketch().pid, Some(pid));
    assert!(is_alive(&pid.to_string()));
    let tried = one.lines("starts.log")[1].split(' ').next().unwrap().to_owned();
    assert!(!is_alive(&tried), "that one is gone");
    drop(run);
    one.host.stop().await;
}

#[tokio::test]
async fn a_result_that_cannot_be_told_is_refused_with_the_last_words() {
    let one = One::new("agent", &["tools", "mutter"]);
    let mut run = one.agent().run(request("go")).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    let words = || run.results.give("call_2", "x".to_owned()).unwrap_err().to_string();
    eventually("its words", || words().ends_with("no call `call_2`\n  stderr: muttering")).await;
    drop(run);
    one.host.stop().await;
}

#[tokio::test]
async fn a_python_plugin_of_a_workspace_leaves_nothing_beside_its_files() {
    let mut home = Home::new();
    home.environment.truncate(1);
    let mut found = Vec::new();
    for (scope, name) in [(Scope::Project, "ours"), (Scope::Global, "theirs")] {
        home.enabled.push(name.to_owned());
        let directory = home.add_raw(scope, name, &manifest("provider", name, &[]));
        let program = std::fs::read_to_string(directory.join("plugin.py")).unwrap();
        std::fs::write(directory.join("plugin.py"), format!("import helper\n{program}")).unwrap();
        std::fs::write(directory.join("helper.py"), "x = 1\n").unwrap();
        found.push(directory.join("__pycache__"));
    }
    let host = home.host();
    for name in ["ours", "theirs"] {
        host.get(name).unwrap().ping().await.unwrap();
    }
    assert_eq!(found.iter().map(|path| path.exists()).collect::<Vec<_>>(), [false, true]);
    host.stop().await;
}

#[tokio::test]
async fn trust_that_is_taken_back_reaches_a_run_with_variables_of_its_own() {
    let mut home = Home::new();
    home.enabled.push("one".to_owned());
    let directory = home.add_raw(Scope::Project, "one", &manifest("agent", "one", &["forever"]));
    let host = home.host();
    let request = AgentRequest { environment: vec![("A".to_owned(), "b".to_owned())], ..request("go") };
    let mut run = host.agents().remove(0).run(request).await.unwrap();
    run.parts.next().await.unwrap().unwrap();
    home.trusted.store(false, SeqCst);
    let (again, leaving) = host.find_again(home.settings());
    assert_eq!(leaving.len(), 1, "it does not stay");
    Plugins::end(leaving).await;
    let error = run.parts.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, GuestError::Gone(words) if words.contains("it is being stopped")), "{error}");
    again.stop().await;
    host.stop().await;
    assert_eq!(lines(&directory.join("cancelled.log")), ["saw the end of its input"]);
}
