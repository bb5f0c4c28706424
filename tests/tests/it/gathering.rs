//! What is looked up for an instruction by what it is for: told with its place, once, within bounds, and only what may
//! be read.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{
    Aim, AimedFile, ApprovalScope, Decision, EventBody, IndexState, Instruction, Intent, ModelMessage,
    ModelRequest, Preset, Purpose, QueryKind, Role, Rule, Spot, TurnEnd, WhenBusy,
};
use loggia_tests::{Player, World};

use crate::commands::runs;
use crate::retrieval::{FakeIndex, finding, finds, said};
use crate::{world, world_with};

/// A turn of two steps.
const LOOKS: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "list_directory", arguments = { path = "." } } }]

    [[reply]]
    parts = [{ text = "Seen." }]
"#;

/// How the model is told what was looked up.
const HEADING: &str = "What belongs to this, looked up in the workspace before you began:";

/// How it is told that there is nothing to show.
const CLEAN: &str =
    "In the files that may be read without asking, git shows no change since the last commit.";

fn aim(purpose: Purpose, files: &[(&str, Option<Spot>)]) -> Aim {
    let file = |(path, spot): &(&str, Option<Spot>)| AimedFile { path: (*path).to_owned(), spot: *spot };
    Aim { purpose, files: files.iter().map(file).collect(), has_output: false }
}

fn intent(text: &str, aim: Aim) -> Intent {
    let instruction = Instruction { text: text.to_owned(), aim: Some(aim), ..Instruction::default() };
    Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }
}

async fn play(player: &mut Player, text: &str, aim: Aim) -> TurnEnd {
    let began = player.seat.intend(intent(text, aim)).await.unwrap().seq;
    player
        .until_event(|event| match &event.body {
            EventBody::TurnEnded { end, .. } if event.seq > began => Some(end.clone()),
            _ => None,
        })
        .await
}

/// What was looked up, as it stands in a request; it is there once, behind the instruction.
fn gathered(request: &ModelRequest) -> String {
    let texts: Vec<&String> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            ModelMessage::User(text) => Some(text),
            _ => None,
        })
        .collect();
    let place = texts.iter().position(|text| text.starts_with(HEADING));
    let found = texts.iter().filter(|text| text.contains(HEADING)).count();
    assert_eq!(found, usize::from(place.is_some()), "{texts:?}");
    place.map(|place| texts[place].clone()).unwrap_or_default()
}

/// Plays one turn and tells what was looked up for it.
async fn looked_up(world: &World, aim: Aim) -> String {
    let (_, mut alice) = world.play(Preset::Full).await;
    assert_eq!(play(&mut alice, "go", aim).await, TurnEnd::Done);
    gathered(&world.model.requests()[0])
}

fn git(directory: &Path, arguments: &[&str]) {
    let mut git = loggia_testkit::git::git(directory);
    git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(arguments);
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

/// Everything there is, in one commit.
fn commit(world: &World) {
    git(world.root(), &["init", "--quiet", "--initial-branch=main"]);
    git(world.root(), &["add", "--all", "--force"]);
    git(world.root(), &["commit", "--quiet", "--message=first"]);
}

fn write(world: &World, path: &str, content: &str) {
    std::fs::write(world.root().join(path), content).unwrap();
}

fn deny(world: &World, path: &str) {
    let rule = Rule {
        tool: None,
        path: Some(path.to_owned()),
        command: None,
        decision: Decision::Deny,
        risk: None,
        reason: None,
        examples: Vec::new(),
    };
    world.change_policy(|policy| policy.rules.push(rule));
}

const SECRET: &str = "correct-horse-battery-staple";

#[tokio::test]
async fn to_fix_something_the_model_sees_what_was_changed_and_the_file() {
    let files = [
        ("src/a.rs", "fn a() -> u8 {\n    1\n}\n"),
        ("src/staged.rs", "old\n"),
        ("src/hidden.rs", "old\n"),
        (".env", "PASSWORD=old\n"),
        ("key.txt", "old\n"),
    ];
    let builder = files.iter().fold(world(), |world, (path, content)| world.file(path, *content));
    let world = builder.secret(SECRET).start(LOOKS).await;
    commit(&world);
    write(&world, "src/staged.rs", "staged\n");
    git(world.root(), &["add", "src/staged.rs"]);
    write(&world, "src/a.rs", "fn a() -> u8 {\n    2\n}\n");
    write(&world, "src/hidden.rs", "hunter2\n");
    write(&world, ".env", "PASSWORD=hunter2\n");
    write(&world, "key.txt", &format!("{SECRET}\n"));
    deny(&world, "src/hidden.rs");
    let (_, mut alice) = world.play(Preset::Ask).await;
    let aim = aim(Purpose::Fix, &[("src/a.rs", None), ("src/hidden.rs", None), (".env", None)]);
    assert_eq!(play(&mut alice, "It is 2 now", aim).await, TurnEnd::Done);
    let requests = world.model.requests();
    let told = gathered(&requests[0]);
    for wanted in [
        "git diff of what is changed and not staged:\n```\ndiff --git a/key.txt",
        "-    1\n+    2\n",
        "git diff of what is staged for the next commit:\n```\ndiff --git a/src/staged.rs",
        "src/a.rs, lines 1 to 3:\n```\nfn a() -> u8 {\n    2\n}\n```",
        "+[masked: known secret]",
    ] {
        assert!(told.contains(wanted), "{wanted:?} in {told}");
    }
    for request in &requests {
        let said = said(request);
        assert!(!said.contains("hunter2") && !said.contains(SECRET), "{said}");
    }
    // Right behind the instruction, and there for as long as the turn lasts.
    let place = |request: &ModelRequest| {
        request
            .messages
            .iter()
            .position(|message| matches!(message, ModelMessage::User(text) if *text == told))
    };
    assert_eq!((place(&requests[0]), place(&requests[1])), (Some(2), Some(2)));
    assert!(alice.text().contains("retrieved 3 by Text\n"), "{}", alice.text());
    assert_eq!(alice.text().matches("retrieved").count(), 1, "{}", alice.text());
}

#[tokio::test]
async fn what_was_looked_up_belongs_to_its_turn() {
    let script = "[[reply]]\nrepeat = 2\nparts = [{ text = \"ok\" }]\n";
    let world = world_with(&[("a.txt", "content of a\n")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    play(&mut alice, "first", aim(Purpose::Fix, &[("a.txt", None)])).await;
    alice.play("second").await;
    let requests = world.model.requests();
    assert!(gathered(&requests[0]).contains("content of a"));
    assert!(!said(&requests[1]).contains("content of a"), "{}", said(&requests[1]));
}

#[tokio::test]
async fn without_changes_or_a_repository_the_model_hears_the_one_and_not_the_other() {
    let world = world_with(&[("a.txt", "a\n")], LOOKS).await;
    commit(&world);
    let told = looked_up(&world, aim(Purpose::Fix, &[])).await;
    assert_eq!(told, format!("{HEADING}\n{CLEAN}\n"));
    let world = world_with(&[("a.txt", "a\n")], LOOKS).await;
    assert_eq!(looked_up(&world, aim(Purpose::Fix, &[])).await, "");
}

#[tokio::test]
async fn changes_that_may_not_be_read_are_not_denied() {
    let world = world_with(&[("hidden.txt", "old\n")], LOOKS).await;
    commit(&world);
    write(&world, "hidden.txt", "hunter2\n");
    deny(&world, "hidden.txt");
    // It says of which files it knows that, and no more.
    assert_eq!(looked_up(&world, aim(Purpose::Fix, &[])).await, format!("{HEADING}\n{CLEAN}\n"));
}

#[tokio::test]
async fn a_file_made_to_take_long_is_told_like_any_other() {
    let hostile = [
        ("a.js", format!("x = (\n{}\n", "/a/ ".repeat(1 << 17))),
        ("b.js", format!("x = '{}\n", "\\'".repeat(1 << 18))),
        ("c.py", "from c import (\n".repeat(1 << 15)),
    ];
    for (path, text) in hostile {
        for purpose in [Purpose::Explain, Purpose::Refactor] {
            let world = world_with(&[(path, text.as_str())], LOOKS).await;
            let told = looked_up(&world, aim(purpose, &[(path, Some(Spot::Cursor { line: 1 }))])).await;
            // A line without end may leave room for no more than the name.
            assert!(told.contains(path), "{purpose:?}: {told:.500}");
        }
    }
}

#[tokio::test]
async fn a_policy_that_asks_before_git_is_read_keeps_the_diff_out() {
    let world = world_with(&[("a.txt", "old\n")], LOOKS).await;
    commit(&world);
    write(&world, "a.txt", "new\n");
    world.change_policy(|policy| {
        policy.rules.push(Rule {
            tool: Some("git_diff".to_owned()),
            path: None,
            command: None,
            decision: Decision::Ask,
            risk: None,
            reason: None,
            examples: Vec::new(),
        });
    });
    assert_eq!(looked_up(&world, aim(Purpose::Fix, &[])).await, "");
}

#[tokio::test]
async fn a_command_that_failed_is_pointed_at_where_the_model_still_sees_it() {
    let script = format!("{}{LOOKS}", runs("echo the linker is missing >&2; exit 3"));
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("build").await;
    play(&mut alice, "repair it", aim(Purpose::Fix, &[])).await;
    let requests = world.model.requests();
    let told = gathered(&requests[2]);
    assert!(
        told.contains("`echo the linker is missing >&2; exit 3` is the last command that failed"),
        "{told}"
    );
    assert!(told.contains("what it printed is above."), "{told}");
    assert_eq!(said(&requests[2]).matches("stderr:\nthe linker is missing").count(), 1, "once is enough");
    // What the client sent itself is what counts.
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("build").await;
    let sent = Aim { has_output: true, ..aim(Purpose::Fix, &[]) };
    play(&mut alice, "repair it", sent).await;
    assert_eq!(gathered(&world.model.requests()[2]), "");
}

#[tokio::test]
async fn a_command_that_failed_is_told_again_once_the_model_has_forgotten_it() {
    let long = "word ".repeat(900);
    let script = format!(
        "context_tokens = 5000\n{}[[reply]]\nrepeat = 3\nparts = [{{ text = \"{long}\" }}]\n\
         [[reply]]\nexpect = \"Summarise\"\nparts = [{{ text = \"They built.\" }}]\n\
         [[reply]]\nparts = [{{ text = \"ok\" }}]\n",
        runs("echo the linker is missing >&2; exit 3")
    );
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("build").await;
    for _ in 0..3 {
        alice.play("talk").await;
    }
    assert_eq!(play(&mut alice, "repair it", aim(Purpose::Fix, &[])).await, TurnEnd::Done);
    assert!(alice.text().contains("history compacted: They built."), "{}", alice.text());
    let requests = world.model.requests();
    let told = gathered(requests.last().unwrap());
    assert!(
        told.contains("the last command that failed in this session:\n```\nExit code 3.\nstderr:\nthe linker is missing\n```"),
        "{told}"
    );
}

#[tokio::test]
async fn to_test_something_the_model_sees_its_tests_and_how_they_went() {
    let files = [
        ("src/parse.rs", "pub fn parse() {}\n"),
        ("src/parse/tests.rs", "#[test]\nfn parses() {}\n"),
        ("tests/parse.rs", "#[test]\nfn parses_all() {}\n"),
        ("tests/secret/parse.rs", "// hunter2\n"),
        ("src/other.rs", "fn unrelated() {}\n"),
    ];
    let script = format!("{}{LOOKS}", runs("echo 3 tests passed # cargo test"));
    let world = world_with(&files, &script).await;
    deny(&world, "tests/secret/**");
    let (_, mut alice) = world.play(Preset::Full).await;
    alice.play("test it").await;
    play(&mut alice, "more tests", aim(Purpose::Test, &[("src/parse.rs", None)])).await;
    let told = gathered(&world.model.requests()[2]);
    for wanted in [
        "is the last run of tests in this session; what it printed is above.",
        "src/parse.rs, lines 1 to 1:\n```\npub fn parse() {}",
        "src/parse/tests.rs, lines 1 to 2 (a test of it):\n```\n#[test]\nfn parses() {}",
        "tests/parse.rs, lines 1 to 2 (a test of it):",
    ] {
        assert!(told.contains(wanted), "{wanted:?} in {told}");
    }
    assert!(!told.contains("hunter2") && !told.contains("unrelated"), "{told}");
}

#[tokio::test]
async fn from_a_test_the_model_sees_what_it_tests() {
    let files = [
        ("pkg/login.py", "def login(): pass\n"),
        ("pkg/helper.py", "def help(): pass\n"),
        ("tests/test_login.py", "from pkg import login\n"),
        ("tests/test_all.py", "from pkg import helper\n"),
    ];
    let world = world_with(&files, LOOKS).await;
    let told = looked_up(&world, aim(Purpose::Test, &[("tests/test_login.py", None)])).await;
    assert!(told.contains("pkg/login.py, lines 1 to 1 (what is tested):"), "{told}");
    assert!(!told.contains("helper"), "{told}");
    // Where no name says it, its imports do.
    let world = world_with(&files, LOOKS).await;
    let told = looked_up(&world, aim(Purpose::Test, &[("tests/test_all.py", None)])).await;
    assert!(told.contains("pkg/helper.py, lines 1 to 1 (what is tested):"), "{told}");
}

#[tokio::test]
async fn a_file_without_tests_is_told_to_have_none() {
    let world = world_with(&[("src/a.go", "package a\n")], LOOKS).await;
    let told = looked_up(&world, aim(Purpose::Test, &[("src/a.go", None)])).await;
    assert!(told.contains("No tests of `src/a.go` were found."), "{told}");
    let inline = "fn a() {}\n\n#[cfg(test)]\nmod tests {}\n";
    let world = world_with(&[("src/a.rs", inline)], LOOKS).await;
    let told = looked_up(&world, aim(Purpose::Test, &[("src/a.rs", None)])).await;
    assert!(told.contains("mod tests {}") && !told.contains("No tests"), "{told}");
}

const SOURCE: &str = "\
use std::fmt;

/// Adds.
fn add(a: u8) -> u8 {
    a + 1
}

fn other() {}
";

#[tokio::test]
async fn to_explain_something_the_model_sees_just_that() {
    let cases = [
        (
            Some(Spot::Selected { first: 4, last: 5 }),
            "src/a.rs, lines 4 to 5:\n```\nfn add(a: u8) -> u8 {\n    a + 1\n```\n",
        ),
        (
            Some(Spot::Cursor { line: 5 }),
            "src/a.rs, lines 3 to 6:\n```\n/// Adds.\nfn add(a: u8) -> u8 {\n    a + 1\n}\n```\n",
        ),
        (Some(Spot::Visible { first: 8, last: 200 }), "src/a.rs, lines 8 to 8:\n```\nfn other() {}\n```\n"),
    ];
    for (spot, expected) in cases {
        // Nor does it see what an index finds besides.
        let index = finds(&[finding("src/b.rs", (1, 1), "fn noise() {}")]);
        let world = world().file("src/a.rs", SOURCE).file("src/b.rs", "use crate::a;\n").index(index);
        let world = world.start(LOOKS).await;
        commit(&world);
        let told = looked_up(&world, aim(Purpose::Explain, &[("src/a.rs", spot)])).await;
        assert_eq!(told, format!("{HEADING}\n\n{expected}"));
        assert!(!said(&world.model.requests()[0]).contains("noise"));
    }
}

#[tokio::test]
async fn what_was_named_is_explained_and_not_what_the_cursor_is_on() {
    let world = world_with(&[("src/a.rs", SOURCE), ("src/b.rs", "fn b() {}\n")], LOOKS).await;
    let files = [("src/b.rs", Some(Spot::Cursor { line: 1 })), ("src/a.rs", Some(Spot::Named { line: 8 }))];
    let told = looked_up(&world, aim(Purpose::Explain, &files)).await;
    assert_eq!(told, format!("{HEADING}\n\nsrc/a.rs, lines 8 to 8:\n```\nfn other() {{}}\n```\n"));
}

#[tokio::test]
async fn an_index_that_is_ready_says_where_a_function_ends() {
    let symbols = [
        finding("src/a.rs", (1, 8), "the whole module"),
        finding("src/a.rs", (4, 6), "fn add"),
        finding("src/b.rs", (5, 5), "fn add"),
    ];
    for (state, lines, stage) in
        [(IndexState::Ready, "lines 4 to 6", "Symbols"), (IndexState::Building, "lines 3 to 6", "Text")]
    {
        let index = FakeIndex::new(state, [(QueryKind::Symbols, symbols.to_vec())]);
        let world = world().file("src/a.rs", SOURCE).index(Arc::clone(&index) as _).start(LOOKS).await;
        let (_, mut alice) = world.play(Preset::Ask).await;
        play(&mut alice, "why?", aim(Purpose::Explain, &[("src/a.rs", Some(Spot::Cursor { line: 5 }))]))
            .await;
        let told = gathered(&world.model.requests()[0]);
        assert!(told.contains(lines), "{state:?}: {told}");
        assert!(alice.text().contains(&format!("retrieved 1 by {stage}\n")), "{}", alice.text());
        assert_eq!(index.asked(), usize::from(state == IndexState::Ready));
    }
}

#[tokio::test]
async fn to_refactor_a_file_the_model_sees_what_it_uses_and_what_uses_it() {
    let files = [
        ("src/auth/login.ts", "import { hash } from '../hash';\nexport function login() { hash(); }\n"),
        ("src/hash.ts", "export function hash() {}\n"),
        ("src/page.ts", "import { login } from './auth/login';\n\nconst a = 1;\nlogin();\n"),
        ("src/hidden.ts", "import { login } from './auth/login';\nlogin('hunter2');\n"),
        ("src/unrelated.ts", "// login\nconst noise = 1;\n"),
        ("node_modules/x/index.js", "import { login } from '../../src/auth/login';\n"),
        (".ignore", "node_modules\n"),
    ];
    let world = world_with(&files, LOOKS).await;
    deny(&world, "src/hidden.ts");
    let told = looked_up(&world, aim(Purpose::Refactor, &[("src/auth/login.ts", None)])).await;
    insta::assert_snapshot!(told, @r"
    What belongs to this, looked up in the workspace before you began:

    src/auth/login.ts, lines 1 to 2:
    ```
    import { hash } from '../hash';
    export function login() { hash(); }
    ```

    src/page.ts (it imports the file, on these lines):
    ```
    1: import { login } from './auth/login';
    4: login();
    ```

    src/hash.ts, lines 1 to 1 (it imports this):
    ```
    export function hash() {}
    ```
    ");
}

#[tokio::test]
async fn links_lead_to_nothing_that_may_not_be_read() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.py"), "hunter2\n").unwrap();
    let world =
        world_with(&[(".env", "PASSWORD=hunter2\n"), ("m.py", "import env\nimport secret\n")], LOOKS).await;
    std::os::unix::fs::symlink(".env", world.root().join("env.py")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.py"), world.root().join("secret.py")).unwrap();
    for purpose in [Purpose::Fix, Purpose::Test, Purpose::Explain, Purpose::Refactor] {
        let (_, mut alice) = world.play(Preset::Full).await;
        let files = [
            ("m.py", None),
            ("env.py", None),
            ("secret.py", None),
            ("../secret.py", None),
            ("/etc/passwd", None),
        ];
        play(&mut alice, "go", aim(purpose, &files)).await;
    }
    for request in world.model.requests() {
        let said = said(&request);
        assert!(!said.contains("hunter2") && !said.contains("root:"), "{said}");
    }
}

#[tokio::test]
async fn what_is_looked_up_leaves_room_in_a_small_window_and_is_bounded_in_a_large_one() {
    let long: String = (0..4000).map(|number| format!("let word_{number} = {number};\n")).collect();
    let imports: String = (0..30).map(|number| format!("import './f{number}';\n")).collect();
    for (window, most) in [(4000, 4000), (10_000_000, 64 << 10)] {
        let mut builder = world().file("main.ts", format!("{imports}{long}"));
        for number in 0..30 {
            builder = builder.file(&format!("f{number}.ts"), format!("import './main';\n{long}"));
        }
        let world = builder.start(&format!("context_tokens = {window}\n{LOOKS}")).await;
        let told = looked_up(&world, aim(Purpose::Refactor, &[("main.ts", None)])).await;
        assert!(told.len() <= most, "{} of {most}", told.len());
        assert!(told.len() > most / 3, "{} of {most}", told.len());
        assert!(told.contains("main.ts, lines 1 to 4030:") && told.contains("[… cut after line "), "{told}");
        assert!(told.contains("More files may depend on `main.ts`: not all were looked at."), "{told}");
    }
}

#[tokio::test]
async fn a_prompt_that_fills_the_window_leaves_no_room_for_more() {
    let script = "context_tokens = 20000\n[[reply]]\nparts = [{ text = \"ok\" }]\n";
    let world = world_with(&[("a.txt", &"line of a\n".repeat(3000))], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    // About fourteen thousand tokens; of the other six thousand half may be used.
    let long = "word ".repeat(11_200);
    assert_eq!(play(&mut alice, &long, aim(Purpose::Fix, &[("a.txt", None)])).await, TurnEnd::Done);
    let told = gathered(&world.model.requests()[0]);
    assert!((8000..=12_000).contains(&told.len()), "{}", told.len());
}

#[tokio::test]
async fn what_was_looked_up_gives_way_when_a_model_finds_it_too_long() {
    let script = r#"
        [[reply]]
        parts = [{ error = { kind = "too_long", message = "too much" } }]

        [[reply]]
        parts = [{ text = "fits" }]
    "#;
    let world = world_with(&[("a.txt", "content of a\n")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(play(&mut alice, "go", aim(Purpose::Fix, &[("a.txt", None)])).await, TurnEnd::Done);
    let requests = world.model.requests();
    assert!(gathered(&requests[0]).contains("content of a"));
    assert_eq!(gathered(&requests[1]), "");
    assert!(!alice.text().contains("compacted"), "{}", alice.text());
}

#[tokio::test]
async fn a_turn_that_waited_across_a_restart_still_has_what_belongs_to_it() {
    let ask =
        "[[reply]]\nparts = [{ call = { tool = \"run_command\", arguments = { command = \"true\" } } }]\n";
    let world = world_with(&[("a.txt", "content of a\n")], ask).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(intent("go", aim(Purpose::Fix, &[("a.txt", None)]))).await.unwrap();
    let approval = alice.until_asked().await;
    drop(alice);
    let world = world.restart("[[reply]]\nparts = [{ text = \"done\" }]\n").await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert!(gathered(&world.model.requests()[0]).contains("content of a"));
    assert_eq!(bob.text().matches("retrieved").count(), 1, "it was told when it was new: {}", bob.text());
}

#[tokio::test]
async fn an_instruction_about_files_without_end_is_refused() {
    let world = world_with(&[], LOOKS).await;
    let (_, alice) = world.play(Preset::Ask).await;
    let long = "d/".repeat(40 << 10);
    let refused = alice.seat.intend(intent("go", aim(Purpose::Fix, &[(&long, None)]))).await;
    assert!(matches!(refused, Err(loggia_engine::IntentError::TooLong { .. })), "{refused:?}");
}
