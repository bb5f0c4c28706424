//! Ranges of versions, with and without gaps.

use loggia_protocol_endermux::VersionRange;

fn range(min: i32, max: i32, exclude: &[i32]) -> VersionRange {
    VersionRange { min, max, exclude: Some(exclude.to_vec()) }
}

#[test]
fn a_range_starts_at_1_and_is_not_upside_down() {
    for (min, max, valid) in [(1, 1, true), (1, 9, true), (0, 1, false), (-1, 1, false), (2, 1, false)] {
        assert_eq!(range(min, max, &[]).is_valid(), valid, "{min}..{max}");
    }
}

#[test]
fn an_excluded_version_is_not_contained() {
    let range = range(1, 4, &[2, 3]);
    let found: Vec<i32> = (0..=5).filter(|version| range.contains(*version)).collect();
    assert_eq!(found, [1, 4]);
}

#[test]
fn excluding_what_is_not_there_makes_a_range_invalid() {
    assert!(range(1, 4, &[1, 4]).is_valid());
    assert!(!range(1, 4, &[5]).is_valid());
    assert!(!range(2, 4, &[1]).is_valid());
}

#[test]
fn the_highest_common_version_skips_excluded_ones() {
    assert_eq!(range(1, 5, &[]).highest_common(&range(3, 9, &[])), Some(5));
    assert_eq!(range(1, 5, &[5]).highest_common(&range(3, 9, &[4])), Some(3));
    assert_eq!(range(1, 1, &[]).highest_common(&range(1, 7, &[])), Some(1));
}

#[test]
fn there_may_be_no_common_version() {
    assert_eq!(range(1, 2, &[]).highest_common(&range(3, 4, &[])), None);
    assert_eq!(range(1, 2, &[2]).highest_common(&range(1, 2, &[1])), None);
}

#[test]
fn huge_ranges_and_exclude_lists_are_judged_at_once() {
    let gaps: Vec<i32> = (i32::MAX - 200_000..=i32::MAX).collect();
    let ours = range(1, i32::MAX, &[]);
    assert_eq!(ours.highest_common(&range(1, i32::MAX, &gaps)), Some(i32::MAX - 200_001));
}
