//! Commands: run by the server, confined and watched, or by a client that reports.

use loggia_domain::{
    Abilities, CommandExit, CommandMode, CommandReport, EventBody, Intent, OutputStream, Passing, Policy,
    Preset, Role, SandboxLevel, TurnEnd,
};
use loggia_engine::{IntentError, Told};
use loggia_tests::Write;

use crate::{world, world_with};

/// One turn that runs a command.
pub(crate) fn runs(line: &str) -> String {
    format!(
        "[[reply]]\nparts = [{{ call = {{ tool = \"run_command\", arguments = {{ command = '''{line}''' }} }} }}]\n\
         [[reply]]\nparts = [{{ text = \"ran\" }}]\n"
    )
}

#[tokio::test]
async fn a_commands_output_is_streamed_and_its_end_told() {
    let world = world().start(&runs("echo out; echo err >&2; exit 3")).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.prompt("run").await.unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    let summary = alice
        .until(|told| match told {
            Told::Passing(passing) => {
                if let Passing::ToolOutput { stream, chunk, .. } = &**passing {
                    match stream {
                        OutputStream::Stdout => out.push_str(chunk),
                        OutputStream::Stderr => err.push_str(chunk),
                    }
                }
                None
            }
            Told::Event(event) => match &event.body {
                EventBody::ToolEnded { command, .. } => Some(command.unwrap()),
                _ => None,
            },
            Told::Reply(_) => None,
        })
        .await;
    assert_eq!((out.as_str(), err.as_str()), ("out\n", "err\n"));
    assert_eq!(summary.exit, CommandExit::Code(3));
    assert!(summary.sandbox.unwrap() >= SandboxLevel::Confined, "{summary:?}");
    alice.until_done().await;
}

#[tokio::test]
async fn a_command_is_held_to_the_policys_limits() {
    let world = world().start(&runs("yes | head -c 100000; sleep 1000")).await;
    world.change_policy(|policy| {
        policy.limits.command_timeout_s = 1;
        policy.limits.output_bytes = 1000;
    });
    let (session, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("run").await, TurnEnd::Done);
    let ended = world.journal(session).await.into_iter().find_map(|event| match event.body {
        EventBody::ToolEnded { command, outcome, .. } => {
            Some((command.unwrap().exit, format!("{outcome:?}")))
        }
        _ => None,
    });
    let (exit, told) = ended.unwrap();
    assert_eq!(exit, CommandExit::TimedOut);
    assert!((1000..10_000).contains(&told.len()), "of 100,000 bytes 1,000 are kept: {}", told.len());
}

#[tokio::test]
async fn what_a_command_changed_is_shown_and_undone() {
    let line = "printf 'two\\n' > a.txt; rm b.txt; mkdir d; echo new > d/c.txt; chmod +x keep.sh; echo ignored > x.log";
    let files =
        [("a.txt", "one\n"), ("b.txt", "gone\n"), ("keep.sh", "#!/bin/sh\n"), (".gitignore", "*.log\n")];
    let world = world_with(&files, &runs(line)).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("run").await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "two\n");
    insta::assert_snapshot!(alice.text());
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("one\n".to_owned(), "gone\n".to_owned()));
    assert!(!world.root().join("d").exists());
    assert!(world.root().join("x.log").exists(), "what is ignored is not ours to undo");
    alice.seat.intend(Intent::Redo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("d/c.txt"), "new\n");
    assert!(!world.root().join("b.txt").exists());
}

#[tokio::test]
async fn cancelling_ends_a_stuck_command_and_what_it_did_can_be_undone() {
    let world = world_with(&[("a.txt", "one\n")], &runs("echo two > a.txt; echo started; sleep 1000")).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.prompt("run").await.unwrap();
    alice
        .until(|told| match told {
            Told::Passing(passing) => matches!(&**passing, Passing::ToolOutput { .. }).then_some(()),
            _ => None,
        })
        .await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    alice.until_event(|event| matches!(event.body, EventBody::FilesChanged { .. }).then_some(())).await;
    assert_eq!(world.read("a.txt"), "two\n");
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_cancel_right_after_a_command_loses_nothing_of_what_it_changed() {
    let world = world_with(&[("a.txt", "one\n")], &runs("echo two > a.txt")).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    // The command has ended, and what it changed is known and not yet in the journal.
    world.disk.hold(Write::Blob);
    alice.prompt("run").await.unwrap();
    world.disk.holds_one().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    world.disk.heal();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    alice.until_event(|event| matches!(event.body, EventBody::FilesChanged { .. }).then_some(())).await;
    assert_eq!(world.read("a.txt"), "two\n");
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_client_with_a_terminal_runs_the_command_and_reports() {
    let world = world().start(&runs("make test")).await;
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { runs_commands: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    alice.decide(approval, loggia_domain::ApprovalScope::All).await.unwrap();
    let call = alice
        .until_event(|event| match &event.body {
            EventBody::ToolStarted { call, .. } => Some(*call),
            _ => None,
        })
        .await;
    let report = CommandReport {
        exit: CommandExit::Code(0),
        stdout: "all green\n".to_owned(),
        stderr: String::new(),
        milliseconds: 12,
    };
    alice.seat.intend(Intent::ReportCommand { call, report: report.clone() }).await.unwrap();
    alice.until_done().await;
    insta::assert_snapshot!(alice.text());
    let late = alice.seat.intend(Intent::ReportCommand { call, report }).await;
    assert!(matches!(late, Err(IntentError::UnknownCall(_))));
}

#[tokio::test]
async fn without_such_a_client_the_server_runs_it_only_if_the_policy_says_so() {
    let world = world().start(&runs("echo hi")).await;
    let policy = Policy {
        command_mode: CommandMode::LocalTerminal,
        fallback_to_server_runner: false,
        ..Policy::default()
    };
    world.engine.set_policy(world.workspace.id, policy, 0).unwrap();
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(alice.play("run").await, TurnEnd::Done);
    assert!(alice.text().contains("no client that can run one is connected"), "{}", alice.text());
}

#[tokio::test]
async fn a_command_that_the_built_in_rules_forbid_is_never_asked_about() {
    let world = world().start(&[runs("sudo id"), runs("rm -rf /"), runs("cat .env")].concat()).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    for _ in 0..3 {
        alice.play("run").await;
    }
    let text = alice.text();
    assert_eq!(text.matches(" denied: ").count(), 3, "{text}");
    assert!(!text.contains("ask#"), "{text}");
}

#[tokio::test]
async fn a_change_of_policy_holds_from_the_next_call_on() {
    let world = world().start(&[runs("echo one"), runs("echo one")].concat()).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("run").await;
    let rule = loggia_domain::Rule {
        tool: None,
        path: None,
        command: Some("echo *".to_owned()),
        decision: loggia_domain::Decision::Deny,
        risk: None,
        reason: Some("quiet, please".to_owned()),
        examples: Vec::new(),
    };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let saved = world.engine.set_policy(world.workspace.id, policy.clone(), 0).unwrap();
    assert_eq!(saved.revision, 1);
    assert!(world.engine.set_policy(world.workspace.id, policy, 0).is_err(), "the revision has moved on");
    alice.play("run").await;
    assert!(alice.text().contains("quiet, please"), "{}", alice.text());
}

#[tokio::test]
async fn secrets_are_masked_wherever_output_goes() {
    let script = [runs("cat notes.txt"), runs("true")].concat();
    let world = world()
        .file("notes.txt", "the key is hunter2-hunter2 and ghp_0123456789abcdefghijABCDEFGHIJ012345\n")
        .secret("hunter2-hunter2")
        .start(&script)
        .await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.prompt("run").await.unwrap();
    let mut streamed = String::new();
    alice
        .until(|told| match told {
            Told::Passing(passing) => {
                if let Passing::ToolOutput { chunk, .. } = &**passing {
                    streamed.push_str(chunk);
                }
                None
            }
            Told::Event(event) => matches!(event.body, EventBody::TurnEnded { .. }).then_some(()),
            Told::Reply(_) => None,
        })
        .await;
    let lines = world.engine.export_session(session, loggia_domain::Seq(0)).await.unwrap();
    let journal: String = lines.into_iter().map(|(_, line)| line).collect();
    for text in [streamed, journal, alice.text()] {
        assert!(!text.contains("hunter2") && !text.contains("ghp_0123"), "{text}");
    }
}

#[tokio::test]
async fn a_policy_edited_by_hand_holds_from_the_next_call_on() {
    let world = world().start(&[runs("echo one"), runs("echo one")].concat()).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("run").await;
    world.engine.set_policy(world.workspace.id, Policy::default(), 0).unwrap();
    let file = world.policy_file();
    let text = std::fs::read_to_string(&file).unwrap();
    let rule = "\n[[rules]]\ncommand = \"echo *\"\ndecision = \"deny\"\nreason = \"quiet, please\"\n";
    std::fs::write(&file, format!("{text}{rule}")).unwrap();
    alice.play("run").await;
    assert!(alice.text().contains("quiet, please"), "{}", alice.text());
}
