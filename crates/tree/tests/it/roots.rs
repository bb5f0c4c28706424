//! Which directories are roots.

use std::path::{Path, PathBuf};

use loggia_tree::{HardLinkRule, Root, RootError, RootSettings};

use crate::support::Fixture;

fn with_home(home: &Path) -> RootSettings {
    RootSettings { home: Some(home.to_owned()), hard_links: HardLinkRule::Refuse }
}

fn is_unsafe(path: &Path, settings: RootSettings) -> bool {
    matches!(Root::open(path, settings), Err(RootError::Unsafe { .. }))
}

#[test]
fn system_directories_are_refused() {
    for path in [
        "/",
        "/bin",
        "/boot",
        "/dev",
        "/dev/shm",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/media",
        "/mnt",
        "/opt",
        "/proc",
        "/root",
        "/run",
        "/sbin",
        "/srv",
        "/sys",
        "/tmp",
        "/usr",
        "/usr/bin",
        "/usr/lib",
        "/usr/share",
        "/usr/local",
        "/usr/src",
        "/var",
        "/var/lib",
        "/var/log",
        "/var/tmp",
        "/etc/ssl",
        "/proc/self",
        "/proc/self/root",
        "/sys/kernel",
        "//",
        "/./",
        "/usr/../etc",
        "/tmp/../usr/bin/.",
    ] {
        let path = Path::new(path);
        match Root::open(path, RootSettings::default()) {
            Err(RootError::Unsafe { .. }) => {}
            // Not every system has every directory.
            Err(RootError::NotFound { .. }) if !path.exists() => {}
            Err(RootError::Io { .. }) => assert!(std::fs::canonicalize(path).is_err(), "{path:?}"),
            other => panic!("{path:?} gave {other:?}"),
        }
    }
}

#[test]
fn a_link_to_a_system_directory_is_refused() {
    let fixture = Fixture::new();
    fixture.link("l", "/etc").link("r", "/proc/self/root");
    assert!(is_unsafe(&fixture.inside("l"), RootSettings::default()));
    assert!(is_unsafe(&fixture.inside("r"), RootSettings::default()));
}

#[test]
fn home_and_what_is_above_it_are_refused_and_what_is_below_is_not() {
    let fixture = Fixture::new();
    fixture.dir("homes/me/project").dir("homes/me/.ssh/sub").dir("homes/you").link("link", "homes/me");
    for home in [fixture.inside("homes/me"), fixture.inside("link")] {
        let opened = |path: &str| Root::open(&fixture.inside(path), with_home(&home));
        for path in ["homes/me", "homes", "", "link", "homes/me/.ssh", "homes/me/.ssh/sub"] {
            assert!(matches!(opened(path), Err(RootError::Unsafe { .. })), "{path}");
        }
        for path in ["homes/me/project", "homes/you", "link/project"] {
            assert!(opened(path).is_ok(), "{path}");
        }
    }
}

#[test]
fn the_refusal_says_what_it_is_and_what_to_do() {
    let error = Root::open(Path::new("/etc"), RootSettings::default()).unwrap_err();
    assert_eq!(error.to_string(), "`/etc` cannot be a workspace: it is a directory of the system");
    assert_eq!(error.hint(), "choose the directory of one project, for example one below your home");
}

#[test]
fn what_is_no_directory_is_refused() {
    let fixture = Fixture::new();
    fixture.file("file", "").fifo("fifo").link("gone", "nowhere");
    let open = |path: &str| Root::open(&fixture.inside(path), RootSettings::default());
    assert!(matches!(open("file"), Err(RootError::NotADirectory { .. })));
    assert!(matches!(open("file/x"), Err(RootError::NotADirectory { .. })));
    assert!(matches!(open("fifo"), Err(RootError::NotADirectory { .. })));
    assert!(matches!(open("gone"), Err(RootError::NotFound { .. })));
    assert!(matches!(open("none"), Err(RootError::NotFound { .. })));
}

#[test]
fn the_path_is_the_real_one() {
    let fixture = Fixture::new();
    fixture.dir("a/b").link("l", "a");
    let root = Root::open(&fixture.inside("l/b/../b"), RootSettings::default()).unwrap();
    assert_eq!(root.path(), fixture.inside("a/b"));
    let here = Root::open(&PathBuf::from("."), RootSettings::default()).unwrap();
    assert_eq!(here.path(), std::env::current_dir().unwrap().canonicalize().unwrap());
}
