//! Opening, changing, saving, undo, files that others change, and what is told.

use loggia_domain::{MessageDesk, MessageError, MessageFormat, MessageKind, Opening, Unsaved};

use crate::support::{World, create, remove, set};

const MESSAGE: &str = "MSH|^~\\&|A\nPID|1||77^^^CLINIC\nOBX|1|ST|x||é\n";

#[tokio::test]
async fn a_file_is_opened_changed_saved_and_keeps_its_separators() {
    let mut world = World::with("in/a.hl7", MESSAGE).await;
    let opened = world.current().await;
    assert_eq!((opened.path.as_deref(), opened.kind), (Some("in/a.hl7"), MessageKind::Hl7));
    assert_eq!(opened.file, Some(world.path("in/a.hl7").canonicalize().unwrap()));
    assert_eq!((opened.revision, opened.unsaved, opened.can_undo, opened.can_redo), (1, false, false, false));
    assert_eq!(opened.bytes, MESSAGE.len() as u64);
    assert_eq!(world.hl7().await, MESSAGE.replace('\n', "\r"));

    let patched = world.desk.patch(vec![set("PID.5.1", "ROE"), set("ZZ1.1", "x")]).await.unwrap();
    assert_eq!((patched.applied, patched.refused.len(), patched.refused[0].index), (1, 1, 1));
    assert_eq!((patched.message.revision, patched.message.unsaved), (2, true));
    assert_eq!(world.read_file("in/a.hl7"), MESSAGE, "a change touches no file");

    let saved = world.desk.save(None).await.unwrap();
    assert!(!saved.unsaved && saved.can_undo);
    assert_eq!(world.read_file("in/a.hl7"), MESSAGE.replace("CLINIC", "CLINIC||ROE"));
    assert_eq!(world.told(), ["opened 1", "changed 2", "saved in/a.hl7"]);
}

#[tokio::test]
async fn what_stands_at_a_path_is_told() {
    let world = World::with("a.hl7", MESSAGE).await;
    for (path, expected) in [
        ("PID.3", Some("77^^^CLINIC")),
        ("PID.3.4", Some("CLINIC")),
        ("PID-3-1-1", Some("77")),
        ("PID.2", Some("")),
        ("PID.9", None),
        ("PID.3[2]", None),
        ("PID[2].1", None),
        ("OBX.5", Some("é")),
        ("OBX", Some("OBX|1|ST|x||é")),
        ("MSH.1", Some("|")),
        ("MSH.2", Some("^~\\&")),
        ("MSH.2.2", None),
        ("MSH.3", Some("A")),
    ] {
        assert_eq!(world.desk.get(path.to_owned()).await, Ok(expected.map(str::to_owned)), "{path}");
    }
    assert!(matches!(world.desk.get("PID.0".to_owned()).await, Err(MessageError::BadPath(_))));
}

#[tokio::test]
async fn steps_are_taken_back_and_made_again_to_the_byte() {
    let world = World::with("a.hl7", MESSAGE).await;
    world.desk.patch(vec![set("PID.1", "2"), create("NTE", None)]).await.unwrap();
    let after = world.hl7().await;
    world.desk.replace("MSH|^~\\&|B".to_owned(), MessageFormat::Hl7).await.unwrap();
    assert_eq!(world.hl7().await, "MSH|^~\\&|B");
    world.desk.undo().await.unwrap();
    assert_eq!(world.hl7().await, after);
    let undone = world.desk.undo().await.unwrap();
    assert!(!undone.unsaved && !undone.can_undo && undone.can_redo, "it is what its file holds");
    assert_eq!(undone.revision, 5);
    assert!(matches!(world.desk.undo().await, Err(MessageError::NoStep(_))));
    world.desk.redo().await.unwrap();
    assert_eq!(world.hl7().await, after);
    world.desk.patch(vec![remove("NTE")]).await.unwrap();
    assert!(matches!(world.desk.redo().await, Err(MessageError::NoStep(_))));
}

#[tokio::test]
async fn what_changes_nothing_is_no_step() {
    let mut world = World::with("a.hl7", MESSAGE).await;
    let patched = world.desk.patch(vec![set("PID.1", "1"), remove("ZZ9")]).await.unwrap();
    assert_eq!((patched.applied, patched.message.revision), (2, 1));
    world.desk.replace(MESSAGE.replace('\n', "\r"), MessageFormat::Hl7).await.unwrap();
    let patched = world.desk.patch(vec![]).await.unwrap();
    assert_eq!((patched.applied, patched.message.unsaved), (0, false));
    assert_eq!(world.told(), ["opened 1"]);
}

#[tokio::test]
async fn a_new_message_has_no_file_until_it_is_saved_somewhere() {
    let mut world = World::new();
    assert_eq!(world.desk.current().await, None);
    assert_eq!(world.desk.read(MessageFormat::Hl7).await.unwrap_err(), MessageError::NoneOpen);
    let new = |text: &str| Opening::New { text: text.to_owned(), format: MessageFormat::Hl7 };
    let opened = world.desk.open(new("MSH|^~\\&|A\nPID|1")).await.unwrap();
    assert_eq!((opened.file, opened.unsaved), (None, true));
    assert_eq!(world.desk.save(None).await.unwrap_err(), MessageError::NoFile);
    let saved = world.desk.save(Some("out/b.hl7".to_owned())).await.unwrap();
    assert_eq!((saved.path.as_deref(), saved.unsaved), (Some("out/b.hl7"), false));
    assert_eq!(world.read_file("out/b.hl7"), "MSH|^~\\&|A\nPID|1");
    world.desk.close(Unsaved::Keep).await.unwrap();
    assert_eq!(world.desk.current().await, None);
    assert_eq!(world.told(), ["opened 1", "saved out/b.hl7 elsewhere", "closed"]);
}

#[tokio::test]
async fn an_empty_message_can_be_open_and_filled() {
    let world = World::new();
    let opened =
        world.desk.open(Opening::New { text: String::new(), format: MessageFormat::Json }).await.unwrap();
    assert_eq!((opened.kind, opened.unsaved, opened.bytes), (MessageKind::Hl7, false, 0));
    assert_eq!(world.hl7().await, "");
    for format in [MessageFormat::Json, MessageFormat::Yaml, MessageFormat::Toml] {
        assert_eq!(world.desk.read(format).await.unwrap_err(), MessageError::NoneOpen);
    }
    assert_eq!(world.desk.patch(vec![set("PID.1", "x")]).await.unwrap_err(), MessageError::NoneOpen);
    assert_eq!(world.desk.get("PID.1".to_owned()).await, Ok(None));
    world.desk.replace("MSH|^~\\&|A".to_owned(), MessageFormat::Hl7).await.unwrap();
    world.desk.undo().await.unwrap();
    assert_eq!(world.hl7().await, "");
}

#[tokio::test]
async fn nothing_unsaved_is_lost_unless_that_is_meant() {
    let world = World::with("a.hl7", MESSAGE).await;
    world.write("b.hl7", MESSAGE);
    world.desk.patch(vec![set("PID.1", "2")]).await.unwrap();
    let opening = Opening::File("b.hl7".to_owned());
    assert!(matches!(world.desk.open(opening.clone()).await, Err(MessageError::Conflict(_))));
    assert!(matches!(world.desk.close(Unsaved::Keep).await, Err(MessageError::Conflict(_))));
    world.desk.close(Unsaved::Discard).await.unwrap();
    assert_eq!(world.read_file("a.hl7"), MESSAGE);
    let first = world.desk.open(opening.clone()).await.unwrap();
    let second = world.desk.open(opening).await.unwrap();
    assert_ne!(first.id, second.id);
}

#[tokio::test]
async fn a_file_that_others_change_is_read_again_if_nothing_is_lost() {
    let mut world = World::with("a.hl7", MESSAGE).await;
    world.write("a.hl7", "MSH|^~\\&|B\nPID|1");
    assert_eq!(world.hl7().await, "MSH|^~\\&|B\rPID|1");
    let current = world.current().await;
    assert_eq!((current.revision, current.unsaved), (2, false));
    assert_eq!(world.told(), ["opened 1", "changed 2"]);

    world.desk.patch(vec![set("PID.1", "2")]).await.unwrap();
    world.write("a.hl7", "MSH|^~\\&|theirs");
    assert_eq!(world.hl7().await, "MSH|^~\\&|B\rPID|2", "ours is not lost");
    assert!(matches!(world.desk.save(None).await, Err(MessageError::Conflict(_))));
    assert_eq!(world.read_file("a.hl7"), "MSH|^~\\&|theirs", "nor is theirs");
    let proposed = world.desk.propose(vec![set("PID.1", "3")], None).await;
    assert!(matches!(proposed, Err(MessageError::Conflict(_))), "nor by what is proposed: {proposed:?}");
    let proposed = world.desk.propose(vec![set("PID.1", "3")], Some("a.hl7".to_owned())).await.unwrap();
    assert_eq!(proposed.before.as_deref(), Some(&b"MSH|^~\\&|theirs"[..]), "it is shown what goes");
    world.desk.save(Some("a.hl7".to_owned())).await.unwrap();
    assert_eq!(world.read_file("a.hl7"), "MSH|^~\\&|B\nPID|2");
    assert!(!world.current().await.unsaved);
}

#[tokio::test]
async fn a_file_that_is_gone_or_broken_leaves_the_message_unsaved() {
    let world = World::with("a.hl7", MESSAGE).await;
    std::fs::remove_file(world.path("a.hl7")).unwrap();
    assert!(world.current().await.unsaved);
    world.desk.save(None).await.unwrap();
    assert_eq!(world.read_file("a.hl7"), MESSAGE);

    world.write("a.hl7", "no message");
    let current = world.current().await;
    assert_eq!((current.revision, current.unsaved), (1, true));
    assert!(matches!(world.desk.save(None).await, Err(MessageError::Conflict(_))));
    world.write("a.hl7", MESSAGE);
    assert!(!world.current().await.unsaved);
}

#[tokio::test]
async fn what_was_proposed_is_taken_over_once_the_file_holds_it() {
    let mut world = World::with("a.hl7", MESSAGE).await;
    world.desk.patch(vec![set("PID.1", "2")]).await.unwrap();
    let proposed = world.desk.propose(vec![set("PID.2", "x"), set("ZZ1.1", "y")], None).await.unwrap();
    assert_eq!((proposed.path.as_str(), proposed.applied, proposed.refused.len()), ("a.hl7", 1, 1));
    assert_eq!(proposed.before.as_deref(), Some(MESSAGE.as_bytes()));
    let after = MESSAGE.replace("PID|1||", "PID|2|x|");
    assert_eq!(proposed.after, after.as_bytes());
    assert_eq!(world.current().await.revision, 2, "nothing changed");
    assert_eq!(world.read_file("a.hl7"), MESSAGE);

    world.write("a.hl7", &proposed.after);
    let current = world.current().await;
    assert_eq!((current.revision, current.unsaved, current.can_undo), (3, false, true));
    assert_eq!(world.hl7().await, after.replace('\n', "\r"));
    assert_eq!(world.told(), ["opened 1", "changed 2", "changed 3", "saved a.hl7"]);
}

#[tokio::test]
async fn what_was_proposed_for_another_file_makes_that_its_file() {
    let mut world = World::new();
    let opening = Opening::New { text: "MSH|^~\\&|A".to_owned(), format: MessageFormat::Hl7 };
    world.desk.open(opening).await.unwrap();
    assert_eq!(world.desk.propose(vec![], None).await.unwrap_err(), MessageError::NoFile);
    let proposed = world.desk.propose(vec![], Some("b.hl7".to_owned())).await.unwrap();
    assert_eq!((proposed.before, proposed.after.as_slice()), (None, &b"MSH|^~\\&|A"[..]));
    world.write("b.hl7", "something else");
    assert_eq!(world.current().await.path, None);
    world.write("b.hl7", &proposed.after);
    let current = world.current().await;
    assert_eq!((current.path.as_deref(), current.unsaved, current.revision), (Some("b.hl7"), false, 1));
    assert_eq!(world.told(), ["opened 1", "saved b.hl7 elsewhere"]);
}

#[tokio::test]
async fn a_proposal_is_forgotten_when_the_message_goes_on() {
    let world = World::with("a.hl7", MESSAGE).await;
    let proposed = world.desk.propose(vec![set("PID.1", "2")], None).await.unwrap();
    world.desk.patch(vec![set("PID.1", "3")]).await.unwrap();
    world.write("a.hl7", &proposed.after);
    assert_eq!(world.desk.get("PID.1".to_owned()).await.unwrap().as_deref(), Some("3"));
    assert!(matches!(world.desk.save(None).await, Err(MessageError::Conflict(_))));
}

#[tokio::test]
async fn files_outside_and_sealed_ones_are_refused() {
    let world = World::with("a.hl7", MESSAGE).await;
    for path in ["../b.hl7", "/etc/b.hl7", ".git/b.hl7", "x/.loggia/b.hl7", ".mehrhof/b.hl7", "", "."] {
        let error = world.desk.save(Some(path.to_owned())).await.unwrap_err();
        assert!(matches!(error, MessageError::BadFile(_)), "{path}: {error}");
        let error = world.desk.propose(vec![], Some(path.to_owned())).await.unwrap_err();
        assert!(matches!(error, MessageError::BadFile(_)), "{path}: {error}");
    }
    std::os::unix::fs::symlink(".git", world.path("link")).unwrap();
    std::fs::create_dir(world.path(".git")).unwrap();
    assert!(matches!(world.desk.save(Some("link/b.hl7".to_owned())).await, Err(MessageError::BadFile(_))));
    assert!(!world.path(".git/b.hl7").exists());
    for path in ["none.hl7", "../a.hl7", "/etc/passwd", "."] {
        let error = world.desk.open(Opening::File(path.to_owned())).await.unwrap_err();
        assert!(matches!(error, MessageError::BadFile(_)), "{path}: {error}");
    }
    let absolute = world.path("a.hl7").display().to_string();
    assert_eq!(world.open(&absolute).await.path.as_deref(), Some("a.hl7"));
}

#[tokio::test]
async fn a_file_keeps_its_mode_and_its_mark() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write("a.hl7", "\u{feff}MSH|^~\\&|A");
    std::fs::set_permissions(world.path("a.hl7"), std::fs::Permissions::from_mode(0o600)).unwrap();
    world.open("a.hl7").await;
    assert_eq!(world.hl7().await, "MSH|^~\\&|A");
    world.desk.patch(vec![set("MSH.3", "é")]).await.unwrap();
    world.desk.save(None).await.unwrap();
    assert_eq!(world.read_file("a.hl7"), "\u{feff}MSH|^~\\&|é");
    assert_eq!(std::fs::metadata(world.path("a.hl7")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn messages_of_older_systems_keep_their_bytes() {
    let world = World::with("a.hl7", b"MSH|^~\\&|A\rPID|1||\xe9\xff\rNTE|1|\x80").await;
    assert_eq!(world.desk.get("PID.3".to_owned()).await.unwrap().as_deref(), Some("éÿ"));
    world.desk.patch(vec![set("PID.1", "ü")]).await.unwrap();
    world.desk.save(None).await.unwrap();
    assert_eq!(std::fs::read(world.path("a.hl7")).unwrap(), b"MSH|^~\\&|A\rPID|\xfc||\xe9\xff\rNTE|1|\x80");
    world.desk.patch(vec![set("PID.1", "€")]).await.unwrap();
    assert!(matches!(world.desk.save(None).await, Err(MessageError::BadFile(_))));
}

#[tokio::test]
async fn calls_apply_in_the_order_in_which_they_are_made() {
    let world = World::with("a.hl7", MESSAGE).await;
    let calls: Vec<_> =
        (0..50).map(|number| world.desk.patch(vec![set("PID.1", &number.to_string())])).collect();
    // The last one first.
    for call in calls.into_iter().rev() {
        call.await.unwrap();
    }
    assert_eq!(world.desk.get("PID.1".to_owned()).await.unwrap().as_deref(), Some("49"));
}

#[tokio::test]
async fn a_listener_that_falls_behind_hears_the_latest() {
    let mut world = World::with("a.hl7", MESSAGE).await;
    for number in 0..200 {
        world.desk.patch(vec![set("PID.1", &format!("n{number}"))]).await.unwrap();
    }
    let told = world.told();
    assert!(told.len() < 200);
    assert_eq!(told.last().map(String::as_str), Some("changed 201"));
}
