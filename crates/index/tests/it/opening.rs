//! Opening what is on disk: whole, damaged, of another version, or somebody else's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::{CodeIndex, IndexBuild, IndexState};
use loggia_index::{FileIndex, IndexSettings, OpenError};

use crate::support::{House, eventually, found, obey_permissions, symbols, text};

fn house() -> House {
    House::with(&[("a.rs", "fn orchard() {}\n"), ("b.py", "def meadow(): pass\n")])
}

#[tokio::test]
async fn an_index_is_there_when_it_is_opened_again() {
    let house = house();
    let built = house.built().await.status();
    let index = house.open();
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    let status = index.status();
    // Files may have changed meanwhile; nobody has looked yet.
    assert_eq!(status.state, IndexState::Stale);
    assert_eq!((status.files, status.symbols), (built.files, built.symbols));
    house.write("a.rs", "fn brook() {}\n");
    assert_eq!(index.build(IndexBuild::Refresh).await.unwrap().state, IndexState::Ready);
    assert_eq!(found(&index, symbols("brook")).await, "a.rs:1-1 brook");
    assert_eq!(index.details().notes, Vec::<String>::new());
}

#[tokio::test]
async fn two_owners_cannot_have_one_index() {
    let house = house();
    let index = house.built().await;
    match FileIndex::open(house.settings()) {
        Err(OpenError::InUse { owner, .. }) => assert_eq!(owner, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    drop(index);
    assert!(FileIndex::open(house.settings()).is_ok());
}

#[tokio::test]
async fn an_index_of_another_version_is_built_anew_with_a_message() {
    let house = house();
    drop(house.built().await);
    fs::write(house.data.path().join("current"), "loggia-index 0 build-1\n").unwrap();
    let index = house.open();
    index.build(IndexBuild::Refresh).await.unwrap();
    assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard");
    let notes = index.details().notes;
    assert_eq!(notes, ["the index has version 0, this program writes version 3; it is built anew"]);
}

#[tokio::test]
async fn any_damaged_file_is_noticed_and_the_index_built_anew() {
    let files = {
        let house = house();
        drop(house.built().await);
        below(house.data.path())
    };
    assert!(files.len() > 5, "{files:?}");
    for file in files.iter().filter(|file| is_ours(file)) {
        for damage in [Damage::Flip, Damage::Cut, Damage::Remove] {
            let house = house();
            drop(house.built().await);
            // Names of parts are drawn anew in every build.
            let Some(path) = matching(house.data.path(), file) else { panic!("{file:?}") };
            damage.apply(&path);
            let index = house.open();
            index.build(IndexBuild::Refresh).await.unwrap();
            assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard", "{file:?} {damage:?}");
            assert_eq!(found(&index, text("meadow")).await, "b.py:1-1", "{file:?} {damage:?}");
        }
    }
}

/// A workspace whose index has as many packs as are allowed: they are read to be made one when it is next written.
async fn house_with_many_packs() -> House {
    let house = house();
    drop(house.built().await);
    // A change that is written by itself leaves a pack.
    for number in 0..11 {
        let index = house.open();
        house.write(&format!("c{number}.rs"), format!("fn brook_{number}() {{}}\n"));
        index.changed(vec![format!("c{number}.rs")]).await.unwrap();
    }
    house
}

#[tokio::test]
async fn a_lock_that_is_a_link_is_not_followed() {
    let house = house();
    let other = house.files.path().join("a.rs");
    std::os::unix::fs::symlink(&other, house.data.path().join("lock")).unwrap();
    let refused = FileIndex::open(house.settings()).unwrap_err();
    assert!(matches!(refused, OpenError::NotWritable { .. }), "{refused:?}");
    assert_eq!(fs::read_to_string(other).unwrap(), "fn orchard() {}\n");
}

#[tokio::test]
async fn damage_that_a_refresh_meets_leads_to_a_new_build() {
    for damage in [Damage::Flip, Damage::Cut] {
        let house = house_with_many_packs().await;
        let index = house.open();
        index.loaded().await;
        damage.apply(&house.data.path().join("build-1/facts-1"));
        // More than is kept in memory, so that the refresh writes.
        for number in 0..300 {
            house.write(&format!("d{number}.rs"), format!("fn creek_{number}() {{}}\n"));
        }
        let status = index.build(IndexBuild::Refresh).await.unwrap();
        assert_eq!((status.state, status.files, status.last_error), (IndexState::Ready, 313, None));
        assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard", "{damage:?}");
        assert!(found(&index, symbols("creek_299")).await.starts_with("d299.rs:1-1 creek_299"), "{damage:?}");
        drop(index);
        let index = house.open();
        assert_eq!(found(&index, symbols("orchard")).await, "a.rs:1-1 orchard", "{damage:?}");
        assert_eq!(index.details().notes, Vec::<String>::new(), "what is on disk now is whole");
    }
}

#[tokio::test]
async fn damage_that_is_met_where_changes_are_written_leads_to_a_new_build() {
    let few_packs = house();
    drop(few_packs.built().await);
    // Where packs are many all are read, and written as one; a pack that is missed then is not missed any more.
    for (house, damage) in [(house_with_many_packs().await, Damage::Flip), (few_packs, Damage::Remove)] {
        let index = opened(&house).await;
        change_and_damage(&house, &index, damage).await;
        is_built_anew(&house, &index).await;
    }
}

#[tokio::test]
async fn damage_is_not_forgotten_where_a_new_build_fails() {
    obey_permissions();
    let house = house_with_many_packs().await;
    let allow = |mode| {
        std::fs::set_permissions(house.data.path(), PermissionsExt::from_mode(mode)).unwrap();
    };
    let index = opened(&house).await;
    allow(0o500);
    change_and_damage(&house, &index, Damage::Flip).await;
    let told = || index.status().last_error.unwrap_or_default();
    eventually("a failed build", || told().contains("ermission denied")).await;
    assert_ne!(index.status().state, IndexState::Ready);
    allow(0o700);
    is_built_anew(&house, &index).await;
}

/// An index that writes changes at once.
async fn opened(house: &House) -> FileIndex {
    let index = FileIndex::open(IndexSettings { settle: Duration::ZERO, ..house.settings() }).unwrap();
    index.loaded().await;
    index
}

/// Damages a pack, and changes a file, which is to be written.
async fn change_and_damage(house: &House, index: &FileIndex, damage: Damage) {
    damage.apply(&house.data.path().join("build-1/facts-1"));
    house.write("d.rs", "fn creek() {}\n");
    index.changed(vec!["d.rs".to_owned()]).await.unwrap();
}

async fn is_built_anew(house: &House, index: &FileIndex) {
    let is_gone = || !house.data.path().join("build-1").exists();
    eventually("a new build", || is_gone() && index.status().state == IndexState::Ready).await;
    assert_eq!(index.status().last_error, None);
    assert_eq!(found(index, symbols("orchard")).await, "a.rs:1-1 orchard");
    assert_eq!(found(index, symbols("creek")).await, "d.rs:1-1 creek");
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip,
    Cut,
    Remove,
}

impl Damage {
    fn apply(self, path: &Path) {
        let mut bytes = fs::read(path).unwrap();
        match self {
            Self::Flip => {
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 0x55;
                }
            }
            Self::Cut => bytes.truncate(bytes.len() / 2),
            Self::Remove => return fs::remove_file(path).unwrap(),
        }
        fs::write(path, bytes).unwrap();
    }
}

/// Files of which the content matters: locks only have to be there.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    !name.ends_with("lock") && name != ".managed.json"
}

fn below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The file of the same kind in another index.
fn matching(directory: &Path, file: &Path) -> Option<PathBuf> {
    let kind = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.rsplit_once('.').map_or_else(|| name.clone(), |(_, ending)| ending.to_owned())
    };
    below(directory).into_iter().find(|path| kind(path) == kind(file))
}
