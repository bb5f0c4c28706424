//! The same against GNOME Keyring, on a bus of its own with a home of its own, where both are installed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use loggia_models::{Environment, KeyringError, Secret, SystemKeyring};

/// Processes that end with the test.
struct Running(Vec<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already is as well.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test that starts a service nobody else needs")]
fn command(program: &str, home: &Path, runtime: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", home).env("XDG_RUNTIME_DIR", runtime);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A bus on which nothing is started by itself.
const CONFIGURATION: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=SOCKET</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>"#;

/// Far longer than either needs to start.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// A bus, and its address; nothing where it is not installed.
fn bus(runtime: &Path, running: &mut Running) -> Option<String> {
    let configuration = runtime.join("bus.conf");
    let socket = runtime.join("bus");
    std::fs::write(&configuration, CONFIGURATION.replace("SOCKET", socket.to_str().unwrap())).unwrap();
    let mut started = command("dbus-daemon", runtime, runtime);
    started.arg("--config-file").arg(&configuration).args(["--nofork", "--print-address"]);
    let mut child = started.spawn().ok()?;
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    running.0.push(child);
    assert!(!address.is_empty(), "the bus did not start");
    Some(address.trim().to_owned())
}

/// The service, on a bus of its own, with a keyring that has a password; nothing where it is not installed.
fn service(home: &Path, runtime: &Path, locked: bool, running: &mut Running) -> Option<SystemKeyring> {
    let address = &*bus(runtime, running)?;
    let mut started = command("gnome-keyring-daemon", home, runtime);
    started.env("DBUS_SESSION_BUS_ADDRESS", address).stdin(Stdio::piped());
    started.args(["--foreground", "--components=secrets"]);
    if !locked {
        started.arg("--unlock");
    }
    let mut child = started.spawn().ok()?;
    let mut password = child.stdin.take().unwrap();
    if !locked {
        password.write_all(b"a password").unwrap();
    }
    drop(password);
    running.0.push(child);
    let keyring = SystemKeyring::new(&Environment::from([("DBUS_SESSION_BUS_ADDRESS", address)]));
    let begun = Instant::now();
    while !keyring.available() {
        assert!(begun.elapsed() < STARTS_WITHIN, "the service did not start");
    }
    Some(keyring)
}

#[test]
fn gnome_keyring_keeps_keys() {
    let (home, first, second) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut running = Running(Vec::new());
    let started = service(home.path(), first.path(), false, &mut running);
    let Some(keyring) = started else {
        eprintln!("NOT RUN: `dbus-daemon` or `gnome-keyring-daemon` is not installed");
        return;
    };
    assert_eq!(keyring.get("openai"), Ok(None));
    keyring.set("openai", &Secret::new("sk-first")).unwrap();
    keyring.set("openai", &Secret::new("sk-second")).unwrap();
    keyring.set("corp", &Secret::new("sk-other")).unwrap();
    assert_eq!(keyring.get("openai"), Ok(Some(Secret::new("sk-second"))));
    assert_eq!(keyring.remove("openai"), Ok(true));
    assert_eq!(keyring.remove("openai"), Ok(false));
    assert_eq!(keyring.get("openai"), Ok(None));
    assert_eq!(keyring.get("corp"), Ok(Some(Secret::new("sk-other"))));
    drop(running);

    // The same keyring after a start at which nobody gave the password.
    let mut running = Running(Vec::new());
    let locked = service(home.path(), second.path(), true, &mut running).unwrap();
    assert_eq!(locked.get("corp"), Err(KeyringError::Locked));
    assert_eq!(locked.get("openai"), Ok(None));
}
