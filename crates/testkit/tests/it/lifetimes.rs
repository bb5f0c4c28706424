//! Nobody outlives the one who started him.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggia_wire::child::{
    Environment, Exit, RestartPolicy, Restarts, SpawnError, StopActions, StopPlan, StopStep, Stopped,
    Verdict, spawn,
};
use tokio::io::AsyncReadExt;

use crate::support::{KIT, eventually, is_alive, keeper, part, pid_in, start};

const FAMILY: [&str; 4] = ["pid-parent", "pid-child", "pid-session", "pid-orphan"];

fn family_in(directory: &std::path::Path) -> Option<Vec<i32>> {
    FAMILY.iter().map(|file| pid_in(directory, file)).collect()
}

#[expect(clippy::disallowed_methods, reason = "the daemon itself, to be killed")]
#[tokio::test]
async fn nothing_survives_the_daemons_kill_9_not_even_grandchildren_in_their_own_session() {
    let directory = tempfile::tempdir().unwrap();
    let mut daemon = tokio::process::Command::new(KIT).arg("daemon").arg(directory.path()).spawn().unwrap();
    eventually("the family's start", || {
        directory.path().join("daemon-ready").exists() && family_in(directory.path()).is_some()
    })
    .await;
    let family = family_in(directory.path()).unwrap();
    assert!(family.iter().all(|pid| is_alive(*pid)), "the family lives before its daemon is killed");
    daemon.kill().await.unwrap();
    for (pid, who) in family.iter().zip(FAMILY) {
        eventually(&format!("the end of {who}"), || !is_alive(*pid)).await;
    }
}

#[tokio::test]
async fn dropping_a_child_kills_its_whole_family() {
    let directory = tempfile::tempdir().unwrap();
    let child = start(&["family", directory.path().to_str().unwrap()]).await;
    eventually("the family's start", || family_in(directory.path()).is_some()).await;
    let family = family_in(directory.path()).unwrap();
    drop(child);
    for pid in family {
        eventually("the end of the family", || !is_alive(pid)).await;
    }
}

#[tokio::test]
async fn a_program_that_ends_takes_what_it_left_in_the_background_along() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let mut child = start(&["orphan-maker", file.to_str().unwrap()]).await;
    assert_eq!(child.exited().await, Exit::Code(0));
    let pid = pid_in(directory.path(), "pid").unwrap();
    eventually("the end of the background process", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_killed_keeper_is_noticed_and_its_group_killed() {
    let mut child = start(&["stubborn"]).await;
    let pid = child.pid();
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let keeper: i32 =
        status.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    let name = std::fs::read_to_string(format!("/proc/{keeper}/comm")).unwrap();
    assert_eq!(name.trim(), "guest-keeper", "killing us by name does not hit keepers");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(keeper).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    assert_eq!(child.exited().await, Exit::Lost);
    eventually("the end of the group", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_killed_keeper_takes_children_in_other_sessions_along() {
    let directory = tempfile::tempdir().unwrap();
    let child = start(&["family", directory.path().to_str().unwrap()]).await;
    eventually("the family's start", || family_in(directory.path()).is_some()).await;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    let keeper: i32 =
        stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(keeper).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    for file in ["pid-parent", "pid-child", "pid-session"] {
        let pid = pid_in(directory.path(), file).unwrap();
        eventually(&format!("the end of {file}"), || !is_alive(pid)).await;
    }
    // The orphan had left both its parent and the group; it is beyond what anybody can find.
    let orphan = pid_in(directory.path(), "pid-orphan").unwrap();
    let _ = rustix::process::kill_process(
        rustix::process::Pid::from_raw(orphan).unwrap(),
        rustix::process::Signal::KILL,
    );
}

#[tokio::test]
async fn a_keeper_asked_to_end_ends_its_program() {
    let mut child = start(&["stubborn"]).await;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    let keeper: i32 =
        stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(keeper).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert_eq!(child.exited().await, Exit::Signal(9));
}

#[tokio::test]
async fn exit_statuses_and_signals_are_told_apart() {
    assert_eq!(start(&["exit", "0"]).await.exited().await, Exit::Code(0));
    assert_eq!(start(&["exit", "7"]).await.exited().await, Exit::Code(7));
    let mut child = start(&["stubborn"]).await;
    child.kill().await;
    assert_eq!(child.exited().await, Exit::Signal(9));
    assert_eq!(child.try_exit(), Some(Exit::Signal(9)));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_that_names_it() {
    let spec = loggia_wire::child::ChildSpec::new("nobody", "/no/such/program");
    let error = spawn(&keeper(), spec).await.unwrap_err();
    assert!(
        matches!(&error, SpawnError::Program { program, .. } if program == "/no/such/program"),
        "{error}"
    );
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    let error = spawn(&keeper(), part(&["exit", "0"]).cwd("/no/such/directory")).await.unwrap_err();
    assert!(matches!(error, SpawnError::Program { .. }), "{error}");
    let nobody = loggia_wire::child::Keeper::new("/no/such/keeper", ["keep"]);
    let error = spawn(&nobody, part(&["exit", "0"])).await.unwrap_err();
    assert!(matches!(error, SpawnError::Keeper { .. }), "{error}");
}

#[tokio::test]
async fn arguments_directory_and_environment_reach_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().canonicalize().unwrap();
    let spec = loggia_wire::child::ChildSpec::new("shell", "/bin/sh")
        .args(["-c", "pwd; echo \"$0 $GREETING ${HOME-unset}\"; cat", "an argument"])
        .cwd(&real)
        .environment(Environment::Exactly(vec![("GREETING".into(), "hello".into())]));
    let mut child = spawn(&keeper(), spec).await.unwrap();
    let (mut stdout, stdin) = child.take_streams().unwrap();
    drop(stdin);
    let mut text = String::new();
    stdout.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, format!("{}\nan argument hello unset\n", real.display()));
    assert_eq!(child.exited().await, Exit::Code(0));
}

#[tokio::test]
async fn stderr_is_drained_heard_and_its_end_kept() {
    let heard = Arc::new(Mutex::new(0));
    let count = heard.clone();
    let mut spec = part(&["noisy"]);
    spec.on_stderr = Some(Arc::new(move |_| *count.lock().unwrap() += 1));
    let mut child = spawn(&keeper(), spec).await.unwrap();
    let ended = child.ended().await;
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(
        ended.to_string(),
        "`noisy` ended with exit status 0\n  line 19997\n  line 19998\n  line 19999\n  \
         [line is over the limit of 8192 bytes]\n  the last words"
    );
    let tail = child.stderr().lines();
    assert_eq!(tail.len(), 40);
    assert_eq!(tail[37..], ["line 19999", "[line is over the limit of 8192 bytes]", "the last words"]);
    assert_eq!(*heard.lock().unwrap(), 20_002);
}

#[tokio::test]
async fn a_listener_that_panics_does_not_hurt_the_program() {
    let mut spec = part(&["noisy"]);
    spec.on_stderr = Some(Arc::new(|_| panic!("a listener's own fault")));
    let mut child = spawn(&keeper(), spec).await.unwrap();
    let ended = child.ended().await;
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(ended.stderr.last().unwrap(), "the last words");
}

#[tokio::test]
async fn an_inherited_environment_is_ours_with_changes() {
    let spec = loggia_wire::child::ChildSpec::new("shell", "/bin/sh")
        .args(["-c", "echo \"$PATH|$GREETING\" >&2"])
        .environment(Environment::Inherit(vec![("GREETING".into(), "hello".into())]));
    let ended = spawn(&keeper(), spec).await.unwrap().ended().await;
    assert_eq!(ended.stderr, [format!("{}|hello", std::env::var("PATH").unwrap())]);
}

#[tokio::test]
async fn a_program_has_a_group_and_a_session_of_its_own() {
    let child = start(&["stubborn"]).await;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    let [_state, keeper, group, session, terminal] = fields[..5] else { panic!("{stat}") };
    assert_eq!(group, child.pid().to_string(), "it leads its group");
    assert_eq!(session, keeper, "its session is its keeper's");
    assert_eq!(terminal, "0", "and has no terminal");
}

const SECOND: Duration = Duration::from_secs(1);

/// The step before `last` is given little time and the last much: what should happen may take long on a busy machine.
fn plan(last: StopStep) -> StopPlan {
    let steps = [StopStep::Ask, StopStep::Wait, StopStep::CloseInput, StopStep::Terminate];
    let short = Duration::from_millis(50);
    StopPlan::new(steps.map(|step| (step, if step == last { 60 * SECOND } else { short })))
}

async fn eventually_says_ready(child: &mut loggia_wire::child::Child) {
    let tail = child.stderr().clone();
    eventually("the word that it is ready", || tail.lines() == ["ready"]).await;
}

#[tokio::test]
async fn stopping_goes_no_further_than_it_must() {
    // Goes at the end of its input.
    let stopped = start(&["until-eof"]).await.stop(&plan(StopStep::CloseInput), StopActions::none()).await;
    assert_eq!(stopped, Stopped { exit: Some(Exit::Code(0)), step: Some(StopStep::CloseInput) });

    // Ignores its input and SIGTERM.
    let mut stubborn = start(&["stubborn"]).await;
    eventually_says_ready(&mut stubborn).await;
    let stopped = stubborn.stop(&plan(StopStep::Kill), StopActions::none()).await;
    assert_eq!(stopped, Stopped { exit: Some(Exit::Signal(9)), step: Some(StopStep::Kill) });

    // Dies of SIGTERM: a shell that waits.
    let spec = loggia_wire::child::ChildSpec::new("shell", "/bin/sh").args(["-c", "sleep 60"]);
    let mut shell = spawn(&keeper(), spec).await.unwrap();
    let stopped = shell.stop(&plan(StopStep::Terminate), StopActions::none()).await;
    assert_eq!(stopped, Stopped { exit: Some(Exit::Signal(15)), step: Some(StopStep::Terminate) });

    // Has gone already.
    let mut gone = start(&["exit", "3"]).await;
    gone.exited().await;
    let stopped = gone.stop(&plan(StopStep::Kill), StopActions::none()).await;
    assert_eq!(stopped, Stopped { exit: Some(Exit::Code(3)), step: None });
}

#[tokio::test]
async fn a_program_that_does_not_answer_the_request_is_not_waited_for() {
    let mut child = start(&["stubborn"]).await;
    let plan = StopPlan::new([
        (StopStep::Ask, Duration::from_millis(20)),
        // Would take far longer than the test may.
        (StopStep::Wait, 100 * SECOND),
    ]);
    let actions = StopActions { ask: Box::pin(std::future::pending()), close_input: Box::new(|| {}) };
    let stopped = child.stop(&plan, actions).await;
    assert_eq!(stopped, Stopped { exit: Some(Exit::Signal(9)), step: Some(StopStep::Kill) });
}

#[tokio::test]
async fn a_program_that_answers_and_leaves_is_not_killed() {
    let (mut child, peer, _task) =
        crate::support::converse(&["echo", "lines"], loggia_wire::peer::Router::new()).await;
    let asked = peer.clone();
    let closing = peer.clone();
    let actions = StopActions {
        ask: Box::pin(async move {
            asked
                .call::<loggia_testkit::methods::Echo>(&serde_json::json!({"bye": true}).into())
                .await
                .unwrap();
        }),
        close_input: Box::new(move || closing.close_writing()),
    };
    let plan = StopPlan::new([(StopStep::Ask, 5 * SECOND), (StopStep::CloseInput, 5 * SECOND)]);
    let stopped = child.stop(&plan, actions).await;
    assert_eq!(stopped, Stopped { exit: Some(Exit::Code(0)), step: Some(StopStep::CloseInput) });
}

#[tokio::test]
async fn a_program_that_keeps_ending_is_started_again_and_then_given_up() {
    let policy = RestartPolicy {
        first_pause: Duration::from_millis(1),
        longest_pause: Duration::from_millis(2),
        give_up_after: 3,
        well_after: 60 * SECOND,
    };
    let mut restarts = Restarts::new(policy);
    let mut starts = 0;
    loop {
        starts += 1;
        let born = std::time::Instant::now();
        let mut child = start(&["exit", "1"]).await;
        child.exited().await;
        match restarts.ended(born.elapsed()) {
            Verdict::RestartAfter(pause) => tokio::time::sleep(pause).await,
            Verdict::GiveUp { ends } => {
                assert_eq!((ends, starts), (3, 3));
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_group_is_found_again_by_its_mark() {
    let mut child = start(&["stubborn"]).await;
    let mark = child.mark().unwrap();
    assert!(mark.kill_group());
    assert_eq!(child.exited().await, Exit::Signal(9));
    eventually("the end of the group", || !is_alive(mark.pid)).await;
    assert!(!mark.kill_group(), "there is nobody left with that mark");
}

#[tokio::test]
async fn no_zombies_are_left_behind() {
    for _ in 0..5 {
        start(&["exit", "0"]).await.exited().await;
    }
    // Tests of one process share it; only keepers that ended are looked at, and every one is reaped soon.
    eventually("the reaping of every keeper", || dead_children_of(std::process::id()) == 0).await;
}

fn dead_children_of(parent: u32) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_dead_child = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&parent.to_string())
    };
    stats.filter(is_dead_child).count()
}
