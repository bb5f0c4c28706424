//! Agents under other names, and variables that are for agents alone.

use std::sync::Arc;

use futures_util::StreamExt;
use loggia_domain::{AgentBackend, AgentPart, AgentRequest};
use loggia_plugins::{AgentAlias, AgentListing, AgentSettings, Plugins, Scope};

use crate::support::{Home, One, manifest};

fn alias(name: &str, extends: &str, variables: &[(&str, &str)]) -> AgentAlias {
    AgentAlias {
        name: name.to_owned(),
        extends: extends.to_owned(),
        description: None,
        variables: pairs(variables),
    }
}

fn pairs(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn named(host: &Plugins, name: &str) -> Arc<dyn AgentBackend> {
    host.agents().into_iter().find(|agent| agent.name() == name).unwrap()
}

fn names(host: &Plugins) -> Vec<String> {
    host.agents().iter().map(|agent| agent.name()).collect()
}

/// What an agent has as `RUN_KEY`, and its process.
async fn run(agent: &dyn AgentBackend, variables: &[(&str, &str)]) -> (String, String) {
    let request =
        AgentRequest { text: "go".to_owned(), environment: pairs(variables), ..AgentRequest::default() };
    let mut run = agent.run(request).await.unwrap();
    let Some(Ok(AgentPart::Text(text))) = run.parts.next().await else { panic!("a text") };
    assert!(run.parts.next().await.is_none());
    let (key, pid) = text.split_once(' ').unwrap();
    (key.to_owned(), pid.to_owned())
}

#[tokio::test]
async fn an_alias_with_variables_is_its_agent_in_a_process_of_its_own() {
    let one = One::within("agent", &["environment", "needs-key"], |home| {
        home.environment.push(("SECRET".into(), "s3".into()));
        home.agents.aliases = vec![
            alias("fast", "openai", &[("RUN_KEY", "a-${SECRET}"), ("MODE", "quick")]),
            alias("faster", "fast", &[("RUN_KEY", "b")]),
            alias("same", "openai", &[]),
        ];
    });
    assert_eq!(names(&one.host), ["openai", "fast", "faster", "same"]);
    let (fast, faster) = (named(&one.host, "fast"), named(&one.host, "faster"));
    one.agent().ready().await.unwrap_err();
    named(&one.host, "same").ready().await.unwrap_err();
    assert_eq!(one.starts(), 1, "without variables it is the agent itself");
    fast.ready().await.unwrap();
    let (key, first) = run(&*fast, &[]).await;
    assert_eq!((key.as_str(), one.starts()), ("a-s3", 2));
    let asked = &one.requests("agent.run")[0]["params"]["env"];
    assert_eq!(asked.to_string(), r#"{"MODE":"quick","RUN_KEY":"a-s3"}"#);
    assert_eq!(run(&*fast, &[]).await, ("a-s3".to_owned(), first.clone()), "the process is kept");
    assert_eq!(run(&*faster, &[]).await.0, "b");
    let (key, other) = run(&*fast, &[("RUN_KEY", "task")]).await;
    assert_eq!(key, "task", "a task's own variables count more");
    assert_ne!(other, first);
    let told: Vec<_> =
        one.host.told_agents().into_iter().map(|agent| (agent.name, agent.variables)).collect();
    let both = ["RUN_KEY", "MODE"].map(str::to_owned).to_vec();
    let expected = [("fast", both.clone()), ("faster", both), ("same", Vec::new())];
    assert_eq!(told, expected.map(|(name, variables)| (name.to_owned(), variables)));
    one.host.stop().await;
}

#[tokio::test]
async fn variables_under_an_agents_name_reach_it_without_that_name() {
    let one = One::within("agent", &["environment", "needs-key"], |home| {
        home.agents.variables =
            pairs(&[("OPENAI_RUN_KEY", "k"), ("OTHER_RUN_KEY", "x"), ("SLOW_RUN_KEY", "s")]);
        home.agents.aliases = vec![alias("slow", "openai", &[])];
    });
    let agent = one.agent();
    agent.ready().await.unwrap();
    let (key, kept) = run(&*agent, &[]).await;
    assert_eq!((key.as_str(), one.starts()), ("k", 1));
    assert_eq!(one.params("agent.run"), r#"{"prompt":"go","context":{},"env":{"RUN_KEY":"k"}}"#);
    let (key, own) = run(&*named(&one.host, "slow"), &[]).await;
    assert_eq!(key, "s");
    assert_ne!(own, kept);
    one.host.stop().await;
}

#[tokio::test]
async fn an_alias_that_is_changed_or_gone_takes_its_process_along_and_no_other() {
    let mut one = One::within("agent", &["environment"], |home| {
        home.agents.aliases = vec![alias("fast", "openai", &[("RUN_KEY", "1")])];
    });
    let (_, base) = run(&*one.agent(), &[]).await;
    let (_, own) = run(&*named(&one.host, "fast"), &[]).await;
    let (again, leaving) = one.host.find_again(one.home.settings());
    assert_eq!(leaving.len(), 0);
    assert_eq!(run(&*named(&again, "fast"), &[]).await, ("1".to_owned(), own.clone()));
    one.home.agents.aliases[0].variables = pairs(&[("RUN_KEY", "2")]);
    let (again, leaving) = again.find_again(one.home.settings());
    assert_eq!(leaving.len(), 1);
    Plugins::end(leaving).await;
    let (key, other) = run(&*named(&again, "fast"), &[]).await;
    assert!(key == "2" && other != own, "{key} {other}");
    one.home.agents = AgentSettings::default();
    let (again, leaving) = again.find_again(one.home.settings());
    assert_eq!((leaving.len(), names(&again)), (1, vec!["openai".to_owned()]));
    Plugins::end(leaving).await;
    assert_eq!(run(&*named(&again, "openai"), &[]).await, ("nothing".to_owned(), base));
    again.stop().await;
}

#[test]
fn an_alias_without_an_agent_that_may_run_says_why() {
    let mut home = Home::new();
    home.add("agent", "on", &[]);
    home.add_raw(Scope::Global, "off", &manifest("agent", "off", &[]).replace("openai", "resting"));
    home.agents.aliases = vec![
        alias("openai", "resting", &[]),
        alias("lost", "claude", &[]),
        alias("tired", "resting", &[("A", "${NOT_THERE}")]),
        alias("odd", "openai", &[("A", "${NOT_THERE}")]),
    ];
    let host = home.host();
    assert_eq!(names(&host), ["openai", "odd"], "no alias takes an agent's name");
    let barred: Vec<_> =
        host.barred_agents().into_iter().map(|one| format!("{}: {}", one.name, one.why)).collect();
    assert_eq!(
        barred,
        [
            "resting: it is not enabled here; `loggia plugin enable off` turns it on",
            "lost: it extends `claude`, and no plugin's agent is called so",
            "tired: it extends `resting`, which may not run: it is not enabled here; `loggia plugin enable off` turns it on",
        ]
    );
    assert_eq!(
        host.warnings(),
        [
            "the alias `openai` is left out: an agent of a plugin is called so",
            "the alias `odd` wants the variable `NOT_THERE`, which the server does not have; `plugins.variables` names those \
             that it is given",
        ]
    );
    let odd = AgentListing {
        name: "odd".to_owned(),
        alias_of: Some("openai".to_owned()),
        description: None,
        variables: vec!["A".to_owned()],
    };
    assert_eq!(host.told_agents(), [odd]);
}
