//! Showing the page in the user's browser.
//!
//! The address holds a code that lets one browser in, once and for two minutes. It is never logged.

use std::process::{Command, Stdio};

/// What opens a page with whatever the user has chosen for it.
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";
#[cfg(target_os = "macos")]
const OPENER: &str = "open";

/// Opens a page; if that fails, the address has been told anyway.
#[expect(clippy::disallowed_methods, reason = "a browser is the user's, and is not to end with us")]
pub(crate) fn browser(url: &str) {
    let mut opener = Command::new(OPENER);
    opener.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match opener.spawn() {
        // Waited for, so that it does not stay as a dead process.
        Ok(mut child) => drop(std::thread::spawn(move || match child.wait() {
            Ok(status) if status.success() => {}
            Ok(status) => tracing::warn!(program = OPENER, %status, "{UNOPENED}"),
            Err(error) => tracing::warn!(program = OPENER, %error, "{UNOPENED}"),
        })),
        Err(error) => tracing::warn!(program = OPENER, %error, "{UNOPENED}"),
    }
}

const UNOPENED: &str = "no browser could be started; open the page's address yourself";
