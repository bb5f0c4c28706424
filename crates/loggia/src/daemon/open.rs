//! Showing the page in the user's browser.
//!
//! The page's address holds a code that lets one browser in, once and for two minutes. Every user of a machine can read
//! with what words a program was started. So a browser is started with the name of a file that only its owner can read,
//! and the file leads it to the address.
//!
//! What always holds: a code is on no command line and in no log, and its file does not outlive it while a daemon runs.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use loggia_http::{Door, page_code_name};
use tokio_util::sync::CancellationToken;

use super::directories::RuntimeDirectory;

/// What opens a page with whatever the user has chosen for it.
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";
#[cfg(target_os = "macos")]
const OPENER: &str = "open";

/// How long to wait for a word of the opener. One that finds no browser gives up at once; one that becomes the browser
/// stays as long as that.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the names of our files begin and end with; the name of a code is between.
const FILE_BEGIN: &str = "open-";
const FILE_END: &str = ".html";

const UNOPENED: &str = "no browser could be started; open the page's address yourself";

/// Why there is no browser.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unopened {
    /// There is nothing to start it with.
    #[error("cannot write `{}`", path.display())]
    File {
        /// The file that leads to the page.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The opener is not there.
    #[error("cannot start `{OPENER}`")]
    Start {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The opener gave up.
    #[error("`{OPENER}` gave up: {0}")]
    GaveUp(ExitStatus),
}

/// Where one browser is let in with a code. `url` is where the server is.
pub(crate) fn address(url: &str, code: &str) -> String {
    format!("{}/#code={code}", url.trim_end_matches('/'))
}

/// Starts a browser that is let in with a code.
#[expect(clippy::disallowed_methods, reason = "a browser is the user's, and is not to end with us")]
pub(crate) fn browser(runtime: &RuntimeDirectory, url: &str, code: &str) -> Result<Opening, Unopened> {
    let path = runtime.path().join(format!("{FILE_BEGIN}{}{FILE_END}", page_code_name(code)));
    write(&path, &redirect(&address(url, code)))
        .map_err(|source| Unopened::File { path: path.clone(), source })?;
    let mut opener = Command::new(OPENER);
    opener.arg(file_url(&path)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is meant for us.
    opener.process_group(0);
    opener.spawn().map(Opening).map_err(|source| Unopened::Start { source })
}

/// A browser that is being started.
#[derive(Debug)]
pub(crate) struct Opening(Child);

impl Opening {
    /// Waits a little for what comes of it. No word is a good one.
    pub(crate) fn wait(mut self) -> Result<(), Unopened> {
        let (tell, told) = mpsc::channel();
        // Nobody listens any more if it takes longer.
        std::thread::spawn(move || drop(tell.send(self.0.wait())));
        match told.recv_timeout(PATIENCE) {
            Ok(Ok(status)) if !status.success() => Err(Unopened::GaveUp(status)),
            Ok(Err(source)) => Err(Unopened::Start { source }),
            _ => Ok(()),
        }
    }
}

/// The same for a daemon, which has told the address already: what comes of it is for the log.
pub(crate) fn browser_aside(runtime: &RuntimeDirectory, url: &str, code: &str) {
    match browser(runtime, url, code) {
        // Waited for to its end, so that it does not stay as a dead process.
        Ok(Opening(mut child)) => drop(std::thread::spawn(move || match child.wait() {
            Ok(status) if status.success() => {}
            Ok(status) => complain(&Unopened::GaveUp(status)),
            Err(source) => complain(&Unopened::Start { source }),
        })),
        Err(error) => complain(&error),
    }
}

/// Keeps the files no longer than they are of use, whoever made them.
pub(crate) async fn tend(directory: PathBuf, door: Door, stop: CancellationToken) {
    loop {
        tidy(&directory, &door.page_code_names());
        tokio::select! {
            () = stop.cancelled() => return,
            () = door.page_codes_changed() => {}
        }
    }
}

/// Removes the files of all codes but these. There are next to no files in a runtime directory.
pub(crate) fn tidy(directory: &Path, good: &[String]) {
    let entries = fs::read_dir(directory).map(|entries| entries.flatten().collect::<Vec<_>>());
    for entry in entries.unwrap_or_default() {
        let name = entry.file_name();
        let code = name.to_str().and_then(|name| name.strip_prefix(FILE_BEGIN)?.strip_suffix(FILE_END));
        let is_over = code.is_some_and(|code| good.iter().all(|good| good != code));
        if is_over && let Err(error) = fs::remove_file(entry.path()) {
            tracing::debug!(%error, "a file that led to the page stays");
        }
    }
}

fn complain(error: &Unopened) {
    tracing::warn!(error = error as &(dyn Error + 'static), "{UNOPENED}");
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// A page that is another one at once.
fn redirect(address: &str) -> String {
    let address = address.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Loggia</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
         <p><a href=\"{address}\">Open Loggia</a>\n"
    )
}

/// A path as browsers are given it.
fn file_url(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                url.push(char::from(*byte));
            }
            _ => write!(url, "%{byte:02X}").expect("a string takes everything"),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_an_address() {
        assert_eq!(file_url(Path::new("/run/a b/ü#1%.html")), "file:///run/a%20b/%C3%BC%231%25.html");
    }

    #[test]
    fn nothing_in_an_address_ends_the_markup_around_it() {
        let page = redirect("http://localhost:1/\"><script>&x");
        assert!(page.contains("url=http://localhost:1/&quot;>&lt;script>&amp;x\""), "{page}");
    }

    #[test]
    fn only_files_whose_code_is_of_no_use_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let names = ["open-a.html", "open-b.html", "http.sock", "open-c.txt"];
        names.iter().for_each(|name| fs::write(directory.path().join(name), "").unwrap());
        tidy(directory.path(), &["b".to_owned()]);
        let left: Vec<_> = names.into_iter().filter(|name| directory.path().join(name).exists()).collect();
        assert_eq!(left, ["open-b.html", "http.sock", "open-c.txt"]);
    }
}
