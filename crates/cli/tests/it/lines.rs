//! Everything as JSON Lines.

use loggia_cli::{Approvals, Ask, Outcome};
use loggia_protocol_agent_server::{PolicyPreset, ServerMessage};
use serde_json::Value;

use crate::house::{House, calls};
use crate::screen::{FILES, Screen, TERMINAL};

#[tokio::test]
async fn every_event_is_a_line_and_nothing_else_is_written() {
    let house = House::new(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    let options = Ask { json: true, ..house.prompt("look") };
    assert_eq!(house.ask(options, &mut terminal).await.unwrap(), Outcome::Done);
    assert_eq!(screen.err(), "");
    let out = screen.out();
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    kinds.dedup();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"ask.session"), Some(&"ask.ended")));
    for kind in ["server.hello", "assistant.token", "tool.execute", "assistant.message_final"] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    assert!(lines[0]["session"]["session_id"].as_str().unwrap().starts_with("ses_"));
    assert_eq!(lines.last().unwrap()["outcome"], "done");
    for line in out.lines().filter(|line| !line.contains("\"ask.")) {
        ServerMessage::decode(line).unwrap();
    }
}

#[tokio::test]
async fn a_program_is_not_asked() {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
    for (approvals, outcome) in [(Approvals::Ask, Outcome::Refused), (Approvals::Yes, Outcome::Done)] {
        let house = House::new(&[("a.txt", "old\n")], &script).await;
        let (screen, mut terminal) = Screen::new(FILES);
        let options = Ask { json: true, approvals, preset: Some(PolicyPreset::Ask), ..house.prompt("write") };
        assert_eq!(house.ask(options, &mut terminal).await.unwrap(), outcome);
        assert_eq!(screen.err(), "");
    }
}
