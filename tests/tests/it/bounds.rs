//! What a session keeps in memory: bounded, and shared with those who look at it.

use std::sync::Arc;

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, Budget, CallId, Event, EventBody, Instruction, Intent,
    JsonText, Preset, Question, Remember, Risk, Seq, Timestamp, TurnId, WhenBusy, WorkspaceId,
};
use loggia_engine::State;

use crate::world_with;

/// A journal of one turn in which people are asked so many things.
fn questions(count: u64) -> (Vec<Event>, Vec<ApprovalId>) {
    let turn = TurnId::new();
    let mut bodies = vec![
        EventBody::SessionOpened {
            workspace: WorkspaceId::new(),
            title: None,
            model: None,
            preset: None,
            budget: Budget::default(),
            forked_from: None,
            by: Actor::Engine,
        },
        EventBody::TurnStarted {
            instruction: Instruction { text: "go".to_owned(), ..Instruction::default() },
            by: Actor::Engine,
            queued: None,
        },
    ];
    // As if the clock ran backwards: the newest id is the smallest.
    let approvals: Vec<ApprovalId> = (0..count)
        .map(|number| ApprovalId::from_bytes((u128::MAX - u128::from(number)).to_be_bytes()))
        .collect();
    for approval in &approvals {
        let question = Question::Tool { tool: "x".to_owned(), arguments: JsonText("{}".to_owned()) };
        let call = Some(CallId::new());
        let (approval, risk) = (*approval, Risk::Low);
        bodies.push(EventBody::ApprovalAsked { approval, call, question, risk, expires: None });
        let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Once, comment: None };
        bodies.push(EventBody::ApprovalDecided { approval, answer, by: Actor::Engine });
    }
    let event = |(body, seq)| Event { seq: Seq(seq), at: Timestamp(0), turn: Some(turn), body };
    (bodies.into_iter().zip(1..).map(event).collect(), approvals)
}

#[test]
fn answers_are_kept_of_the_newest_questions_only() {
    let (journal, approvals) = questions(1000);
    let state = State::fold(&journal).unwrap();
    assert_eq!(state.decided.len(), 128);
    assert!(approvals[872..].iter().all(|approval| state.decided.contains_key(approval)));
}

/// Two changes that wait for an answer, and an instruction that waits for them.
const COLLECT: &str = r#"
    [[reply]]
    parts = [
        { call = { tool = "write_file", arguments = { path = "a.txt", content = "1\n" } } },
        { call = { tool = "write_file", arguments = { path = "b.txt", content = "2\n" } } },
    ]

    [[reply]]
    parts = [{ text = "Collected." }]
"#;

#[tokio::test]
async fn what_is_large_is_shared_with_those_who_look() {
    let world = world_with(&[("a.txt", "0\n")], COLLECT).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let instruction = |preview| Instruction { text: "write".to_owned(), preview, ..Instruction::default() };
    let prompt = |preview| Intent::Prompt { instruction: instruction(preview), when_busy: WhenBusy::Queue };
    alice.seat.intend(prompt(true)).await.unwrap();
    alice.until_asked().await;
    alice.seat.intend(prompt(false)).await.unwrap();
    let held = alice.state().await;
    // The state moves on beside the one that is held.
    alice.seat.intend(Intent::Rename { title: "another".to_owned() }).await.unwrap();
    let now = alice.state().await;
    assert_ne!(held.title, now.title);
    assert_eq!((now.proposed.len(), now.queue.len()), (2, 1));
    assert!(held.proposed.iter().all(|(id, patch)| Arc::ptr_eq(patch, &now.proposed[id])));
    assert!(held.queue.iter().zip(&now.queue).all(|(one, other)| Arc::ptr_eq(one, other)));
    let turns = [&held, &now].map(|state| Arc::clone(&state.turn.as_ref().unwrap().instruction));
    assert!(Arc::ptr_eq(&turns[0], &turns[1]));
    let said = held.history.items().iter().zip(now.history.items());
    assert!(said.into_iter().all(|(one, other)| Arc::ptr_eq(one, other)));
}
