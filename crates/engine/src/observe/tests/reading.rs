//! What is read, and what is not read again.

use std::sync::atomic::AtomicBool;

use loggia_domain::ContentHash;

use loggia_tree::TreePath;

use super::super::MirrorError;
use super::super::manifest::Stat;
use super::super::source::{now_ns, slack_ns};
use super::*;

/// Says of one file, falsely, that it holds what another one of the same length does. Only reading shows the truth.
fn lie(mirror: &mut Mirror, path: &str, told: &str) {
    let mut manifest = Manifest::clone(&mirror.known);
    let index = manifest.position(path).unwrap();
    manifest.entries[index].hash = Some(ContentHash::of(told.as_bytes()));
    mirror.known = Arc::new(manifest);
}

fn is_lied_about(snapshot: &Snapshot, path: &str, told: &str) -> bool {
    snapshot.0.get(path).unwrap().hash == Some(ContentHash::of(told.as_bytes()))
}

#[test]
fn a_file_that_was_not_touched_is_not_read_again() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    let mut mirror = place.mirror();
    refresh(&mut mirror);
    let_time_pass(&mut mirror);
    lie(&mut mirror, "a", "2");
    assert!(is_lied_about(&refresh(&mut mirror), "a", "2"));
    place.set_mode("a", 0o600);
    assert!(!is_lied_about(&refresh(&mut mirror), "a", "2"));
}

#[test]
fn a_file_that_changed_a_moment_ago_is_read_again() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    let mut mirror = place.mirror();
    refresh(&mut mirror);
    lie(&mut mirror, "a", "2");
    assert!(!is_lied_about(&refresh(&mut mirror), "a", "2"));
}

#[test]
fn a_second_change_in_the_same_tick_is_found() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.write("a", "2");
    // As if both writes had the same time.
    let meta = mirror.source.root.stat(&TreePath::parse("a").unwrap()).unwrap().unwrap();
    let mut manifest = Manifest::clone(&snapshot.0);
    manifest.entries[0].stat = Stat::of(&meta).unwrap();
    let snapshot = Snapshot(Arc::new(manifest));
    mirror.known = Arc::clone(&snapshot.0);
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a");
    assert!(is_lied_about(&refresh(&mut mirror), "a", "2"));
}

#[test]
fn an_older_file_is_not_in_doubt() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    assert!(snapshot.0.entries[0].is_racy);
    // The change time cannot be set back, so wait for the real clock to pass it.
    let changed = snapshot.0.entries[0].stat.changed_ns;
    while now_ns() - changed <= slack_ns() {
        std::thread::yield_now();
    }
    assert!(!refresh(&mut mirror).0.entries[0].is_racy);
}

#[test]
fn a_new_process_reads_nothing_again() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    let mut mirror = place.mirror();
    refresh(&mut mirror);
    let_time_pass(&mut mirror);
    lie(&mut mirror, "a", "2");
    refresh(&mut mirror);
    drop(mirror);
    let mut mirror = place.mirror();
    assert!(is_lied_about(&refresh(&mut mirror), "a", "2"));
}

#[test]
fn what_a_cut_command_changed_is_found_by_the_next_process() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    let mut mirror = place.mirror();
    assert!(mirror.last_snapshot().is_none());
    refresh(&mut mirror);
    place.write("a", "changed");
    // The first process even got as far as looking.
    let snapshot = mirror.last_snapshot().unwrap();
    changes(&mut mirror, &snapshot);
    drop((mirror, snapshot));
    place.remove("b");
    for _ in 0..2 {
        let mut mirror = place.mirror();
        let snapshot = mirror.last_snapshot().unwrap();
        let observed = changes(&mut mirror, &snapshot);
        assert_eq!(show(&observed), "* a, - b");
        assert_eq!(observed.before_bytes(&observed.changes[0]).unwrap(), b"1");
    }
}

#[test]
fn a_stop_ends_it_and_it_can_be_called_again() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror();
    let stop = AtomicBool::new(true);
    assert!(matches!(mirror.refresh(&stop), Err(MirrorError::Stopped)));
    assert!(mirror.last_snapshot().is_none());
    let snapshot = refresh(&mut mirror);
    place.write("a", "2");
    assert!(matches!(mirror.changes_since(&snapshot, &stop), Err(MirrorError::Stopped)));
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a");
}

#[test]
fn many_files_are_read_by_several_threads() {
    let place = Place::with(&[]);
    for number in 0..200 {
        place.write(&format!("{}/{number}", number % 7), format!("{number}"));
    }
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    assert_eq!(mirror.source.copies.count(), 200);
    let before = place.files();
    for number in 0..200 {
        place.write(&format!("{}/{number}", number % 7), format!("new {number}"));
    }
    let observed = changes(&mut mirror, &snapshot);
    assert_eq!((observed.changes.len(), observed.beyond_undo), (200, 0));
    place.undo(&observed);
    assert_eq!(place.files(), before);
}

#[test]
fn a_root_that_is_gone_has_lost_every_file() {
    let place = Place::with(&[("a", "1"), ("b/c", "2")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    fs::remove_dir_all(place.workspace.path()).unwrap();
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "- a, - b/c");
    fs::create_dir(place.workspace.path()).unwrap();
}

#[test]
fn a_root_that_cannot_be_read_is_an_error() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.set_mode("", 0o000);
    // The superuser reads everything.
    if fs::read_dir(place.workspace.path()).is_err() {
        assert!(matches!(mirror.refresh(&GO), Err(MirrorError::Unreadable { .. })));
        assert!(matches!(mirror.changes_since(&snapshot, &GO), Err(MirrorError::Unreadable { .. })));
    }
    place.set_mode("", 0o755);
}
