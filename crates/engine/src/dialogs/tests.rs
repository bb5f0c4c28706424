//! The board with people who come, answer and leave; time is paused.

use std::path::Path;

use futures_util::FutureExt;
use loggia_domain::{ClientId, ConfirmWords, DialogWeight, Door, Role, WorkspaceId};

use super::places::Places;
use super::*;

fn dialog(guest: &str) -> Dialog {
    Dialog {
        id: DialogId::new(),
        workspace: WorkspaceId::new(),
        guest: guest.to_owned(),
        title: None,
        body: DialogBody::Confirm { text: "Go on?".to_owned(), words: ConfirmWords::YesNo },
    }
}

fn window(guest: &str) -> GuestWindow {
    GuestWindow {
        id: WindowId::new(),
        workspace: WorkspaceId::new(),
        guest: guest.to_owned(),
        url: "http://127.0.0.1:1/".to_owned(),
        title: "T".to_owned(),
        width: 800,
        height: 600,
        modal: false,
        resizable: true,
    }
}

fn somebody() -> Actor {
    Actor::Client { id: ClientId::new(), name: "a".to_owned(), door: Door::Inside, role: Role::Drive }
}

fn waiting(when_nobody: WhenNobody) -> DialogBoard {
    DialogBoard::new(DialogSettings { when_nobody, directories: Vec::new() })
}

#[tokio::test(start_paused = true)]
async fn where_nobody_is_there_asking_fails_at_once() {
    let board = DialogBoard::default();
    let watches = board.listen(Audience::Watches);
    assert!(matches!(board.ask(dialog("e")).await, Err(DialogError::NobodyThere(_))));
    assert!(matches!(board.show(window("e")).await, Err(DialogError::NobodyThere(_))));
    drop(watches);
    assert_eq!(board.open().0.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_counts_and_all_hear_of_it() {
    let board = DialogBoard::default();
    let (mut one, mut other) = (board.listen(Audience::Answers), board.listen(Audience::Watches));
    let asked = dialog("e");
    let (id, by) = (asked.id, somebody());
    let mut asking = board.ask(asked);
    assert!(asking.as_mut().now_or_never().is_none());
    for feed in [&mut one, &mut other] {
        assert!(matches!(feed.next().await, DialogNews::Asked(shown) if shown.id == id));
    }
    // Who comes later sees it, too.
    assert!(
        matches!(board.listen(Audience::Watches).next().await, DialogNews::Asked(shown) if shown.id == id)
    );
    board.settle(id, DialogAnswer::Confirmed(true), by.clone()).unwrap();
    assert_eq!(asking.await, Ok(DialogAnswer::Confirmed(true)));
    for feed in [&mut one, &mut other] {
        let end = DialogEnd::Answered { by: by.clone() };
        assert_eq!(feed.next().await, DialogNews::Ended { dialog: id, end });
        assert_eq!(feed.try_next(), None);
    }
    let late = board.settle(id, DialogAnswer::Confirmed(false), somebody());
    assert_eq!(late, Err(AnswerError::AlreadyAnswered { dialog: id, by: Box::new(by) }));
    let never = DialogId::new();
    assert_eq!(board.dialog(never).unwrap_err(), AnswerError::UnknownDialog(never));
}

#[tokio::test(start_paused = true)]
async fn what_nobody_asks_any_more_is_withdrawn() {
    let board = DialogBoard::default();
    let mut feed = board.listen(Audience::Answers);
    let asked = dialog("e");
    let id = asked.id;
    let mut asking = board.ask(asked);
    assert!(asking.as_mut().now_or_never().is_none());
    assert!(matches!(feed.next().await, DialogNews::Asked(_)));
    drop(asking);
    assert_eq!(feed.next().await, DialogNews::Ended { dialog: id, end: DialogEnd::Withdrawn });
    assert_eq!(board.settle(id, DialogAnswer::Seen, somebody()), Err(AnswerError::Withdrawn(id)));
}

#[tokio::test(start_paused = true)]
async fn a_dialog_outlives_a_page_that_is_loaded_again_and_not_one_that_left() {
    let board = DialogBoard::default();
    let first = board.listen(Audience::Answers);
    let asked = dialog("e");
    let id = asked.id;
    let (asker, began) = (board.clone(), Instant::now());
    let asking = tokio::spawn(async move { asker.ask(asked).await });
    let mut watch = board.listen(Audience::Watches);
    watch.next().await;
    drop(first);
    tokio::time::advance(GRACE / 2).await;
    let again = board.listen(Audience::Answers);
    tokio::time::advance(GRACE * 2).await;
    assert!(board.dialog(id).is_ok());
    drop(again);
    assert!(matches!(asking.await.unwrap(), Err(DialogError::NobodyThere(_))));
    assert!(began.elapsed() >= GRACE * 3);
}

#[tokio::test(start_paused = true)]
async fn waiting_is_as_long_as_was_configured() {
    let board = waiting(WhenNobody::WaitFor(Duration::from_secs(60)));
    let began = Instant::now();
    assert!(matches!(board.ask(dialog("e")).await, Err(DialogError::NobodyThere(_))));
    assert_eq!(began.elapsed(), Duration::from_secs(60));

    let board = waiting(WhenNobody::Wait);
    let asked = dialog("e");
    let id = asked.id;
    let asker = board.clone();
    let asking = tokio::spawn(async move { asker.ask(asked).await });
    let mut watch = board.listen(Audience::Watches);
    watch.next().await;
    tokio::time::advance(Duration::from_secs(1_000_000)).await;
    board.settle(id, DialogAnswer::Confirmed(false), somebody()).unwrap();
    assert_eq!(asking.await.unwrap(), Ok(DialogAnswer::Confirmed(false)));
}

#[tokio::test(start_paused = true)]
async fn windows_are_closed_by_people_or_by_their_guests() {
    let board = DialogBoard::default();
    let mut feed = board.listen(Audience::Answers);
    let (first, second) = (window("e"), window("e"));
    let (closed, dropped) = (first.id, second.id);
    let mut done = board.show(first).await.unwrap();
    assert!(matches!(feed.next().await, DialogNews::Opened(shown) if shown.id == closed));
    assert!(done.as_mut().now_or_never().is_none());
    let by = somebody();
    board.close(closed, by.clone()).unwrap();
    done.await;
    assert_eq!(feed.next().await, DialogNews::Closed { window: closed, end: WindowEnd::ByPerson { by } });
    assert_eq!(board.close(closed, somebody()), Err(AnswerError::AlreadyClosed(closed)));

    let done = board.show(second).await.unwrap();
    assert!(matches!(feed.next().await, DialogNews::Opened(_)));
    drop(done);
    assert_eq!(feed.next().await, DialogNews::Closed { window: dropped, end: WindowEnd::ByGuest });
    let never = WindowId::new();
    assert_eq!(board.close(never, somebody()), Err(AnswerError::UnknownWindow(never)));
}

#[tokio::test(start_paused = true)]
async fn one_guest_cannot_fill_the_board_and_long_texts_are_cut() {
    let board = waiting(WhenNobody::Wait);
    let ask = |guest: &str| {
        let mut asking = board.ask(dialog(guest));
        let first = asking.as_mut().now_or_never();
        (asking, first)
    };
    let mut open = Vec::new();
    for number in 0..MAX_GUEST_DIALOGS {
        let (asking, first) = ask("one");
        assert!(first.is_none(), "{number}");
        open.push(asking);
    }
    assert!(matches!(ask("one").1, Some(Err(DialogError::TooMany(_)))));
    for number in MAX_GUEST_DIALOGS..MAX_DIALOGS {
        open.push(ask(&format!("other {}", number / 2)).0);
    }
    assert!(matches!(ask("another").1, Some(Err(DialogError::TooMany(_)))));
    drop(open);

    let text = "ä".repeat(MAX_DIALOG_TEXT);
    let body = DialogBody::Message { text, weight: DialogWeight::Info };
    let mut asking = board.ask(Dialog { body, ..dialog("one") });
    assert!(asking.as_mut().now_or_never().is_none());
    let (dialogs, _) = board.open();
    let DialogBody::Message { text, .. } = &dialogs[0].body else { panic!("another body") };
    assert_eq!(text.len(), MAX_DIALOG_TEXT + '…'.len_utf8());

    let url = format!("http://x/{}", "a".repeat(MAX_WINDOW_ADDRESS));
    let refused = board.show(GuestWindow { url, ..window("e") }).await;
    assert!(matches!(refused, Err(DialogError::TooMany(_))));
    let mut shown = Vec::new();
    for _ in 0..MAX_GUEST_WINDOWS {
        shown.push(board.show(window("e")).await.unwrap());
    }
    assert!(matches!(board.show(window("e")).await, Err(DialogError::TooMany(_))));
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_what_is_asked_and_shows_nothing_more() {
    let board = DialogBoard::default();
    let mut feed = board.listen(Audience::Answers);
    let mut asking = board.ask(dialog("e"));
    assert!(asking.as_mut().now_or_never().is_none());
    let done = board.show(window("e")).await.unwrap();
    feed.next().await;
    feed.next().await;
    board.stop();
    assert_eq!(asking.await, Err(DialogError::Stopping));
    assert!(matches!(feed.next().await, DialogNews::Ended { end: DialogEnd::Withdrawn, .. }));
    assert!(matches!(feed.next().await, DialogNews::Closed { end: WindowEnd::ByGuest, .. }));
    assert!(done.now_or_never().is_none());
    assert_eq!(board.ask(dialog("e")).await, Err(DialogError::Stopping));
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_sleeps_hears_the_difference_once() {
    let board = waiting(WhenNobody::Wait);
    let mut feed = board.listen(Audience::Watches);
    for _ in 0..10_000 {
        let mut asking = board.ask(dialog("e"));
        assert!(asking.as_mut().now_or_never().is_none());
    }
    let stays = dialog("e");
    let id = stays.id;
    let mut asking = board.ask(stays);
    assert!(asking.as_mut().now_or_never().is_none());
    assert!(matches!(feed.next().await, DialogNews::Asked(shown) if shown.id == id));
    assert_eq!(feed.try_next(), None);
}

fn choosing(several: bool) -> DialogBody {
    DialogBody::ChooseFiles { several, start: None, kinds: Vec::new() }
}

fn place() -> DialogBody {
    DialogBody::ChoosePlace { start: None, name: None, kinds: Vec::new() }
}

#[test]
fn only_what_really_lies_in_an_allowed_directory_can_be_chosen() {
    let temporary = tempfile::tempdir().unwrap();
    let base = temporary.path().canonicalize().unwrap();
    for directory in ["work/sub", "more", "outside", "work/data"] {
        std::fs::create_dir_all(base.join(directory)).unwrap();
    }
    for file in ["work/a.hl7", "more/b.txt", "outside/secret", "work/data/token"] {
        std::fs::write(base.join(file), "x").unwrap();
    }
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(base.join(to), base.join(name)).unwrap();
    link("outside/secret", "work/out");
    link("outside", "work/way");
    link("more/b.txt", "work/in");
    link("nowhere", "work/dangling");
    let places = Places {
        root: Some(base.join("work")),
        directories: vec![base.join("more"), base.join("not there")],
        barred: vec![base.join("work/data")],
    };
    let check = |body: &DialogBody, path: &str| {
        let path = match path.strip_prefix("BASE/") {
            Some(rest) => base.join(rest),
            None => Path::new(path).to_owned(),
        };
        match places.check(body, &[path]) {
            Ok(real) => real[0].strip_prefix(&base).unwrap().display().to_string(),
            Err(bad) => bad.why.replace(&base.display().to_string(), "BASE"),
        }
    };
    let outside = "it is outside of the directories that are allowed: `BASE/work`, `BASE/more`";
    let (file, place, directory) = (choosing(false), place(), DialogBody::ChooseDirectory { start: None });
    for (body, path, expected) in [
        (&file, "a.hl7", "work/a.hl7"),
        (&file, "BASE/work/a.hl7", "work/a.hl7"),
        (&file, "sub/../a.hl7", "work/a.hl7"),
        (&file, "in", "more/b.txt"),
        (&file, "BASE/more/b.txt", "more/b.txt"),
        (&file, "out", outside),
        (&file, "way/secret", outside),
        (&file, "../outside/secret", outside),
        (&file, "BASE/outside/secret", outside),
        (&file, "/etc/passwd", outside),
        (&file, "data/token", "it is one of the server's own files"),
        (&file, "sub", "it is not a file"),
        (&file, "nothing", "it is not there"),
        (&file, "dangling", "it is not there"),
        (&file, "", "it is empty"),
        (&file, "a\0b", "it holds a NUL character"),
        (&place, "new.hl7", "work/new.hl7"),
        (&place, "a.hl7", "work/a.hl7"),
        (&place, "BASE/more/new", "more/new"),
        (&place, "out", outside),
        (&place, "way/new", outside),
        (&place, "../new", outside),
        (&place, "dangling", "it is not there"),
        (&place, "sub", "it is not a file"),
        (&place, "not/there", "its directory is not there"),
        (&place, "data/new", "it is one of the server's own files"),
        (&place, "a.hl7/new", "its directory is not there"),
        (&directory, "sub", "work/sub"),
        (&directory, ".", "work"),
        (&directory, "way", outside),
        (&directory, "..", outside),
        (&directory, "a.hl7", "it is not a directory"),
    ] {
        let told = check(body, path);
        let told =
            if told == "what it lies in is not a directory" { "its directory is not there" } else { &told };
        assert_eq!(told, expected, "{path:?}");
    }
}
