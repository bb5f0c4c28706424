//! Plugins end with whoever started them, however that ends.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::auto::AutoStage;
use crate::plugins::{House, OWN, noted, plugin, until_gone};

/// How long plugins may take to leave, as the server has it, and what a busy machine adds.
const LONGEST: Duration = Duration::from_secs(15 + 15);

/// Much less than a plugin that hangs would take to be let go.
const SOON: Duration = Duration::from_secs(8);

/// A house with agents that run, one for each of these habits.
fn with_running(habits: &[(&str, &[&str])]) -> House {
    let stage = AutoStage::new();
    for (name, habits) in habits {
        plugin(&stage.0, OWN, "agent", name, habits);
    }
    let house = House::around(stage);
    for (name, _) in habits {
        house.done(&["plugin", "enable", name]);
        house.done(&["-q", "ask", "-m", &format!("plugin:{name}"), "hello"]);
        assert_eq!(house.state(name), "running");
    }
    house
}

fn started(house: &House, name: &str) -> Vec<i32> {
    let started = noted(&house.stage.0, &format!("{OWN}/{name}/starts.log"));
    assert_eq!(started.len(), 1, "{name}");
    started
}

#[test]
fn plugins_are_let_go_one_beside_the_other_in_bounded_time() {
    let house = with_running(&[("good", &[]), ("one", &["hang", "deaf"]), ("two", &["hang", "deaf"])]);
    let all: Vec<i32> = ["good", "one", "two"].iter().flat_map(|name| started(&house, name)).collect();
    let begin = Instant::now();
    house.server.signal(Signal::TERM);
    let (code, _, said) = house.server.wait();
    assert_eq!(code, Some(0), "{said}");
    assert!(begin.elapsed() < LONGEST, "{:?}", begin.elapsed());
    until_gone(&all);
    for name in ["good", "one", "two"] {
        let asked = noted(&house.stage.0, &format!("{OWN}/{name}/shutdowns.log"));
        assert_eq!(asked.len(), 1, "{name} was asked to leave");
    }
}

#[test]
fn a_second_signal_kills_plugins_at_once() {
    let house = with_running(&[("slow", &["hang", "deaf"])]);
    let pids = started(&house, "slow");
    house.server.signal(Signal::TERM);
    // From here on it waits for the plugin.
    let asked = house.stage.0.path(&format!("{OWN}/slow/shutdowns.log"));
    let begin = Instant::now();
    while !asked.exists() {
        assert!(begin.elapsed() < LONGEST, "it was never asked to leave");
        std::thread::yield_now();
    }
    let begin = Instant::now();
    house.server.signal(Signal::TERM);
    assert_eq!(house.server.wait().0, Some(1));
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    until_gone(&pids);
}

#[test]
fn a_server_that_is_killed_leaves_no_plugin_and_none_of_its_children() {
    let house = with_running(&[("parent", &["parent", "deaf"])]);
    let mut pids = started(&house, "parent");
    pids.extend(noted(&house.stage.0, &format!("{OWN}/parent/children.log")));
    assert_eq!(pids.len(), 2);
    house.server.signal(Signal::KILL);
    assert_eq!(house.server.wait().0, None);
    until_gone(&pids);
}

#[test]
fn a_command_without_a_server_waits_for_no_plugin() {
    let stage = AutoStage::new();
    plugin(&stage.0, OWN, "agent", "slow", &["hang", "deaf"]);
    let file = stage.0.read("home/.config/loggia/config.toml");
    stage.0.user_file(&format!("{file}[plugins]\nenabled = [\"slow\"]\nconfig.slow.city = \"Bern\"\n"));
    let path = std::env::var("PATH").unwrap();
    let begin = Instant::now();
    let told =
        stage.0.run_with(&[("PATH", &path)], &["-q", "ask", "--ephemeral", "-m", "plugin:slow", "hello"]);
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.stdout.contains("is in Bern."), "{told}");
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    until_gone(&noted(&stage.0, &format!("{OWN}/slow/starts.log")));
}

#[test]
fn plugins_that_stay_as_they_are_go_on_when_others_change() {
    let house = with_running(&[("good", &[])]);
    house.plugin(OWN, "agent", "other", &[]);
    house.done(&["plugin", "enable", "other"]);
    house.done(&["-q", "ask", "-m", "plugin:good", "hello"]);
    house.done(&["plugin", "disable", "other"]);
    assert_eq!(house.state("good"), "running");
    let before = started(&house, "good");
    // One that is turned off is let go, and comes back anew.
    house.done(&["plugin", "disable", "good"]);
    until_gone(&before);
    house.done(&["plugin", "enable", "good"]);
    house.done(&["-q", "ask", "-m", "plugin:good", "hello"]);
    assert_eq!(noted(&house.stage.0, &format!("{OWN}/good/starts.log")).len(), 2);
    house.server.end();
}
