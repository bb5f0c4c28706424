//! What is beyond the bounds is counted, and the mirror stays within them.

use super::*;

fn kept_bytes(place: &Place) -> u64 {
    place.segments().iter().map(|(data, _)| data.metadata().unwrap().len()).sum()
}

#[test]
fn a_file_that_did_not_fit_is_counted() {
    let place = Place::with(&[("a", "12345"), ("b", "67890"), ("c", "x")]);
    let mut mirror = place.mirror_within(Bounds { all_bytes: 6, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    assert_eq!(kept_bytes(&place), 6);
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "");
    place.write("a", "1");
    place.write("b", "2");
    place.write("c", "3");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a, * c, beyond 1");
    assert!(kept_bytes(&place) <= 6);
}

#[test]
fn room_that_becomes_free_is_used() {
    let place = Place::with(&[("a", "12345"), ("b", "67890")]);
    let mut mirror = place.mirror_within(Bounds { all_bytes: 5, ..Bounds::STANDARD });
    refresh(&mut mirror);
    place.remove("a");
    let snapshot = refresh(&mut mirror);
    place.write("b", "x");
    let observed = changes(&mut mirror, &snapshot);
    assert_eq!(show(&observed), "* b");
    assert_eq!(observed.before_bytes(&observed.changes[0]).unwrap(), b"67890");
    // There was no room for a copy of what it is now, but it is still there.
    assert_eq!(observed.after_bytes(&observed.changes[0]).unwrap(), b"x");
    place.write("b", "y");
    assert_eq!(observed.after_bytes(&observed.changes[0]), None);
}

#[test]
fn a_new_mode_of_a_file_without_a_copy_can_be_undone() {
    let place = Place::with(&[("a", "12345"), ("b", "1")]);
    let mut mirror = place.mirror_within(Bounds { all_bytes: 1, ..Bounds::STANDARD });
    let before = refresh(&mut mirror);
    place.write("a", "6789");
    changes(&mut mirror, &before);
    // Its hash is known from the comparison, though there is no room for a copy.
    let snapshot = refresh(&mut mirror);
    place.set_mode("a", 0o600);
    let observed = changes(&mut mirror, &snapshot);
    assert_eq!(show(&observed), "beyond 1");
    let_time_pass(&mut mirror);
    drop(snapshot);
    let snapshot = refresh(&mut mirror);
    place.set_mode("a", 0o644);
    let observed = changes(&mut mirror, &snapshot);
    assert_eq!(show(&observed), "m a");
    assert_eq!(observed.before_bytes(&observed.changes[0]).unwrap(), b"6789");
}

#[test]
fn files_beyond_the_number_are_compared_together() {
    let place = Place::with(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
    let mut mirror = place.mirror_within(Bounds { files: 2, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "");
    place.write("a", "x");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a");
    place.write("c", "x");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a, beyond 1");
    place.remove("c");
    place.remove("d");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a, beyond 2");
}

#[test]
fn a_new_file_in_front_pushes_nothing_out() {
    let place = Place::with(&[("b", "1"), ("c", "2"), ("d", "3")]);
    let mut mirror = place.mirror_within(Bounds { files: 2, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    place.write("a", "new");
    // Whether it is new or was one of the others is not known.
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "beyond 1");
    let snapshot = refresh(&mut mirror);
    place.write("a", "changed");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a");
}

#[test]
fn new_files_beyond_the_number_are_counted_one_by_one() {
    let place = Place::with(&[("a", "1")]);
    let mut mirror = place.mirror_within(Bounds { files: 2, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    for name in ["b", "c", "d", "e"] {
        place.write(name, name);
    }
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "+ b, + c, beyond 2");
}

#[test]
fn changes_beyond_the_list_are_counted() {
    let place = Place::with(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let mut mirror = place.mirror_within(Bounds { changes: 2, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    for name in ["a", "b", "c", "d"] {
        place.write(name, "new");
    }
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* a, * b, beyond 2");
}

#[test]
fn bytes_beyond_what_is_read_are_counted() {
    let place = Place::with(&[]);
    let mut mirror = place.mirror_within(Bounds { changed_bytes: 10, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    place.write("a", "12345");
    place.write("b", "123456");
    place.write("c", "12345");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "+ a, + c, beyond 1");
}

#[test]
fn with_too_many_ignored_files_nothing_is_taken_for_new() {
    let place = Place::with(&[(".gitignore", "*.log\n"), ("a.log", ""), ("b.log", "")]);
    let mut mirror = place.mirror_within(Bounds { ignored: 1, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    place.write("new", "");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "beyond 1");
}

#[test]
fn copies_that_nothing_names_are_removed() {
    let place = Place::with(&[("a", "first")]);
    let mut mirror = place.mirror();
    for number in 0..10 {
        place.write("a", format!("{number}"));
        let snapshot = refresh(&mut mirror);
        place.write("a", format!("changed {number}"));
        changes(&mut mirror, &snapshot);
    }
    refresh(&mut mirror);
    assert_eq!(mirror.source.copies.count(), 1);
    assert!(kept_bytes(&place) <= 20);
}

#[test]
fn copies_stay_while_somebody_needs_them() {
    let place = Place::with(&[("a", "first")]);
    let mut mirror = place.mirror();
    let snapshot = refresh(&mut mirror);
    place.write("a", "second");
    let observed = changes(&mut mirror, &snapshot);
    drop(snapshot);
    for number in 0..3 {
        place.write("a", format!("{number}"));
        refresh(&mut mirror);
    }
    assert_eq!(observed.before_bytes(&observed.changes[0]).unwrap(), b"first");
    assert_eq!(observed.after_bytes(&observed.changes[0]).unwrap(), b"second");
    drop(observed);
    refresh(&mut mirror);
    assert_eq!(mirror.source.copies.count(), 1);
    assert!(kept_bytes(&place) <= 20);
}

#[test]
fn command_after_command_stays_within_the_bound_and_can_be_undone() {
    // Room for the files twice over, in segments of ten files.
    let bounds = Bounds { all_bytes: 32 * 200, ..Bounds::STANDARD };
    let place = Place::with(&[]);
    let write = |file: usize, round: usize| place.write(&format!("{file}"), format!("{file:10}{round:10}"));
    (0..100).for_each(|file| write(file, 0));
    let mut mirror = place.mirror_within(bounds);
    for round in 1..40 {
        let snapshot = refresh(&mut mirror);
        let before = place.files();
        (0..100).filter(|file| (file * round) % 3 == 0).for_each(|file| write(file, round));
        let observed = changes(&mut mirror, &snapshot);
        assert_eq!(observed.beyond_undo, 0, "round {round}");
        assert!(kept_bytes(&place) <= bounds.all_bytes);
        if round % 4 == 0 {
            place.undo(&observed);
            assert_eq!(place.files(), before, "round {round}");
        }
        if round % 7 == 0 {
            drop(mirror);
            mirror = place.mirror_within(bounds);
        }
    }
}

#[test]
fn files_that_are_only_young_take_nothing_of_the_bound() {
    let place = Place::with(&[("a", "12345"), ("b", "12345")]);
    let mut mirror = place.mirror_within(Bounds { changed_bytes: 5, ..Bounds::STANDARD });
    let snapshot = refresh(&mut mirror);
    place.write("b", "54321");
    assert_eq!(show(&changes(&mut mirror, &snapshot)), "* b");
}

#[test]
fn equal_files_are_kept_once() {
    let place = Place::with(&[("a", "same"), ("b", "same"), ("c/d", "same")]);
    refresh(&mut place.mirror());
    assert_eq!(kept_bytes(&place), 4);
}

#[test]
fn copies_are_for_the_owner_alone() {
    let place = Place::with(&[("a", "secret")]);
    refresh(&mut place.mirror());
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    let mirror = place.data.path().join("mirror");
    for (data, list) in place.segments() {
        assert_eq!((mode(&data), mode(&list)), (0o600, 0o600));
    }
    assert_eq!(mode(&mirror.join(super::super::LIST)), 0o600);
    assert_eq!((mode(&mirror), mode(&mirror.join("copies"))), (0o700, 0o700));
}
