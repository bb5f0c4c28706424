//! What the doctor looks at on this machine: directories, the sandbox, git.
//!
//! Refuses to know models and workspaces: others look at those. What always holds: nothing is changed but a temporary
//! directory, which is removed; no content of any file is told.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    CommandExit, CommandSpec, Confinement, Finding, FindingLevel, RunError, Runner, SandboxLevel,
};
use loggia_http::Examine;
use rustix::fs::Access;

use super::directories::RuntimeDirectory;
use crate::config::places::Places;

/// How many files are counted: a size is a hint, and nobody waits for it.
const MAX_COUNTED: usize = 20_000;

/// Less room than this for our data, in bytes, is worth a word: a busy day of journals and blobs.
const LITTLE_ROOM: u64 = 1 << 30;

/// How long the sandbox may take to run nothing.
const SANDBOX_LIMIT: Duration = Duration::from_secs(10);

/// Bits that let others in.
const OTHERS: u32 = 0o077;

/// Looks at these places and at what this runner can do.
pub(crate) fn examiner(places: &Places, runtime: &RuntimeDirectory, runner: Arc<dyn Runner>) -> Examine {
    let directories: [(&'static str, PathBuf); 3] = [
        ("data directory", places.data().to_owned()),
        ("configuration directory", places.config().to_owned()),
        ("runtime directory", runtime.path().to_owned()),
    ];
    Arc::new(move || {
        let (directories, runner) = (directories.clone(), Arc::clone(&runner));
        Box::pin(async move {
            let data = directories[0].1.clone();
            let looked = tokio::task::spawn_blocking(move || {
                let mut findings: Vec<Finding> =
                    directories.iter().map(|(about, path)| directory(about, path)).collect();
                findings.extend(room(&data));
                findings.push(git(std::env::var_os("PATH").unwrap_or_default().as_os_str()));
                findings
            });
            // What cannot be looked at is left out; the rest is still worth telling.
            let mut findings = looked.await.unwrap_or_default();
            findings.push(sandbox(&*runner).await);
            findings
        })
    })
}

fn directory(about: &str, path: &Path) -> Finding {
    let shown = path.display();
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("`{shown}` does not exist");
            return Finding { level: FindingLevel::Absent, ..Finding::ok(about, message) };
        }
        Err(error) => {
            let hint = "look at who owns it and the directories above it";
            return Finding::of(about, FindingLevel::Error, format!("`{shown}`: {error}"), hint);
        }
    };
    let mode = found.permissions().mode() & 0o777;
    if found.uid() != rustix::process::geteuid().as_raw() {
        let message = format!("`{shown}` belongs to user {}", found.uid());
        return Finding::of(about, FindingLevel::Error, message, "take another directory, or take it over");
    }
    let all = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    if let Err(error) = rustix::fs::access(path, all) {
        let message = format!("`{shown}` cannot be read and written: {error}, mode {mode:03o}");
        return Finding::of(about, FindingLevel::Error, message, format!("`chmod u+rwx '{shown}'` mends it"));
    }
    let (bytes, counted) = size(path);
    let more = if counted == MAX_COUNTED { "more than " } else { "" };
    let message = format!("`{shown}`, {more}{}, mode {mode:03o}", human(bytes));
    match mode & OTHERS {
        0 => Finding::ok(about, message),
        _ => Finding::of(
            about,
            FindingLevel::Warning,
            message,
            format!("`chmod 700 '{shown}'` keeps others out"),
        ),
    }
}

/// How many bytes its files have, and how many files were counted. Links are not followed.
fn size(path: &Path) -> (u64, usize) {
    let (mut bytes, mut counted) = (0_u64, 0);
    let mut left = vec![path.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if counted == MAX_COUNTED {
                return (bytes, counted);
            }
            counted += 1;
            match entry.metadata() {
                Ok(found) if found.is_dir() => left.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(_) => {}
            }
        }
    }
    (bytes, counted)
}

/// A word about room, if there is little.
fn room(data: &Path) -> Option<Finding> {
    let found = rustix::fs::statvfs(data).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let message = format!("{} are free for our data", human(free));
    Some(match free < LITTLE_ROOM {
        false => Finding::ok("room", message),
        true => Finding::of("room", FindingLevel::Warning, message, "journals stop when the disk is full"),
    })
}

/// Git as commands would find it. The agent's own tools read repositories without it.
fn git(path: &std::ffi::OsStr) -> Finding {
    let is_program = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let mut candidates = std::env::split_paths(path).map(|directory| directory.join("git"));
    match candidates.find(is_program) {
        Some(program) => Finding::ok("git", format!("`{}`", program.display())),
        None => {
            let message = "it is not on the path of this server";
            let hint = "install it, so that commands of the agent can use it";
            Finding::of("git", FindingLevel::Warning, message, hint)
        }
    }
}

/// Runs nothing in the sandbox and tells what held it in.
async fn sandbox(runner: &dyn Runner) -> Finding {
    const ABOUT: &str = "sandbox";
    const HINT: &str =
        "allow user namespaces or install bubblewrap; docs/sandbox.md tells what each road needs";
    let unusable = |error: &dyn std::fmt::Display| {
        Finding::of(ABOUT, FindingLevel::Error, format!("it could not be tried: {error}"), HINT)
    };
    let place = match tempfile::Builder::new().prefix("loggia-doctor-").tempdir() {
        Ok(place) => place,
        Err(error) => return unusable(&error),
    };
    // Sealed as the engine seals it: Landlock alone cannot do that.
    let sealed = place.path().join(".loggia");
    if let Err(error) = fs::create_dir(&sealed) {
        return unusable(&error);
    }
    let command = CommandSpec {
        line: "true".to_owned(),
        directory: place.path().to_owned(),
        root: place.path().to_owned(),
        environment: Vec::new(),
        time_limit: SANDBOX_LIMIT,
        output_bytes: 1 << 10,
        confinement: Confinement { required: true, read_only: vec![sealed], ..Confinement::default() },
    };
    match runner.run(command, Box::new(|_, _| {})).await {
        Ok(end) if end.exit == CommandExit::Code(0) => match end.sandbox {
            SandboxLevel::Isolated => Finding::ok(ABOUT, "commands are isolated: a root of their own"),
            SandboxLevel::Confined => Finding::ok(ABOUT, "commands are confined by Landlock and a filter"),
            SandboxLevel::Partial | SandboxLevel::None => {
                let message = "commands are not held in as they should be";
                Finding::of(ABOUT, FindingLevel::Warning, message, HINT)
            }
        },
        Ok(end) => unusable(&format!("a command that does nothing ended with {:?}", end.exit)),
        Err(RunError::NoSandbox(why)) => {
            let message = format!("none works here, so commands are refused: {why}");
            Finding::of(ABOUT, FindingLevel::Error, message, HINT)
        }
        Err(error) => unusable(&error),
    }
}

fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let place = UNITS.iter().enumerate().rev().find(|(place, _)| bytes >> (10 * (place + 1)) > 0);
    match place {
        None => format!("{bytes} bytes"),
        Some((place, unit)) => format!("{} {unit}", bytes >> (10 * (place + 1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_told_with_its_size_and_who_may_look_in() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("data");
        assert_eq!(directory("data", &path).level, FindingLevel::Absent);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), vec![0; 5 << 10]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let found = directory("data", &path);
        assert_eq!((found.level, found.hint), (FindingLevel::Ok, None));
        assert!(found.message.ends_with("data`, 5 KiB, mode 700"), "{}", found.message);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let found = directory("data", &path);
        assert_eq!(found.level, FindingLevel::Warning);
        assert!(found.hint.unwrap().starts_with("`chmod 700"));
    }

    #[test]
    fn git_is_looked_for_on_the_path() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().as_os_str();
        assert_eq!(git(path).level, FindingLevel::Warning);
        fs::write(place.path().join("git"), "").unwrap();
        assert_eq!(git(path).level, FindingLevel::Warning, "it cannot be run");
        fs::set_permissions(place.path().join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(git(path).level, FindingLevel::Ok);
    }

    #[test]
    fn sizes_are_read_by_people() {
        assert_eq!(
            [0, 1023, 1024, 5 << 20, 3 << 30].map(human).join(", "),
            "0 bytes, 1023 bytes, 1 KiB, 5 MiB, 3 GiB"
        );
    }
}
