//! What a turn looks like from its beginning to its end.

use loggia_cli::{Approvals, Ask, CliError, Outcome};
use loggia_protocol_agent_server::PolicyPreset;

use crate::house::{House, calls, says};
use crate::screen::{FILES, PIPE, Screen, Setting, TERMINAL};

const MARKDOWN: &str =
    "# Yes\n\nIt is in `a.txt`, which is **long** enough to be wrapped at this width here.\n- one\n- two";

#[tokio::test]
async fn an_answer_is_rendered_and_summed_up() {
    let house = House::new(&[], &says(MARKDOWN)).await;
    let (screen, mut terminal) = Screen::new(Setting { color_out: true, color_err: true, ..TERMINAL });
    assert_eq!(house.ask(house.prompt("where?"), &mut terminal).await.unwrap(), Outcome::Done);
    assert_eq!(
        screen.out(),
        "\u{1b}[1m\u{1b}[35mYes\u{1b}[0m\n\nIt is in \u{1b}[36ma.txt\u{1b}[0m, which is \u{1b}[1mlong\u{1b}[0m enough \
         to be wrapped at this\nwidth here.\n\u{1b}[1m• \u{1b}[0mone\n\u{1b}[1m• \u{1b}[0mtwo\n"
    );
    assert!(screen.shown().contains("scripted:model · 1,234 tokens · 0.0 s ·"), "{}", screen.shown());
}

#[tokio::test]
async fn without_colours_there_are_none() {
    let house = House::new(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    house.ask(house.prompt("look"), &mut terminal).await.unwrap();
    let written = format!("{}{}", screen.out(), screen.err()).replace("\r\u{1b}[K", "");
    assert!(!written.contains('\u{1b}'), "{written:?}");
    insta::assert_snapshot!(screen.shown(), @r"
    Let me see.
    ✓ Read a.txt

    Done.
    scripted:model · 0.0 s ·
    SESSION
    ");
}

#[tokio::test]
async fn a_pipe_gets_the_answer_as_it_is_and_nothing_else() {
    for setting in [PIPE, FILES] {
        let house = House::new(&[], &says(MARKDOWN)).await;
        let (screen, mut terminal) = Screen::new(setting);
        house.ask(house.prompt("where?"), &mut terminal).await.unwrap();
        assert_eq!(screen.out(), format!("{MARKDOWN}\n"));
        if !setting.err {
            assert_eq!(screen.err(), "");
        }
    }
}

#[tokio::test]
async fn a_pipe_that_wants_colours_gets_the_answer_rendered() {
    let house = House::new(&[], &says("It is **long**.")).await;
    let (screen, mut terminal) = Screen::new(Setting { color_out: true, ..FILES });
    house.ask(house.prompt("where?"), &mut terminal).await.unwrap();
    assert_eq!(screen.out(), "It is \u{1b}[1mlong\u{1b}[0m.\n");
}

#[tokio::test]
async fn a_quiet_answer_stands_alone() {
    for setting in [FILES, TERMINAL] {
        let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\" }");
        let house = House::new(&[("a.txt", "old\n")], &script).await;
        let (screen, mut terminal) = Screen::new(setting);
        let options = Ask { quiet: true, approvals: Approvals::Yes, ..house.prompt("write") };
        assert_eq!(house.ask(options, &mut terminal).await.unwrap(), Outcome::Done);
        assert_eq!((screen.err().as_str(), house.read("a.txt").as_str()), ("", "new\n"));
        assert!(screen.out().ends_with("Done.\n"), "{}", screen.out());
    }
}

#[tokio::test]
async fn a_quiet_question_shows_what_it_is_about_and_a_quiet_failure_why() {
    let edit = calls("edit_file", "{ path = \"a.txt\", old = \"one\", new = \"ONE\" }");
    let fails = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no such key\" } }]\n";
    let house = House::new(&[("a.txt", "one\n")], &[edit.as_str(), fails].concat()).await;
    let (screen, mut terminal, _keys) = Screen::with_keys(TERMINAL, "n");
    let asking = |prompt| Ask { quiet: true, preset: Some(PolicyPreset::Ask), ..house.prompt(prompt) };
    house.ask(asking("louder"), &mut terminal).await.unwrap();
    assert!(screen.shown().contains("  +ONE\n? Change a.txt?"), "{}", screen.shown());
    let (screen, mut terminal) = Screen::new(FILES);
    assert_eq!(house.ask(asking("hm"), &mut terminal).await.unwrap(), Outcome::ModelFailed);
    assert!(screen.err().starts_with("error: no such key\nhint: "), "{}", screen.err());
}

#[tokio::test]
async fn what_is_around_the_answer_is_folded_between_words() {
    let message = "the server says that this key was withdrawn and that another one is to be made";
    let script =
        format!("[[reply]]\nparts = [{{ error = {{ kind = \"permanent\", message = {message:?} }} }}]\n");
    let house = House::new(&[], &script).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    house.ask(house.prompt("hm"), &mut terminal).await.unwrap();
    let told =
        "error: the server says that this key was withdrawn and that\nanother one is to be made\nhint: ";
    assert!(screen.shown().contains(told), "{}", screen.shown());
}

#[tokio::test]
async fn what_is_done_is_told_on_standard_error() {
    let house = House::new(&[("a.txt", "hello\n")], &calls("read_file", "{ path = \"a.txt\" }")).await;
    let (screen, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("look"), &mut terminal).await.unwrap();
    assert_eq!(screen.out(), "Let me see. \n\nDone.\n");
    assert_eq!(screen.err(), "✓ Read a.txt\n");
}

#[tokio::test]
async fn what_was_piped_in_is_told_to_the_model() {
    let house = House::new(&[], &says("ok")).await;
    let (_, mut terminal) = Screen::new(FILES);
    let options = Ask { stdin_context: Some("panicked at src/a.rs:7\n".to_owned()), ..house.prompt("why?") };
    house.ask(options, &mut terminal).await.unwrap();
    assert!(
        house.last_prompt().contains("why?\n\n<stdin>\npanicked at src/a.rs:7\n</stdin>"),
        "{}",
        house.last_prompt()
    );
}

#[tokio::test]
async fn a_plan_is_listed_once() {
    let steps = "{ steps = [{ description = \"Look\" }, { description = \"Change\" }], current = 1, rationale = \"Look first\" }";
    let house = House::new(&[], &calls("update_plan", steps)).await;
    let (screen, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("plan"), &mut terminal).await.unwrap();
    assert_eq!(screen.err(), "Plan Look first\n  1. Look\n  2. Change\n");
}

#[tokio::test]
async fn a_model_that_fails_is_told_with_a_hint() {
    let script = "[[reply]]\nparts = [{ error = { kind = \"permanent\", message = \"no such key\" } }]\n";
    let house = House::new(&[], script).await;
    let (screen, mut terminal) = Screen::new(FILES);
    assert_eq!(house.ask(house.prompt("hm"), &mut terminal).await.unwrap(), Outcome::ModelFailed);
    assert!(screen.err().starts_with("error: no such key\nhint: "), "{}", screen.err());
    assert_eq!(screen.out(), "");
}

#[tokio::test]
async fn a_model_nobody_has_is_refused_with_the_servers_words() {
    let house = House::new(&[], &says("ok")).await;
    let (_, mut terminal) = Screen::new(FILES);
    let options = Ask { model: Some("nobody:nothing".to_owned()), ..house.prompt("hm") };
    let error = house.ask(options, &mut terminal).await.unwrap_err();
    assert!(matches!(error, CliError::Refused(_)), "{error:?}");
    assert!(error.to_string().contains("nobody:nothing"), "{error}");
    assert!(!error.hint().is_empty());
}

#[tokio::test]
async fn five_thousand_tokens_arrive_whole() {
    let script = "[[reply]]\nparts = [{ tokens = { count = 5000, text = \"tok \" } }]\n";
    let house = House::new(&[], script).await;
    let (screen, mut terminal) = Screen::new(FILES);
    house.ask(house.prompt("much"), &mut terminal).await.unwrap();
    assert_eq!(screen.out(), format!("{}\n", "tok ".repeat(5000)));
}

#[tokio::test]
async fn a_reply_that_was_cut_off_is_told_and_begins_anew() {
    let cut = r#"
        [[reply]]
        parts = [{ text = "Hello from" }, { error = { kind = "transient", message = "lost", retry_after_ms = 1 } }]
    "#;
    for setting in [FILES, TERMINAL] {
        let house = House::new(&[], &format!("{cut}{}", says("Hello from here."))).await;
        let (screen, mut terminal) = Screen::new(setting);
        assert_eq!(house.ask(house.prompt("hi"), &mut terminal).await.unwrap(), Outcome::Done);
        assert_eq!(screen.out(), "Hello from\n\nHello from here.\n");
        assert_eq!(
            screen.err().matches("The reply was cut off; trying again.").count(),
            1,
            "{}",
            screen.err()
        );
    }
}

#[tokio::test]
async fn what_is_waited_for_is_told_from_its_beginning() {
    let waits = r#"
        [[reply]]
        parts = [{ error = { kind = "transient", message = "there is far too much to do here just now", retry_after_ms = 60000 } }]
    "#;
    let house = House::new(&[], waits).await;
    let (screen, mut terminal) = Screen::new(TERMINAL);
    tokio::select! {
        outcome = house.ask(house.prompt("hi"), &mut terminal) => panic!("{outcome:?}"),
        () = screen.until("Asking the model again in 60 s (attempt 2): there") => {}
    }
}
