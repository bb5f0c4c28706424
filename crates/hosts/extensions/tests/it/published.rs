//! The six published test extensions and three older samples, as they behave: their reader counts characters, drops or
//! nests what it reads while it waits, and spins at the end of its input.

use std::time::Duration;

use loggia_domain::{
    CommandDone, DeskEvent, DialogAnswer, DialogBody, DialogWeight, ExtensionState, GuestCommands, Overlaid,
};
use loggia_extensions::{ExtensionEntry, Extensions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::desk::MESSAGE;
use crate::support::{PATIENCE, World, eventually, is_alive, state, texts};

const READER: &str = include_str!("published/reader.py");
const SIX: [(&str, &str); 6] = [
    ("echo", include_str!("published/echo.py")),
    ("editor_ops", include_str!("published/editor_ops.py")),
    ("dialogs", include_str!("published/dialogs.py")),
    ("windows", include_str!("published/windows.py")),
    ("events", include_str!("published/events.py")),
    ("schema_override", include_str!("published/schema_override.py")),
];
const SAMPLES: [(&str, &str); 3] = [
    ("minimal", include_str!("published/minimal.py")),
    ("file_sample", include_str!("published/file_sample.py")),
    ("wizard", include_str!("published/wizard.py")),
];

/// A world with some of them.
pub(crate) fn world(names: &[&str]) -> World {
    let mut world = World::new();
    world.desk.put(MESSAGE);
    std::fs::write(world.directory.path().join("reader.py"), READER).unwrap();
    for (name, source) in SIX.iter().chain(&SAMPLES).filter(|(name, _)| names.contains(name)) {
        world.script(&format!("{name}.py"), source);
    }
    assert_eq!(world.entries.len(), names.len());
    world
}

async fn run(host: &Extensions, command: &str) -> CommandDone {
    let done = host.execute(command.to_owned(), None, Some(PATIENCE)).await.unwrap();
    assert!(!done.still_busy);
    done
}

/// Runs a command and waits until the log has a line.
async fn expect(host: &Extensions, extension: &str, command: &str, line: &str) {
    run(host, command).await;
    let last = || texts(host, extension).iter().any(|text| text == line);
    eventually(&format!("{line:?} of {command}, in {:?}", texts(host, extension)), last).await;
}

#[tokio::test]
async fn all_six_begin_and_leave_by_themselves() {
    let names: Vec<&str> = SIX.iter().map(|(name, _)| *name).collect();
    let world = world(&names);
    let began = Instant::now();
    let host = world.started().await;
    assert!(began.elapsed() < Duration::from_secs(10) * 6);
    assert_eq!(host.commands().await.unwrap().len(), 1 + 6 + 8 + 3 + 1 + 1);
    let buttons: Vec<usize> = host
        .list()
        .iter()
        .map(|one| one.commands.iter().filter(|command| command.button.is_some()).count())
        .collect();
    assert_eq!(buttons, [1, 4, 4, 3, 1, 1]);
    let pids: Vec<String> = host.list().iter().map(|one| one.process.unwrap().to_string()).collect();
    host.stop().await;
    for (name, pid) in names.iter().zip(pids) {
        assert_eq!(state(&host, name), ExtensionState::Stopped);
        assert!(texts(&host, name).last().unwrap().ends_with("exit status 0"), "{:?}", texts(&host, name));
        assert!(!is_alive(&pid));
    }
}

#[tokio::test]
async fn echo_answers_a_ping() {
    let world = world(&["echo"]);
    let host = world.started().await;
    expect(&host, "echo", "echo/ping", "[echo-test] pong").await;
    assert!(texts(&host, "echo").iter().any(|text| text.starts_with("[echo-test] host ")));
    host.stop().await;
}

#[tokio::test]
async fn editor_ops_reads_patches_and_replaces() {
    let world = world(&["editor_ops"]);
    let host = world.started().await;
    let tagged = |text: &str| format!("[editor-ops] {text}");
    expect(&host, "editor_ops", "editor-test/get-hl7", &tagged("hasFile False")).await;
    world.desk.set_file("/srv/a.hl7");
    for format in ["json", "yaml", "toml"] {
        run(&host, &format!("editor-test/get-{format}")).await;
    }
    eventually("three files", || {
        texts(&host, "editor_ops").iter().filter(|text| **text == tagged("filePath /srv/a.hl7")).count() == 3
    })
    .await;
    expect(&host, "editor_ops", "editor-test/patch", &tagged("success True applied 1")).await;
    assert_eq!(world.desk.text().unwrap(), MESSAGE.replace("ROE^ANN", "TEST^ANN"));
    expect(&host, "editor_ops", "editor-test/set", &tagged("success")).await;
    let set = "MSH|^~\\&|TEST|||||||ADT^A01|1|P|2.5.1\rPID|1||||TEST^PATIENT";
    assert_eq!(world.desk.text().unwrap(), set);
    world.desk.put("MSH|^~\\&|X");
    let refused = tagged("segment PID is not in the message at PID.5.1");
    expect(&host, "editor_ops", "editor-test/patch", &refused).await;
    host.stop().await;
}

#[tokio::test]
async fn what_is_not_ascii_reaches_editor_ops_whole() {
    let world = world(&["editor_ops"]);
    world.desk.put("MSH|^~\\&|Größe|😀\rPID|1||||Ørsted^Åse");
    let host = world.started().await;
    let line = "[editor-ops] message 'MSH|^~\\\\&|Größe|😀\\rPID|1||||Ørsted^Åse'";
    expect(&host, "editor_ops", "editor-test/get-hl7", line).await;
    // The next frame is read as well.
    expect(&host, "editor_ops", "editor-test/patch", "[editor-ops] success True applied 1").await;
    host.stop().await;
}

#[tokio::test]
async fn dialogs_are_answered_and_cancelled() {
    let world = world(&["dialogs"]);
    let host = world.started().await;
    let chosen = |paths: &[&str]| Ok(DialogAnswer::Chosen(Some(paths.iter().map(Into::into).collect())));
    let cancelled = || Ok(DialogAnswer::Chosen(None));
    let rounds = [
        ("message-info", Ok(DialogAnswer::Seen), "acknowledged True"),
        ("message-warn", Ok(DialogAnswer::Seen), "acknowledged True"),
        ("message-error", Ok(DialogAnswer::Seen), "acknowledged True"),
        ("confirm", Ok(DialogAnswer::Confirmed(true)), "confirmed True"),
        ("confirm", Ok(DialogAnswer::Confirmed(false)), "confirmed False"),
        ("open-file", chosen(&["/a/ü.hl7"]), "path /a/ü.hl7"),
        ("open-file", cancelled(), "cancelled"),
        ("open-files", chosen(&["/a", "/b"]), "2 files"),
        ("open-files", cancelled(), "cancelled"),
        ("save-file", chosen(&["/c"]), "path /c"),
        ("save-file", cancelled(), "cancelled"),
        ("select-dir", chosen(&["/d"]), "path /d"),
        ("select-dir", cancelled(), "cancelled"),
    ];
    for (command, answer, line) in rounds {
        world.people.will_answer([answer]);
        expect(&host, "dialogs", &format!("dialog-test/{command}"), &format!("[dialog-test] {line}")).await;
    }
    let cancels = texts(&host, "dialogs").iter().filter(|text| *text == "[dialog-test] cancelled").count();
    assert_eq!(cancels, 4);
    let asked = world.people.asked();
    assert!(matches!(asked[1].body, DialogBody::Message { weight: DialogWeight::Warning, .. }));
    host.stop().await;
}

#[tokio::test]
async fn dialogs_leaves_in_good_order_while_a_question_is_open() {
    let world = world(&["dialogs"]);
    let host = world.started().await;
    let given = tokio::spawn({
        let host = host.clone();
        async move { host.execute("dialog-test/confirm".to_owned(), None, None).await }
    });
    eventually("the question", || world.people.asked().len() == 1).await;
    host.stop().await;
    given.await.unwrap().unwrap_err();
    let log = texts(&host, "dialogs");
    assert!(log.iter().any(|text| text == "[dialog-test] error the extension is being stopped"), "{log:?}");
    assert!(log.last().unwrap().ends_with("exit status 0"), "{log:?}");
}

#[tokio::test]
async fn windows_are_opened_closed_and_heard_of() {
    let world = world(&["windows"]);
    let host = world.started().await;
    run(&host, "window-test/open").await;
    eventually("the window", || world.people.shown().len() == 1).await;
    let window = world.people.shown().remove(0);
    assert_eq!((window.width, window.height, window.modal, window.resizable), (500, 300, false, true));
    let page = fetch(&window.url, "GET").await;
    assert!(page.starts_with("HTTP/1.0 200") && page.ends_with("<h1>test</h1>"), "{page}");
    let tagged = |text: String| format!("[window-test] {text}");
    expect(&host, "windows", "window-test/close", &tagged("success True".to_owned())).await;
    eventually("the event", || {
        texts(&host, "windows").contains(&tagged(format!("closed {} extension", window.id)))
    })
    .await;
    expect(&host, "windows", "window-test/close", &tagged("no window".to_owned())).await;
    run(&host, "window-test/open-modal").await;
    eventually("the second window", || world.people.shown().len() == 2).await;
    assert!(world.people.shown()[1].modal && world.people.shown()[1].resizable);
    run(&host, "window-test/open").await;
    eventually("the third window", || world.people.shown().len() == 3).await;
    let id = world.people.shown()[2].id.to_string();
    world.people.close(&id);
    eventually("the event", || texts(&host, "windows").contains(&tagged(format!("closed {id} user")))).await;
    run(&host, "window-test/close").await;
    host.stop().await;
    let log = texts(&host, "windows");
    assert_eq!(log.iter().filter(|text| text.as_str() == "[window-test] no window").count(), 2, "{log:?}");
    let modal = world.people.shown()[1].id;
    assert!(log.contains(&tagged(format!("closed {modal} shutdown"))), "{log:?}");
    assert!(log.last().unwrap().ends_with("exit status 0"), "{log:?}");
}

#[tokio::test]
async fn events_counts_what_it_hears() {
    let world = world(&["events"]);
    let host = world.started().await;
    let line = |text: &str| format!("[events-test] {text}");
    world.desk.tell(DeskEvent::Opened(world.desk.open_message()));
    world.desk.set_file("/srv/a.hl7");
    world.desk.tell(DeskEvent::Opened(world.desk.open_message()));
    for elsewhere in [false, true] {
        world.desk.tell(DeskEvent::Saved { message: world.desk.open_message(), elsewhere });
    }
    for number in 0..50 {
        world.desk.type_text(&format!("MSH|ü{number}"));
    }
    let changed = line("changed /srv/a.hl7 hl7 7 'MSH|ü49'");
    eventually("the change", || texts(&host, "events").contains(&changed)).await;
    expect(&host, "events", "events-test/status", &line("opened 2 saved 2 changed 1")).await;
    let log = texts(&host, "events");
    for expected in ["opened new", "opened /srv/a.hl7", "saved /srv/a.hl7", "saved as /srv/a.hl7"] {
        assert!(log.contains(&line(expected)), "{expected} in {log:?}");
    }
    host.stop().await;
    let counts =
        texts(&host, "events").into_iter().filter(|text| *text == line("opened 2 saved 2 changed 1"));
    assert_eq!(counts.count(), 2);
}

#[tokio::test]
async fn schema_override_lies_over_the_schema_while_it_runs() {
    let world = world(&["schema_override"]);
    let host = world.started().await;
    let [overlay] = &world.desk.overlays()[..] else { panic!("{:?}", world.desk.overlays()) };
    let (pid, obx) = (&overlay.segments["PID"], &overlay.segments["OBX"]);
    assert_eq!((pid.len(), obx.len(), overlay.from.as_str()), (3, 3, "schema_override"));
    assert_eq!((pid[0].field, pid[0].component, &pid[0].required), (3, Some(1), &Overlaid::To(true)));
    assert_eq!((&pid[0].shortest, &pid[0].longest), (&Overlaid::To(8), &Overlaid::To(8)));
    assert_eq!((&pid[1].template, &pid[1].name), (&Overlaid::To("MRN".to_owned()), &Overlaid::Kept));
    assert!(matches!(&pid[2].values, Overlaid::To(values) if values.len() == 5));
    assert!(matches!(&obx[0].values, Overlaid::To(values) if values.len() == 6));
    assert!(matches!(&obx[2].values, Overlaid::To(values) if values.len() == 4));
    expect(&host, "schema_override", "schema-test/verify", "[schema-test] look at the form").await;
    host.stop().await;
    assert!(world.desk.overlays().is_empty());
}

#[tokio::test]
async fn a_reader_that_spins_at_the_end_of_its_input_is_killed_with_its_host() {
    let world = world(&["echo"]);
    let host = world.started().await;
    let pid = host.list()[0].process.unwrap().to_string();
    drop(host);
    eventually("its end", || !is_alive(&pid)).await;
}

#[tokio::test]
async fn the_minimal_sample_loses_nothing_though_it_drops_what_it_reads_while_it_waits() {
    let world = world(&["minimal"]);
    world.desk.set_file("/a");
    let host = world.started().await;
    for round in 0..5 {
        world.desk.set_awake(false);
        let calls = world.desk.calls().len();
        let given = tokio::spawn({
            let host = host.clone();
            async move { host.execute("minimal/go".to_owned(), None, Some(PATIENCE)).await }
        });
        eventually("the request", || world.desk.calls().len() > calls).await;
        world.desk.tell(DeskEvent::Opened(world.desk.open_message()));
        world.desk.tell(DeskEvent::Saved { message: world.desk.open_message(), elsewhere: false });
        tokio::time::sleep(Duration::from_millis(20)).await;
        world.desk.set_awake(true);
        given.await.unwrap().unwrap();
        let events = || texts(&host, "minimal").iter().filter(|text| text.starts_with("event ")).count();
        eventually("both events", || events() == 2 * (round + 1)).await;
    }
    let log = texts(&host, "minimal");
    assert_eq!(log.iter().filter(|text| text.as_str() == "applied 2").count(), 5, "{log:?}");
    assert!(!log.iter().any(|text| text.starts_with("dropped")), "{log:?}");
    assert!(world.desk.text().unwrap().contains("DOE^JOHN"));
    host.stop().await;
    assert!(texts(&host, "minimal").last().unwrap().ends_with("exit status 0"));
}

#[tokio::test]
async fn the_file_sample_patches_from_a_file_that_a_person_chose() {
    let world = world(&["file_sample"]);
    let host = world.started().await;
    let file = world.directory.path().join("patient.json");
    std::fs::write(
        &file,
        r#"{"PID.5.1":"Müller","PID.5.2":"A","PID.7":"19700101","PID.8":"F","PID.11.3":"Köln"}"#,
    )
    .unwrap();
    world.people.will_answer([Ok(DialogAnswer::Chosen(None))]);
    expect(&host, "file_sample", "file-sample/go", "[file-sample] cancelled").await;
    world.people.will_answer([Ok(DialogAnswer::Chosen(Some(vec![file]))), Ok(DialogAnswer::Seen)]);
    expect(&host, "file_sample", "file-sample/go", "[file-sample] told").await;
    assert!(world.desk.text().unwrap().ends_with("Müller^A||19700101|F|||^^Köln"));
    assert!(matches!(&world.people.asked()[2].body, DialogBody::Message { text, .. } if text == "5 fields"));
    host.stop().await;
}

#[tokio::test]
async fn the_wizard_patches_from_its_own_page_and_closes_its_window() {
    let world = world(&["wizard"]);
    let host = world.started().await;
    expect(&host, "wizard", "wizard/go", "window").await;
    let page = fetch(&world.people.shown()[0].url, "POST").await;
    assert!(page.ends_with(r#"[{"success": true, "patchesApplied": 13}, {"success": true}]"#), "{page}");
    eventually("the event", || texts(&host, "wizard").iter().any(|text| text == "closed extension")).await;
    assert!(world.desk.text().unwrap().ends_with("|v20"));
    host.stop().await;
    assert!(texts(&host, "wizard").last().unwrap().ends_with("exit status 0"));
}

#[tokio::test]
async fn the_wizard_with_its_window_open_is_killed_after_five_seconds() {
    let world = world(&["wizard"]);
    let host = world.started().await;
    expect(&host, "wizard", "wizard/go", "window").await;
    let began = Instant::now();
    host.stop().await;
    assert!(began.elapsed() >= Duration::from_secs(5));
    let log = texts(&host, "wizard");
    for expected in
        ["closed shutdown", "closing before I go", "it did not answer `shutdown` within 5 s and was killed"]
    {
        assert!(log.iter().any(|text| text == expected), "{expected} in {log:?}");
    }
    assert_eq!(world.people.open_windows(), 0);
}

#[tokio::test]
async fn extensions_that_are_configured_twice_have_different_names() {
    let mut world = world(&["echo"]);
    let again: ExtensionEntry = world.entries[0].clone();
    world.entries.push(again);
    let host = world.started().await;
    let names: Vec<String> = host.list().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["echo", "echo-2"]);
    let done = host.execute("echo/ping".to_owned(), Some("echo-2".to_owned()), Some(PATIENCE)).await.unwrap();
    assert_eq!(done.extension, "echo-2");
    host.stop().await;
}

/// What a page on this machine answers.
async fn fetch(url: &str, method: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (place, path) = rest.split_once('/').unwrap();
    let mut stream = tokio::net::TcpStream::connect(place).await.unwrap();
    let request = format!("{method} /{path} HTTP/1.0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
