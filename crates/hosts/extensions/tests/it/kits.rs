//! What authors start from: the kits' own tests, and starters in both languages, checked and hosted as they are.

use std::path::{Path, PathBuf};

use loggia_domain::{DeskEvent, DialogAnswer, GuestCommands};
use loggia_extensions::{
    ExtensionEntry, Extensions, Language, Outcome, Starter, StarterError, USUAL_MESSAGE, check,
};
use loggia_wire::child::{ChildSpec, spawn};

use crate::conformance::options;
use crate::support::{PATIENCE, World, eventually, keeper, texts};

fn kit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../sdk")
}

/// Writes a starter into the world. The program of a Rust one was built with these tests.
fn add(world: &mut World, language: Language) -> String {
    let name = match language {
        Language::Python => "my-names",
        // The name that its program was built with.
        Language::Rust => "starter-name",
    };
    let directory = world.directory.path().join(name);
    let starter = Starter::new(name, language, None).unwrap();
    starter.write(&directory).unwrap();
    let mut entry = match language {
        Language::Python => ExtensionEntry {
            args: vec![directory.join("extension.py").to_str().unwrap().to_owned()],
            ..ExtensionEntry::new("python3")
        },
        Language::Rust => {
            let tests = std::env::current_exe().unwrap();
            let examples = tests.parent().unwrap().parent().unwrap().join("examples");
            ExtensionEntry::new(format!("'{}'", examples.join("kit-extension").display()))
        }
    };
    entry.name = Some(name.to_owned());
    world.entries.push(entry);
    name.to_owned()
}

#[tokio::test]
async fn the_python_kit_passes_its_own_tests() {
    let path = std::env::var_os("PATH").unwrap();
    let python = std::env::split_paths(&path).map(|place| place.join("python3")).find(|file| file.is_file());
    let spec = ChildSpec::new("python", python.unwrap())
        .args(["-B", "-m", "unittest", "discover", "-s", "python/tests", "-p", "test_loggia_extension.py"])
        .cwd(kit());
    let mut child = spawn(&keeper(), spec).await.unwrap();
    child.close_input();
    let ended = child.ended().await;
    assert!(ended.exit.success(), "{}", ended.stderr.join("\n"));
    assert!(ended.stderr.iter().any(|line| line == "OK"), "{}", ended.stderr.join("\n"));
}

#[tokio::test]
async fn starters_pass_the_check_as_they_are() {
    for language in [Language::Python, Language::Rust] {
        let mut world = World::new();
        add(&mut world, language);
        let mut options = options(&world);
        options.malformed = true;
        let report = check(&world.entries[0], &options).await;
        let spotless = report.cases.iter().all(|case| case.outcome == Outcome::Passed);
        assert!(spotless && report.has_passed(), "{language:?}\n{}", report.render());
    }
}

#[tokio::test]
async fn starters_work_in_the_host() {
    for language in [Language::Python, Language::Rust] {
        let mut world = World::new();
        let name = add(&mut world, language);
        let host = world.started().await;
        let run = async |host: &Extensions, command: &str, line: &str| {
            host.execute(format!("{name}/{command}"), None, Some(PATIENCE)).await.unwrap();
            eventually(line, || line.is_empty() || texts(host, &name).iter().any(|text| text == line)).await;
        };
        // No message is open, and people see that.
        world.people.will_answer([Ok(DialogAnswer::Seen)]);
        run(&host, "upper", "").await;
        eventually("the dialog", || world.people.asked().len() == 1).await;
        world.desk.put(USUAL_MESSAGE);
        run(&host, "upper", "2 places changed").await;
        assert!(world.desk.text().unwrap().contains("MÜLLER^ZOË"), "{:?}", world.desk.text());
        world.people.will_answer([Ok(DialogAnswer::Confirmed(true))]);
        run(&host, "clear", "").await;
        eventually("the patch", || world.desk.text().unwrap().contains("|^ZOË|")).await;
        world.people.are_away();
        run(&host, "clear", "nothing was changed: nobody is there to answer: no client shows dialogs").await;
        world.desk.set_file("/srv/ä.hl7");
        world.desk.tell(DeskEvent::Saved { message: world.desk.open_message(), elsewhere: false });
        eventually("the event", || {
            texts(&host, &name).iter().any(|text| text == "saved /srv/ä.hl7, number 1")
        })
        .await;
        assert_eq!(
            std::fs::read_to_string(world.directory.path().join(format!("data/{name}/saved"))).unwrap(),
            "1"
        );
        host.stop().await;
        assert!(texts(&host, &name).last().unwrap().ends_with("exit status 0"), "{:?}", texts(&host, &name));
    }
}

#[test]
fn a_starter_is_never_written_over_something() {
    let world = World::new();
    let starter = Starter::new("mine", Language::Python, None).unwrap();
    let directory = world.directory.path().join("mine");
    let files: Vec<&str> = starter.write(&directory).unwrap().iter().map(|file| file.path).collect();
    assert_eq!(files, ["extension.py", "loggia_extension.py", "example.hl7"]);
    assert!(matches!(starter.write(&directory), Err(StarterError::Exists { .. })));
    let all: String = starter.files().into_iter().map(|file| file.text).collect();
    assert!(!all.contains("starter-name"), "every placeholder is filled");
}

#[test]
fn names_of_starters_are_those_of_directories_commands_and_packages() {
    for name in ["", "1st", "My", "a b", "../up", "a_b", "ä", &"x".repeat(65)] {
        let made = Starter::new(name, Language::Rust, None);
        assert!(matches!(made, Err(StarterError::Name { .. })), "{name}");
    }
}

#[test]
fn a_starter_says_what_belongs_into_the_settings() {
    let settings = |language| Starter::new("mine", language, None).unwrap().settings(Path::new("/a \"b\"/c"));
    let expected =
        "[[extensions]]\nname = \"mine\"\npath = \"python3\"\nargs = [\"/a \\\"b\\\"/c/extension.py\"]\n";
    assert_eq!(settings(Language::Python), expected);
    let expected = "[[extensions]]\nname = \"mine\"\npath = \"/a \\\"b\\\"/c/target/release/mine\"\n";
    assert_eq!(settings(Language::Rust), expected);
}

#[test]
fn a_rust_starter_names_the_kit_by_its_path_or_its_version() {
    let cargo = |kit: Option<&Path>| {
        let starter = Starter::new("mine", Language::Rust, kit).unwrap();
        starter.files().into_iter().find(|file| file.path == "Cargo.toml").unwrap().text
    };
    assert!(cargo(None).contains(&format!("loggia-extension-kit = \"{}\"", env!("CARGO_PKG_VERSION"))));
    let place = kit().join("rust/extension");
    let real = place.canonicalize().unwrap();
    assert!(
        cargo(Some(&place)).contains(&format!("loggia-extension-kit = {{ path = '{}' }}", real.display()))
    );
    assert!(matches!(Starter::new("mine", Language::Rust, Some(&kit())), Err(StarterError::NoKit { .. })));
}
