//! Processes: started when needed, started again, given up, stopped, and never left behind.

use loggia_domain::{GuestError, ProviderAbility, StepMoment, TaskProvider};
use loggia_plugins::{GuestProvider, Limits, PluginState};

use crate::support::{Home, One, SHORT, eventually, is_alive, lines};
use crate::workflows::moment;

const REFERENCE: &str = "jira:PROJ-123";

async fn resolve(one: &One) -> Result<String, GuestError> {
    one.provider().resolve(REFERENCE.to_owned()).await
}

fn quick(home: &mut Home) {
    home.limits = Limits { stop_answer: SHORT, stop_exit: SHORT, stop_signal: SHORT, ..home.limits };
}

#[tokio::test]
async fn nothing_runs_until_it_is_needed() {
    let one = One::new("provider", &[]);
    let provider = one.provider();
    assert!(provider.can(ProviderAbility::List) && provider.schemes() == ["jira"]);
    assert_eq!((one.starts(), &one.host.list()[0].state), (0, &PluginState::Enabled));
    resolve(&one).await.unwrap();
    let pid = one.plugin.sketch().pid.unwrap();
    assert_eq!((one.starts(), &one.host.list()[0].state), (1, &PluginState::Running(pid)));
    one.host.stop().await;
    assert_eq!(one.host.list()[0].state, PluginState::Enabled);
}

#[tokio::test]
async fn a_plugin_is_asked_one_thing_at_a_time() {
    let one = One::new("provider", &[]);
    let provider = one.provider();
    let calls = (0..20).map(|number| provider.resolve(format!("jira:PROJ-{number}")));
    let answers = futures_util::future::join_all(calls).await;
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), format!("PROJ-{number}"));
    }
    let ids: Vec<u64> =
        one.requests("provider.parse").iter().map(|request| request["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (2..22).collect::<Vec<_>>());
    assert_eq!(one.starts(), 1);
    one.host.stop().await;
}

#[tokio::test]
async fn plugins_do_not_wait_for_each_other() {
    let mut home = Home::new();
    home.add("provider", "slow", &["hang:provider.fetch"]);
    home.add("provider", "quick", &[]);
    let host = home.host();
    let [slow, quick] =
        ["slow", "quick"].map(|name| GuestProvider::of(host.get(name).unwrap().clone()).unwrap());
    let hanging = tokio::spawn(async move { slow.fetch("PROJ-1".to_owned()).await });
    let asked = home.of("slow").join("requests.log");
    eventually("the slow call", || lines(&asked).len() == 2).await;
    assert_eq!(quick.resolve(REFERENCE.to_owned()).await.unwrap(), "PROJ-123");
    assert!(!hanging.is_finished());
    host.stop().await;
    let error = hanging.await.unwrap().unwrap_err();
    assert!(matches!(&error, GuestError::Gone(words) if words.contains("it is being stopped")), "{error}");
}

#[tokio::test]
async fn a_plugin_that_dies_in_a_method_is_told_with_its_last_words_and_started_again() {
    for method in ["provider.match", "provider.parse", "provider.fetch", "provider.snapshot", "provider.list"]
    {
        let one = One::new("provider", &[&format!("die:{method}")]);
        let provider = one.provider();
        let key = || "PROJ-123".to_owned();
        let error = match method {
            "provider.match" => provider.claims(REFERENCE.to_owned()).await.unwrap_err(),
            "provider.parse" => provider.resolve(REFERENCE.to_owned()).await.unwrap_err(),
            "provider.fetch" => provider.fetch(key()).await.unwrap_err(),
            "provider.snapshot" => provider.snapshot(key()).await.unwrap_err(),
            _ => provider.list(Default::default()).await.unwrap_err(),
        };
        let expected =
            format!("plugin `one`, `{method}`: it ended with exit status 3\n  stderr: dying in {method}");
        assert_eq!(error, GuestError::Gone(expected));
        one.plugin.ping().await.unwrap();
        assert_eq!(one.starts(), 2);
        one.host.stop().await;
    }
}

#[tokio::test]
async fn agents_and_workflows_that_die_are_told_the_same_way() {
    let one = One::new("agent", &["die:agent.available"]);
    let words = one.agent().ready().await.unwrap_err().to_string();
    assert!(words.ends_with("it ended with exit status 3\n  stderr: dying in agent.available"), "{words}");
    one.host.stop().await;
    for method in ["workflow.init", "workflow.evaluateGuard", "workflow.executeEffect"] {
        let one = One::new("workflow", &[&format!("die:{method}")]);
        let hook = one.workflow();
        let moment: StepMoment = moment();
        let error = match method {
            "workflow.init" => hook.parts().await.unwrap_err(),
            "workflow.evaluateGuard" => hook.guard("g".to_owned(), moment).await.unwrap_err(),
            _ => hook.effect("e".to_owned(), moment).await.unwrap_err(),
        };
        let expected =
            format!("plugin `one`, `{method}`: it ended with exit status 3\n  stderr: dying in {method}");
        assert_eq!(error, GuestError::Gone(expected));
        one.host.stop().await;
    }
}

#[tokio::test]
async fn a_plugin_that_fails_three_times_in_a_row_is_given_up_until_it_is_revived() {
    let one = One::new("provider", &["die:provider.init"]);
    for _ in 0..3 {
        let error = resolve(&one).await.unwrap_err();
        assert!(error.to_string().contains("`provider.init`: it ended with exit status 3"), "{error}");
    }
    let expected = "plugin `one`, `provider.parse`: it is not started any more after 3 failures in a row, \
                    until `loggia plugin enable` turns it on again; \
                    the last: `provider.init`: it ended with exit status 3\n  stderr: dying in provider.init";
    assert_eq!(resolve(&one).await.unwrap_err(), GuestError::Gone(expected.to_owned()));
    assert_eq!(one.starts(), 3);
    assert!(matches!(&one.host.list()[0].state, PluginState::GivenUp(why) if why.contains("provider.init")));
    one.plugin.revive();
    resolve(&one).await.unwrap_err();
    assert_eq!(one.starts(), 4);
    one.host.stop().await;
}

#[tokio::test]
async fn an_answer_in_between_clears_the_record() {
    let one = One::new("provider", &["die:provider.fetch"]);
    for _ in 0..4 {
        one.provider().fetch("PROJ-1".to_owned()).await.unwrap_err();
        resolve(&one).await.unwrap();
    }
    assert_eq!(one.starts(), 5);
    one.host.stop().await;
}

#[tokio::test]
async fn a_plugin_that_ends_between_calls_is_started_again() {
    let one = One::new("provider", &["once:provider.parse"]);
    for round in 1..=4 {
        resolve(&one).await.unwrap();
        eventually("its end", || one.plugin.sketch().pid.is_none()).await;
        assert_eq!(one.starts(), round);
    }
    one.host.stop().await;
}

#[tokio::test]
async fn an_init_that_never_answers_runs_out() {
    let one = One::within("provider", &["hang:provider.init"], |home| {
        home.limits = Limits { init: SHORT, ..home.limits };
    });
    let error = resolve(&one).await.unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, GuestError::TimedOut(_)));
    let expected = "plugin `one`, `provider.init`: it did not answer within 0.3 s and was stopped";
    assert_eq!(words.lines().next().unwrap(), expected);
    assert_eq!(one.plugin.sketch().pid, None);
    one.host.stop().await;
}

#[tokio::test]
async fn a_call_that_runs_out_stops_the_plugin_which_is_still_busy_with_it() {
    let one = One::within("provider", &["hang:provider.fetch"], |home| {
        home.limits = Limits { provider: SHORT, ..home.limits };
    });
    resolve(&one).await.unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    let error = one.provider().fetch("PROJ-1".to_owned()).await.unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, GuestError::TimedOut(_)), "{words}");
    let expected = "plugin `one`, `provider.fetch`: it did not answer within 0.3 s and was stopped";
    assert_eq!(words.lines().next().unwrap(), expected);
    eventually("its end", || !is_alive(&pid)).await;
    resolve(&one).await.unwrap();
    assert_eq!(one.starts(), 2);
    one.host.stop().await;
}

#[tokio::test]
async fn a_call_nobody_waits_for_any_more_stops_the_plugin() {
    let one = One::new("provider", &["hang:provider.fetch"]);
    resolve(&one).await.unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    let provider = one.provider();
    tokio::select! {
        _ = provider.fetch("PROJ-1".to_owned()) => panic!("it hangs"),
        () = eventually("the call", || one.requests("provider.fetch").len() == 1) => {}
    }
    eventually("its end", || !is_alive(&pid)).await;
    assert_eq!(one.plugin.sketch().pid, None);
    resolve(&one).await.unwrap();
    assert_eq!(one.starts(), 2);
    one.host.stop().await;
}

#[tokio::test]
async fn a_plugin_that_closes_its_output_and_stays_is_stopped() {
    let one = One::new("provider", &["close:provider.fetch"]);
    let error = one.provider().fetch("PROJ-1".to_owned()).await.unwrap_err();
    let expected = "plugin `one`, `provider.fetch`: it ended with its output closed, and was stopped";
    assert_eq!(error, GuestError::Gone(expected.to_owned()));
    let pid = one.lines("starts.log")[0].split(' ').next().unwrap().to_owned();
    eventually("its end", || !is_alive(&pid)).await;
    one.host.stop().await;
}

#[tokio::test]
async fn a_plugin_is_asked_to_leave_and_does() {
    let one = One::new("provider", &[]);
    resolve(&one).await.unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    one.host.stop().await;
    assert_eq!(one.params("shutdown"), "{}");
    assert_eq!(one.lines("left.log"), ["after shutdown"]);
    assert!(!is_alive(&pid));
    let error = resolve(&one).await.unwrap_err();
    assert!(error.to_string().ends_with("it is being stopped"), "{error}");
    assert_eq!(one.starts(), 1, "nothing is started after the stop");
}

#[tokio::test]
async fn a_plugin_that_does_not_know_shutdown_and_ping_leaves_when_its_input_ends() {
    let one = One::new("provider", &["unschooled"]);
    resolve(&one).await.unwrap();
    one.plugin.ping().await.unwrap();
    one.plugin.ping().await.unwrap();
    assert_eq!(one.requests("ping").len(), 2);
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    one.host.stop().await;
    assert_eq!(one.requests("shutdown").len(), 1);
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn a_plugin_that_hangs_in_shutdown_and_ignores_everything_is_killed() {
    let one = One::within("provider", &["hang:shutdown", "stubborn"], quick);
    resolve(&one).await.unwrap();
    let pid = one.plugin.sketch().pid.unwrap().to_string();
    one.host.stop().await;
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn a_stopped_plugin_is_started_again_when_it_is_needed() {
    let one = One::new("provider", &[]);
    resolve(&one).await.unwrap();
    one.plugin.stop().await;
    resolve(&one).await.unwrap();
    assert_eq!(one.starts(), 2);
    one.host.stop().await;
}

#[tokio::test]
async fn ping_is_answered_and_a_hang_in_it_is_none() {
    let one = One::new("provider", &[]);
    one.plugin.ping().await.unwrap();
    assert_eq!(one.params("ping"), "{}");
    one.host.stop().await;
    let one = One::within("provider", &["hang:ping"], |home| {
        home.limits = Limits { question: SHORT, ..home.limits };
    });
    let error = one.plugin.ping().await.unwrap_err();
    assert!(error.to_string().starts_with("plugin `one`, `ping`: it did not answer within 0.3 s"), "{error}");
    one.host.stop().await;
}

#[tokio::test]
async fn children_of_a_plugin_go_with_it() {
    let one = One::new("provider", &["fork:provider.fetch", "die:provider.parse"]);
    one.provider().fetch("PROJ-123".to_owned()).await.unwrap();
    let child = one.lines("child.pid").remove(0);
    assert!(is_alive(&child));
    // The child holds the plugin's output open, which keeps nobody waiting.
    let expected =
        "plugin `one`, `provider.parse`: it ended with exit status 3\n  stderr: dying in provider.parse";
    assert_eq!(resolve(&one).await.unwrap_err(), GuestError::Gone(expected.to_owned()));
    eventually("the child's end", || !is_alive(&child)).await;

    one.provider().fetch("PROJ-123".to_owned()).await.unwrap();
    let child = one.lines("child.pid").remove(1);
    assert!(is_alive(&child));
    one.host.stop().await;
    assert!(!is_alive(&child), "the host's stop waits for all of them");
}

#[tokio::test]
async fn dropping_a_host_leaves_nothing_behind() {
    let one = One::new("provider", &["fork:provider.fetch"]);
    one.provider().fetch("PROJ-123".to_owned()).await.unwrap();
    let pids = [one.plugin.sketch().pid.unwrap().to_string(), one.lines("child.pid").remove(0)];
    let One { home, host, plugin } = one;
    drop((host, plugin));
    for pid in pids {
        eventually("its end", || !is_alive(&pid)).await;
    }
    drop(home);
}

#[tokio::test]
async fn a_plugin_is_tried_whether_enabled_or_not() {
    let mut home = Home::new();
    home.add("workflow", "good", &[]);
    home.add("agent", "bad", &["code:agent.init:-32000"]);
    home.enabled.clear();
    let host = home.host();
    host.probe("good").await.unwrap().unwrap();
    let error = host.probe("bad").await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "plugin `bad`, `agent.init`: it answered: as told (-32000)");
    assert!(host.probe("none").await.is_none());
    assert!(host.get("good").is_none(), "it is still not enabled");
    host.stop().await;
}
