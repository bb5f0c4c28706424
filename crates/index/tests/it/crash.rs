//! A child that builds and changes is killed with SIGKILL again and again; what is left is whole each time.
//!
//! Six kills here; `cargo xtask crash` does more.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use loggia_domain::{CodeIndex, IndexBuild, IndexState};
use loggia_index::FileIndex;

use crate::support::{House, found, settings, symbols, text};

/// How many kills, unless the environment says otherwise.
const KILLS: u64 = 6;

/// Files that the child changes.
const FILES: u64 = 120;

/// Where the child finds its files and its index.
const PLACES: [&str; 2] = ["LOGGIA_INDEX_CRASH_FILES", "LOGGIA_INDEX_CRASH_DATA"];

/// Numbers that look random and are the same in every run.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

fn write(files: &Path, number: u64, round: u64) {
    let path = files.join(format!("d{}", number % 5));
    std::fs::create_dir_all(&path).unwrap();
    let text =
        format!("/// Round {round}.\npub fn orchard_{number}_{round}() {{ meadow_{}(); }}\n", number % 9);
    std::fs::write(path.join(format!("f{number}.rs")), text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_time_leaves_the_last_state_whole() {
    if let Some([files, data]) = places() {
        return live(Path::new(&files), Path::new(&data)).await;
    }
    let kills =
        std::env::var("LOGGIA_CRASH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let house = House::with(&[("keep.rs", "fn keeper_of_the_garden() {}\n")]);
    (0..FILES).for_each(|number| write(house.files.path(), number, 0));
    drop(house.built().await);
    let mut seed = 20_261_116;
    let mut steps = 0;
    for kill in 0..kills {
        let life = Duration::from_millis(5 + random(&mut seed) % 400);
        let (files, data) = (house.files.path().to_owned(), house.data.path().to_owned());
        steps += tokio::task::spawn_blocking(move || live_and_die(&files, &data, life)).await.unwrap();
        let index = house.open();
        assert_eq!(found(&index, symbols("keeper_of_the_garden")).await, "keep.rs:1-1 keeper_of_the_garden");
        assert_eq!(index.details().notes, Vec::<String>::new(), "kill {kill}: it was damaged");
        assert_eq!(index.status().state, IndexState::Stale);
        index.build(IndexBuild::Refresh).await.unwrap();
        let data = tempfile::tempdir().unwrap();
        let fresh = FileIndex::open(settings(house.files.path(), data.path())).unwrap();
        fresh.build(IndexBuild::Rebuild).await.unwrap();
        for query in [symbols("orchard_7"), text("orchard meadow round")] {
            let (ours, expected) = (index.search(query.clone()).await, fresh.search(query).await);
            assert_eq!(ours, expected, "kill {kill}");
        }
    }
    assert!(steps > kills, "the children did too little: {steps}");
}

/// Lets the child work for a time. Says how many steps it finished.
#[expect(clippy::disallowed_methods, reason = "the child is to be killed by us, not kept")]
fn live_and_die(files: &Path, data: &Path, life: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::a_kill_at_any_time_leaves_the_last_state_whole", "--nocapture"])
        .env(PLACES[0], files)
        .env(PLACES[1], data)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // However slow the machine is: it has begun before it is killed.
    assert!(lines.any(|line| line == "step"), "the child comes up after every crash");
    let reader = std::thread::spawn(move || lines.filter(|line| line == "step").count() as u64);
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    1 + reader.join().unwrap()
}

/// Where to live, if this process is the child.
fn places() -> Option<[String; 2]> {
    let [files, data] = PLACES.map(|name| std::env::var(name).ok());
    Some([files?, data?])
}

/// Builds and changes, until somebody kills it.
async fn live(files: &Path, data: &Path) {
    let index =
        FileIndex::open(loggia_index::IndexSettings { settle: Duration::ZERO, ..settings(files, data) });
    let index = index.unwrap();
    let mut seed = u64::from(std::process::id());
    for round in 1.. {
        // Past the harness, which would keep it for itself.
        writeln!(std::io::stdout(), "step").and_then(|()| std::io::stdout().flush()).unwrap();
        let numbers: Vec<u64> = (0..1 + random(&mut seed) % 20).map(|_| random(&mut seed) % FILES).collect();
        numbers.iter().for_each(|number| write(files, *number, round));
        match random(&mut seed) % 4 {
            0 => drop(index.build(IndexBuild::Rebuild).await.unwrap()),
            1 => drop(index.build(IndexBuild::Refresh).await.unwrap()),
            _ => {
                let paths = numbers.iter().map(|number| format!("d{}/f{number}.rs", number % 5)).collect();
                index.changed(paths).await.unwrap();
            }
        }
    }
}
