//! A mirror on a disk that lost power, was full, or was written to by others.

use super::super::{LIST, MirrorError};
use super::*;

#[test]
fn a_damaged_list_is_made_again() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    refresh(&mut place.mirror());
    let list = place.data.path().join("mirror").join(LIST);
    let whole = fs::read(&list).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&b""[..], b"loggia mirror 2\n", &whole[..whole.len() - 1], &flipped] {
        fs::write(&list, damaged).unwrap();
        let mut mirror = place.mirror();
        assert!(mirror.last_snapshot().is_none());
        let snapshot = refresh(&mut mirror);
        place.write("a", "other");
        assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a");
        place.write("a", "1");
    }
}

#[test]
fn the_list_of_another_workspace_is_not_believed() {
    let place = Place::with(&[("a", "1")]);
    refresh(&mut place.mirror());
    let moved = Place { workspace: tempfile::tempdir().unwrap(), data: place.data };
    assert!(moved.mirror().last_snapshot().is_none());
}

#[test]
fn a_copy_with_other_bytes_is_not_given_out() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    fs::write(&place.segments()[0].0, "2").unwrap();
    place.write("a", "new");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "beyond 1");
    // The next one is sound.
    let snapshot = refresh(&mut mirror);
    place.write("a", "newer");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a");
}

#[test]
fn copies_that_were_lost_are_made_again() {
    let damages: &[fn(&Path, &Path)] = &[
        |data, _| fs::File::options().write(true).open(data).unwrap().set_len(5).unwrap(),
        |data, _| fs::remove_file(data).unwrap(),
        |_, list| fs::remove_file(list).unwrap(),
        |_, list| fs::write(list, &fs::read(list).unwrap()[..70]).unwrap(),
        |_, list| fs::write(list, [255; 480]).unwrap(),
        |data, list| {
            // As a kill leaves it: bytes that nothing names, and half a line.
            fs::write(data, [&fs::read(data).unwrap()[..], b"half"].concat()).unwrap();
            fs::write(list, [&fs::read(list).unwrap()[..], b"half"].concat()).unwrap();
        },
    ];
    for (number, damage) in damages.iter().enumerate() {
        let place = Place::with(&[("a", "1234"), ("b", "5678")]);
        refresh(&mut place.mirror());
        let (data, list) = &place.segments()[0];
        damage(data, list);
        let mut mirror = place.mirror();
        let snapshot = refresh(&mut mirror);
        place.write("a", "x");
        place.write("b", "y");
        let observed = changes(&mut mirror, &snapshot);
        assert_eq!(show(&observed), "* a, * b", "damage {number}");
        let before = observed.changes.iter().map(|change| observed.before_bytes(change).unwrap());
        assert_eq!(before.collect::<Vec<_>>(), [b"1234", b"5678"], "damage {number}");
    }
}

#[test]
fn a_copy_that_is_lost_after_the_comparison_is_told() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.write("a", "new");
    let observed = changes(&mut mirror, &snapshot);
    place.segments().iter().for_each(|(data, _)| fs::remove_file(data).unwrap());
    assert_eq!(observed.before_bytes(&observed.changes[0]), None);
    assert_eq!(observed.after_bytes(&observed.changes[0]).unwrap(), b"new");
    assert_eq!(observed.observed_changes()[0].diff, "");
}

#[test]
fn other_files_in_the_copies_directory_are_let_be() {
    let place = Place::with(&[("a", "1")]);
    refresh(&mut place.mirror());
    let dir = place.data.path().join("mirror/copies");
    for name in ["1.data", "note", "00000007.other", "99999999999.data", "+0000001.data"] {
        fs::write(dir.join(name), "").unwrap();
    }
    let mut mirror = place.mirror();
    refresh(&mut mirror);
    assert_eq!(mirror.source.copies.count(), 1);
    assert_eq!(fs::read_dir(dir).unwrap().count(), 7);
}

#[test]
fn a_directory_that_cannot_be_used_is_an_error() {
    let place = Place::with(&[("a", "1")]);
    fs::write(place.data.path().join("mirror"), "in the way").unwrap();
    let root = Root::open(place.workspace.path(), RootSettings::default()).unwrap();
    let opened = Mirror::open(place.data.path().join("mirror"), Arc::new(root));
    assert!(matches!(opened, Err(MirrorError::Unwritable { .. })));
}

#[test]
fn a_copy_that_cannot_be_written_is_an_error_before_a_command_and_none_after_it() {
    let place = Place::with(&[("a", "1")]);
    // So small that every copy is in a file of its own.
    let mut mirror = place.mirror_within(Bounds { all_bytes: 20, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    let next = place.segments()[0].0.with_file_name("00000001.data");
    fs::create_dir(&next).unwrap();
    place.write("a", "new");
    let observed = changes(&mut mirror, &snapshot);
    assert_eq!(show(&observed), "* a");
    assert_eq!(observed.after_bytes(&observed.changes[0]).unwrap(), b"new");
    assert!(matches!(mirror.refresh(&GO), Err(MirrorError::Unwritable { .. })));
    fs::remove_dir(&next).unwrap();
    refresh(&mut mirror);
}
