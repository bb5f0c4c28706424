//! Whatever is done to a tree can be undone byte for byte.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Something done to a tree. What does not fit the tree as it is does nothing.
#[derive(Debug, Clone)]
enum Step {
    Write(String, Vec<u8>),
    Remove(String),
    Rename(String, String),
    Link(String, String),
    SetMode(String, u32),
    MakeDirectory(String),
}

fn any_path() -> impl Strategy<Value = String> {
    vec(prop::sample::select(vec!["a", "b", "c", ".d", "x.log", "out"]), 1..4)
        .prop_map(|parts| parts.join("/"))
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any_path(), vec(prop::sample::select(vec![b'a', b'\n', b'\r', 0, 255]), 0..6))
            .prop_map(|(path, bytes)| Step::Write(path, bytes)),
        2 => any_path().prop_map(Step::Remove),
        2 => (any_path(), any_path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (any_path(), prop::sample::select(vec!["a", "../b", "c/.d", "nowhere", "/"]))
            .prop_map(|(path, target)| Step::Link(path, target.to_owned())),
        1 => (any_path(), prop::sample::select(vec![0o644, 0o600, 0o755])).prop_map(|(path, mode)| Step::SetMode(path, mode)),
        1 => any_path().prop_map(Step::MakeDirectory),
    ]
}

fn any_rules() -> impl Strategy<Value = Step> {
    let lines = vec(prop::sample::select(vec!["*.log", "/out/", "a", "!a", "b/c"]), 0..3);
    (prop::sample::select(vec!["", "a/", "b/c/"]), lines)
        .prop_map(|(place, lines)| Step::Write(format!("{place}.gitignore"), lines.join("\n").into_bytes()))
}

fn run(place: &Place, step: &Step) {
    // A command's own failures are not ours.
    let at = |path: &str| {
        let mut real = place.workspace.path().to_owned();
        // Never through a link: it may lead to a place that the test does not look at.
        for part in path.split('/') {
            if fs::symlink_metadata(&real).is_ok_and(|meta| meta.is_symlink()) {
                return place.data.path().join("nowhere/at/all");
            }
            real.push(part);
        }
        real
    };
    let made = |path: &str| {
        let path = at(path);
        let _ = fs::create_dir_all(path.parent().unwrap());
        path
    };
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    match step {
        Step::Write(path, bytes) => {
            let path = made(path);
            let _ = if is_link(&path) { fs::remove_file(&path) } else { fs::write(&path, bytes) };
        }
        Step::Remove(path) => {
            let path = at(path);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
        Step::Rename(from, to) => _ = fs::rename(at(from), made(to)),
        Step::Link(path, target) => _ = symlink(target, made(path)),
        Step::SetMode(path, mode) => {
            let path = at(path);
            if path.is_file() && !is_link(&path) {
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
            }
        }
        Step::MakeDirectory(path) => _ = fs::create_dir_all(at(path)),
    }
}

type Files = BTreeMap<String, (Option<u32>, Vec<u8>)>;

fn is_ignored(path: &str) -> bool {
    path.split('/').any(|part| part == "x.log") || path.starts_with("out/")
}

fn visible(mut files: Files) -> Files {
    files.retain(|path, _| !is_ignored(path));
    files
}

fn hidden(mut files: Files) -> Files {
    files.retain(|path, _| is_ignored(path));
    files
}

/// Whether an ignored file is where a directory was, or in a directory where a file was. People must move it then.
fn is_in_the_way(ignored: &Files, wanted: &Files) -> bool {
    let is_below = |path: &str, other: &str| path.strip_prefix(other).is_some_and(|end| end.starts_with('/'));
    let mut pairs = ignored.keys().flat_map(|path| wanted.keys().map(move |other| (path, other)));
    pairs.any(|(path, other)| is_below(path, other) || is_below(other, path))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn undoing_gives_every_byte_back(before in vec(any_step(), 0..12), command in vec(any_step(), 0..12)) {
        let place = Place::with(&[(".gitignore", "x.log\n/out/\n")]);
        before.iter().for_each(|step| run(&place, step));
        let mut mirror = place.mirror();
        let snapshot = refresh(&mut mirror);
        let files = visible(place.files());
        command.iter().for_each(|step| run(&place, step));
        let observed = changes(&mut mirror, &snapshot);
        prop_assert_eq!(observed.beyond_undo, 0);
        let ignored = hidden(place.files());
        prop_assume!(!is_in_the_way(&ignored, &files));
        place.undo(&observed);
        prop_assert_eq!(visible(place.files()), files);
        prop_assert_eq!(hidden(place.files()), ignored);
        prop_assert_eq!(show(&changes(&mut mirror, &snapshot)), "");
    }

    /// With rules that change as well: what was visible comes back, and nothing that was there is removed.
    #[test]
    fn changed_rules_endanger_no_file(
        before in vec(prop_oneof![3 => any_step(), 1 => any_rules()], 0..12),
        command in vec(prop_oneof![2 => any_step(), 1 => any_rules()], 0..12),
    ) {
        let place = Place::with(&[]);
        before.iter().for_each(|step| run(&place, step));
        let mut mirror = place.mirror();
        let snapshot = refresh(&mut mirror);
        let before = place.files();
        let (seen, unseen): (Files, Files) =
            before.into_iter().partition(|(path, _)| snapshot.0.get(path).is_some());
        command.iter().for_each(|step| run(&place, step));
        let after = place.files();
        let observed = changes(&mut mirror, &snapshot);
        for change in &observed.changes {
            prop_assert!(change.before.is_some() || !unseen.contains_key(&change.path), "{:?}", change);
        }
        let mut hidden = after;
        hidden.retain(|path, _| !observed.changes.iter().any(|change| change.path == *path));
        if !is_in_the_way(&hidden, &seen) {
            place.undo(&observed);
            let restored = place.files();
            for (path, file) in &seen {
                prop_assert_eq!(restored.get(path), Some(file), "{}", path);
            }
        }
    }
}
