//! Several clients of several doors on one session.

use loggia_client::{Heard, SessionStream};
use loggia_protocol_agent_server::{ServerMessage, SessionId};
use serde_json::json;

use crate::rpc_agent::Agent;
use crate::stage::Stage;
use crate::turn;

/// Turns that ask: one for each who may answer, and one whose client leaves.
const FOUR: &str = r#"
[[reply]]
parts = [{ call = { tool = "run_command", arguments = { command = "echo one" } } }]
[[reply]]
parts = [{ text = "One." }]
[[reply]]
parts = [{ call = { tool = "run_command", arguments = { command = "echo two" } } }]
[[reply]]
parts = [{ text = "Two." }]
[[reply]]
parts = [{ call = { tool = "run_command", arguments = { command = "echo three" } } }]
[[reply]]
parts = [{ text = "Three." }]
[[reply]]
parts = [{ call = { tool = "run_command", arguments = { command = "echo four" } } }]
[[reply]]
parts = [{ text = "Four." }]
"#;

async fn until_final(stream: &mut SessionStream) -> String {
    loop {
        if let Heard::Message(ServerMessage::MessageFinal(last)) = stream.next().await.unwrap().unwrap() {
            return last.message;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_agents_and_a_web_client_see_the_same_turns_and_each_may_answer() {
    let stage = Stage::new();
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    let server = turn::start_playing(FOUR, &stage, &[], &[]);
    let mut one = Agent::start(stage.command(&["rpc"]));
    let session = one.session();
    let mut two = Agent::start(stage.command(&["rpc"]));
    assert_ne!(two.session(), session, "each begins on its own");
    let attached = two.call("session.attach", json!({"sessionId": session}));
    assert_eq!((&attached["success"], &attached["sessionId"]), (&json!(true), &json!(session)));
    let client = turn::client(&server);
    let session = SessionId(session);
    let mut web = client.follow(&session).named("web", "1").open().await.unwrap();

    for (answers, said) in [(0, "One."), (1, "Two."), (2, "Three.")] {
        one.prompt();
        let (asked_one, asked_two) = (one.until("permissionRequest"), two.until("permissionRequest"));
        assert_eq!(asked_one["requestId"], asked_two["requestId"]);
        let asked = turn::until_asked(&mut web).await;
        match answers {
            0 => assert_eq!(one.allow(&asked_one), json!({"success": true})),
            1 => assert_eq!(two.allow(&asked_two), json!({"success": true})),
            _ => web.speaker().decide(asked, true).await.unwrap(),
        }
        assert_eq!(until_final(&mut web).await, said);
        for agent in [&mut one, &mut two] {
            assert_eq!(agent.until("toolEnd")["success"], true);
            assert_eq!(agent.until("turnEnd")["reason"], "completed");
        }
        // Whoever comes too late is told so.
        assert_eq!(two.allow(&asked_two), json!({"success": false}));
    }

    // One who leaves takes nothing along while others are there, not even its own turn.
    one.prompt();
    let asked = two.until("permissionRequest");
    one.close();
    assert_eq!(one.end().code, Some(0));
    assert_eq!(two.allow(&asked), json!({"success": true}));
    assert_eq!(until_final(&mut web).await, "Four.");
    assert_eq!(two.until("turnEnd")["reason"], "completed");
    web.close().await;
    two.close();
    assert_eq!(two.end().code, Some(0));
    assert_eq!(turn::end(server).await.0, Some(0));
}
