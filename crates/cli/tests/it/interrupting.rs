//! Ctrl-C.

use loggia_cli::{Ask, Interrupts, Outcome};
use loggia_protocol_agent_server::PolicyPreset;

use crate::house::{House, calls};
use crate::screen::{FILES, Screen, TERMINAL};

const HANGS: &str = "[[reply]]\nparts = [{ text = \"Working on \" }, { hang = true }]\n";

#[tokio::test]
async fn the_first_interrupt_cancels_the_turn() {
    let house = House::new(&[], HANGS).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let (interrupter, interrupts) = Interrupts::channel();
    let asking = loggia_cli::ask(&house.client, house.prompt("work"), &mut terminal, interrupts);
    let interrupting = async {
        screen.until("Working").await;
        interrupter.interrupt();
    };
    let (outcome, ()) = tokio::join!(asking, interrupting);
    assert_eq!(outcome.unwrap(), Outcome::Cancelled);
    assert_eq!(screen.out(), "Working on \n");
    assert_eq!(screen.err(), "Cancelling; Ctrl-C again leaves.\nCancelled.\n");
}

#[tokio::test]
async fn the_second_interrupt_leaves() {
    let house = House::new(&[], HANGS).await;
    let (screen, mut terminal) = Screen::new(FILES);
    let (interrupter, interrupts) = Interrupts::channel();
    let asking = loggia_cli::ask(&house.client, house.prompt("work"), &mut terminal, interrupts);
    let interrupting = async {
        screen.until("Working").await;
        interrupter.interrupt();
        interrupter.interrupt();
    };
    let (outcome, ()) = tokio::join!(asking, interrupting);
    assert!(matches!(outcome.unwrap(), Outcome::Left | Outcome::Cancelled));
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
}
