//! Ctrl-C.

use loggia_cli::{Ask, Interrupts, Outcome};
use loggia_protocol_agent_server::{PolicyPreset, SessionStatus};

use crate::house::{House, calls};
use crate::screen::{FILES, Screen, TERMINAL};

const HANGS: &str = "[[reply]]\nparts = [{ text = \"Working on \" }, { hang = true }]\n";

/// A turn that hangs is interrupted so often; how it ends, and what was shown.
async fn interrupted(times: usize) -> (Outcome, Screen) {
    let house = House::new(&[], HANGS).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let (interrupter, interrupts) = Interrupts::channel();
    let asking = loggia_cli::ask(&house.client, house.prompt("work"), &mut terminal, interrupts);
    let interrupting = async {
        screen.until("Working").await;
        (0..times).for_each(|_| interrupter.interrupt());
    };
    let (outcome, ()) = tokio::join!(asking, interrupting);
    (outcome.unwrap(), screen)
}

#[tokio::test]
async fn the_first_interrupt_cancels_the_turn() {
    let (outcome, screen) = interrupted(1).await;
    assert_eq!(outcome, Outcome::Cancelled);
    assert_eq!(screen.out(), "Working on \n");
    assert_eq!(screen.err(), "Cancelling; Ctrl-C again leaves.\nCancelled.\n");
}

#[tokio::test]
async fn the_second_interrupt_leaves() {
    let (outcome, _) = interrupted(2).await;
    assert!(matches!(outcome, Outcome::Left | Outcome::Cancelled));
}

#[tokio::test]
async fn who_is_to_end_cancels_and_tells_a_program_how_it_ended() {
    let house = House::new(&[], HANGS).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let (interrupter, interrupts) = Interrupts::channel();
    let options = Ask { json: true, ..house.prompt("work") };
    let asking = loggia_cli::ask(&house.client, options, &mut terminal, interrupts);
    let ending = async {
        screen.until("Working").await;
        interrupter.end();
    };
    let (outcome, ()) = tokio::join!(asking, ending);
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    assert!(
        screen.out().ends_with("{\"type\":\"ask.ended\",\"outcome\":\"cancelled\"}\n"),
        "{}",
        screen.out()
    );
    let sessions = house.client.sessions(None, &loggia_client::Page::default()).await.unwrap().sessions;
    assert_eq!(sessions[0].status, SessionStatus::Idle, "the turn does not go on");
}

#[tokio::test]
async fn who_is_to_end_before_it_began_says_so_too() {
    let house = House::new(&[], HANGS).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let (interrupter, interrupts) = Interrupts::channel();
    interrupter.end();
    let options = Ask { json: true, ..house.prompt("work") };
    let outcome = loggia_cli::ask(&house.client, options, &mut terminal, interrupts).await.unwrap();
    assert!(matches!(outcome, Outcome::Left | Outcome::Cancelled), "{outcome:?}");
    let last = screen.out().lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("{\"type\":\"ask.ended\""), "{last}");
}

#[tokio::test]
async fn an_interrupt_withdraws_a_question() {
    let house = House::new(&[], &calls("run_command", "{ command = \"say hi\" }")).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "");
    let (interrupter, interrupts) = Interrupts::channel();
    let options = Ask { preset: Some(PolicyPreset::Ask), ..house.prompt("run") };
    let asking = loggia_cli::ask(&house.client, options, &mut terminal, interrupts);
    let interrupting = async {
        screen.until("o once").await;
        interrupter.interrupt();
    };
    let (outcome, ()) = tokio::join!(asking, interrupting);
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    assert!(!screen.shown().contains("o once"), "{}", screen.shown());
    assert_eq!(screen.shown().matches("Let me see.").count(), 1, "{}", screen.shown());
}

#[tokio::test]
async fn what_was_said_before_a_call_is_not_said_again_when_the_call_is_cut_off() {
    let house = House::new(&[], &calls("run_command", "{ command = \"hang\" }")).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let (interrupter, interrupts) = Interrupts::channel();
    let options = Ask { preset: Some(PolicyPreset::Full), ..house.prompt("run") };
    let asking = loggia_cli::ask(&house.client, options, &mut terminal, interrupts);
    let interrupting = async {
        // The line ends when the call begins.
        screen.until("Let me see. \n").await;
        interrupter.interrupt();
    };
    let (outcome, ()) = tokio::join!(asking, interrupting);
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    assert_eq!(screen.out(), "Let me see. \n");
}
