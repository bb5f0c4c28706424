//! What people are told of a plugin that misbehaves: which one, in which method, what was wrong, and its last words.

use std::time::Duration;

use futures_util::StreamExt;
use loggia_domain::{AgentPart, AgentRequest, GuestError, Proposal};
use loggia_plugins::Limits;

use crate::support::{One, PATIENCE, SHORT, is_alive};
use crate::workflows::moment;

/// The methods of each kind of plugin. What is beyond the specification is here, too.
const PROVIDER: [&str; 16] = [
    "provider.init",
    "provider.match",
    "provider.parse",
    "provider.fetch",
    "provider.snapshot",
    "provider.list",
    "provider.addComment",
    "provider.updateStatus",
    "provider.fetchComments",
    "provider.addLabels",
    "provider.removeLabels",
    "provider.linkBranch",
    "provider.unlinkBranch",
    "provider.getLinkedBranch",
    "provider.createPR",
    "provider.downloadAttachment",
];
const AGENT: [&str; 4] = ["agent.init", "agent.available", "agent.run", "ping"];
const WORKFLOW: [&str; 3] = ["workflow.init", "workflow.evaluateGuard", "workflow.executeEffect"];

fn kind(method: &str) -> &str {
    match method.split_once('.') {
        Some((kind, _)) => kind,
        None => "agent",
    }
}

/// Asks a plugin for a method; what comes of it.
async fn ask(one: &One, method: &str) -> GuestError {
    let result = match kind(method) {
        "provider" => ask_provider(one, method).await,
        "agent" => ask_agent(one, method).await,
        _ => ask_workflow(one, method).await,
    };
    result.unwrap_err()
}

async fn ask_provider(one: &One, method: &str) -> Result<(), GuestError> {
    let (provider, key, tags) = (one.provider(), "PROJ-123".to_owned(), vec!["a".to_owned()]);
    let reference = "jira:PROJ-123".to_owned();
    match method {
        "provider.init" | "provider.parse" => provider.resolve(reference).await.map(drop),
        "provider.match" => provider.claims(reference).await.map(drop),
        "provider.fetch" => provider.fetch(key).await.map(drop),
        "provider.snapshot" => provider.snapshot(key).await.map(drop),
        "provider.list" => provider.list(Default::default()).await.map(drop),
        "provider.addComment" => provider.comment(key, "x".to_owned()).await,
        "provider.updateStatus" => provider.set_status(key, "closed".to_owned()).await,
        "provider.fetchComments" => provider.comments(key).await.map(drop),
        "provider.addLabels" => provider.set_tags(key, tags, true).await,
        "provider.removeLabels" => provider.set_tags(key, tags, false).await,
        "provider.linkBranch" => provider.set_branch(key, "b".to_owned(), true).await,
        "provider.unlinkBranch" => provider.set_branch(key, "b".to_owned(), false).await,
        "provider.getLinkedBranch" => provider.branch(key).await.map(drop),
        "provider.createPR" => {
            let text = || "t".to_owned();
            let proposal = Proposal {
                key: Some(key),
                title: text(),
                description: text(),
                from: text(),
                into: text(),
                draft: false,
            };
            provider.propose(proposal).await.map(drop)
        }
        "provider.downloadAttachment" => provider.attachment(key, "a1".to_owned()).await.map(drop),
        other => panic!("{other}"),
    }
}

async fn ask_agent(one: &One, method: &str) -> Result<(), GuestError> {
    match method {
        "agent.init" | "agent.available" => one.agent().ready().await,
        "ping" => one.plugin.ping().await.map_err(GuestError::from),
        _ => {
            let request = AgentRequest { text: "go".to_owned(), ..AgentRequest::default() };
            let mut run = one.agent().run(request).await?;
            while let Some(part) = run.parts.next().await {
                if let AgentPart::Call(call) = part? {
                    run.results.give(&call.id, "a.py".to_owned())?;
                }
            }
            Ok(())
        }
    }
}

async fn ask_workflow(one: &One, method: &str) -> Result<(), GuestError> {
    let hook = one.workflow();
    match method {
        "workflow.init" => hook.parts().await.map(drop),
        "workflow.evaluateGuard" => hook.guard("g".to_owned(), moment()).await.map(drop),
        _ => hook.effect("e".to_owned(), moment()).await.map(drop),
    }
}

#[tokio::test]
async fn one_that_dies_is_told_in_every_method_there_is() {
    for method in PROVIDER.iter().chain(&AGENT).chain(&WORKFLOW) {
        let one = One::new(kind(method), &[&format!("die:{method}")]);
        let words =
            format!("plugin `one`, `{method}`: it ended with exit status 3\n  stderr: dying in {method}");
        assert_eq!(ask(&one, method).await, GuestError::Gone(words));
        one.host.stop().await;
    }
}

#[tokio::test]
async fn one_that_dies_over_the_result_of_a_tool_fails_the_run_that_wanted_it() {
    let one = One::new("agent", &["tools", "die:agent.tool_result"]);
    let words =
        "plugin `one`, `agent.run`: it ended with exit status 3\n  stderr: dying in agent.tool_result";
    assert_eq!(ask(&one, "agent.run").await, GuestError::Gone(words.to_owned()));
    one.agent().ready().await.unwrap();
    assert_eq!(one.starts(), 2, "the next one is a fresh process");
    one.host.stop().await;
}

#[tokio::test]
async fn one_that_dies_when_it_is_told_to_leave_has_left() {
    let one = One::new("provider", &["die:shutdown"]);
    one.provider().resolve("jira:PROJ-1".to_owned()).await.unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    one.host.stop().await;
    assert!(!is_alive(&pid));
    assert_eq!(one.requests("shutdown").len(), 1);
}

/// Limits so short for one method, and long for all others.
fn limited(method: &str, limit: Duration) -> Limits {
    let long = Limits { init: PATIENCE, question: PATIENCE, provider: PATIENCE, ..Limits::default() };
    let long = Limits { guard: PATIENCE, effect: PATIENCE, ..long };
    match method {
        "provider.init" | "agent.init" | "workflow.init" => Limits { init: limit, ..long },
        "agent.run" => Limits { run_silence: limit, ..long },
        "workflow.evaluateGuard" => Limits { guard: limit, ..long },
        "workflow.executeEffect" => Limits { effect: limit, ..long },
        "provider.match" | "provider.parse" | "agent.available" | "ping" => {
            Limits { question: limit, ..long }
        }
        _ => Limits { provider: limit, ..long },
    }
}

/// What is told of a plugin that does not answer. A busy machine may need more than the limit before the plugin even
/// begins to hang; then it gets more.
async fn told_late(method: &str, habits: &[&str], last_word: &str) {
    let mut limit = SHORT;
    loop {
        let one = One::within(kind(method), habits, |home| home.limits = limited(method, limit));
        let error = ask(&one, method).await;
        one.host.stop().await;
        let GuestError::TimedOut(words) = &error else { panic!("{method}: {error:?}") };
        let first = format!(
            "plugin `one`, `{method}`: it did not answer within {} s and was stopped",
            limit.as_secs_f32()
        );
        assert_eq!(words.lines().next(), Some(first.as_str()));
        if words.lines().last() == Some(&format!("  stderr: {last_word}")) {
            return;
        }
        assert!(limit < PATIENCE, "its last words are missing: {words}");
        limit *= 2;
    }
}

#[tokio::test]
async fn one_that_hangs_is_told_with_its_last_words() {
    for method in [
        "provider.init",
        "provider.match",
        "provider.parse",
        "provider.fetch",
        "provider.snapshot",
        "provider.list",
    ]
    .iter()
    .chain(&AGENT)
    .chain(&WORKFLOW)
    {
        told_late(method, &[&format!("hang:{method}")], &format!("hanging in {method}")).await;
    }
}

#[tokio::test]
async fn an_answer_with_a_wrong_id_is_told_with_the_last_words() {
    let method = "provider.match";
    told_late(method, &["grumble", "wrong-id:provider.match"], "grumbling in provider.match").await;
}

#[tokio::test]
async fn a_bad_answer_is_told_with_the_last_words() {
    for (habit, method, what) in [
        ("text-error", "provider.fetch", "it answered: no such code (-32000)"),
        ("wrapped-error", "provider.fetch", "it answered: Task not found (-32005)"),
        ("null-id", "provider.fetch", "it answered: Parse error: x (-32700)"),
        ("odd-shape", "provider.match", "its answer has the wrong shape: matches: "),
        ("code:provider.fetch:-32603", "provider.fetch", "it answered: as told (-32603)"),
        ("wrapped-error", "agent.available", "it answered: Task not found (-32005)"),
        ("text-error", "workflow.evaluateGuard", "it answered: no such code (-32000)"),
    ] {
        let habit = if habit.contains(':') { habit.to_owned() } else { format!("{habit}:{method}") };
        let one = One::new(kind(method), &["grumble", &habit]);
        let first = format!("plugin `one`, `{method}`: {what}");
        let last = format!("  stderr: grumbling in {method}");
        // What is on stderr comes another way than the answer, and may be behind it.
        loop {
            let words = ask(&one, method).await.to_string();
            assert!(words.lines().next().is_some_and(|line| line.starts_with(&first)), "{habit}: {words}");
            if words.lines().last() == Some(last.as_str()) {
                break;
            }
        }
        assert_eq!(one.starts(), 1, "it is well");
        one.host.stop().await;
    }
}

#[tokio::test]
async fn one_that_writes_too_much_is_told_with_its_last_words() {
    for (habit, method, what) in [
        ("long", "provider.snapshot", "it wrote a line of more than 67108864 bytes and was stopped"),
        (
            "flood-stdout",
            "provider.fetch",
            "it wrote more than 100000 lines that are no messages and was stopped",
        ),
    ] {
        let one = One::new("provider", &["grumble", &format!("{habit}:{method}")]);
        let words = format!("plugin `one`, `{method}`: {what}\n  stderr: ");
        let error = ask(&one, method).await;
        // Its last words: what it grumbled, or as much as Python could say of being stopped.
        assert!(matches!(&error, GuestError::Gone(told) if told.starts_with(&words)), "{error}");
        one.host.stop().await;
    }
}
