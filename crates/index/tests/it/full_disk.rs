//! A disk that takes no more: the build fails and says so, and the last state stays.

use std::path::Path;
use std::process::{Command, Stdio};

use loggia_domain::{CodeIndex, IndexBuild, IndexState};
use loggia_index::FileIndex;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::support::{House, found, settings, symbols, until};

/// Where the child finds its files and its index.
const PLACES: [&str; 2] = ["LOGGIA_INDEX_DISK_FILES", "LOGGIA_INDEX_DISK_DATA"];

/// More than the first build writes into any file, and less than the second one does.
const ROOM: u64 = 24 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_cannot_be_written_leaves_the_last_state() {
    if let Some([files, data]) = places() {
        return live_without_room(Path::new(&files), Path::new(&data)).await;
    }
    let house = House::with(&[("keep.rs", "fn keeper_of_the_garden() {}\n")]);
    drop(house.built().await);
    // In a process of its own, since the limit would be everybody's.
    #[expect(clippy::disallowed_methods, reason = "the child is waited for")]
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::a_build_that_cannot_be_written_leaves_the_last_state", "--nocapture"])
        .env(PLACES[0], house.files.path())
        .env(PLACES[1], house.data.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let index = house.open();
    assert_eq!(found(&index, symbols("keeper_of_the_garden")).await, "keep.rs:1-1 keeper_of_the_garden");
    assert_eq!(index.details().notes, Vec::<String>::new());
    index.build(IndexBuild::Refresh).await.unwrap();
    assert_eq!(index.status().files, 401);
}

/// Where to live, if this process is the child.
fn places() -> Option<[String; 2]> {
    let [files, data] = PLACES.map(|name| std::env::var(name).ok());
    Some([files?, data?])
}

async fn live_without_room(files: &Path, data: &Path) {
    // Else the first write beyond the limit ends the process.
    let _flag = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default()).unwrap();
    setrlimit(Resource::Fsize, Rlimit { current: Some(ROOM), maximum: None }).unwrap();
    let index = FileIndex::open(settings(files, data)).unwrap();
    assert_eq!(found(&index, symbols("keeper_of_the_garden")).await, "keep.rs:1-1 keeper_of_the_garden");
    for number in 0..400_u32 {
        let words: String = (0..60).map(|word| format!("word_{number}_{word} ")).collect();
        std::fs::write(files.join(format!("f{number}.rs")), format!("fn f{number}() {{}}\n// {words}\n"))
            .unwrap();
    }
    for how in [IndexBuild::Refresh, IndexBuild::Rebuild] {
        assert!(index.build(how).await.is_err());
        assert_eq!(index.status().state, IndexState::Failed);
        assert!(index.status().last_error.is_some());
        assert_eq!(found(&index, symbols("keeper_of_the_garden")).await, "keep.rs:1-1 keeper_of_the_garden");
    }
    // What failed is tried again by itself, and goes well when there is room.
    setrlimit(Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    until(&index, symbols("f399"), "f399.rs:1-1 f399").await;
    assert_eq!((index.status().state, index.status().last_error), (IndexState::Ready, None));
}
