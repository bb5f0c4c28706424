//! An extension's conformance run: it is started for real, greeted, given every command it declares, told every event it
//! wants, spoken to badly, and asked to leave. What came is told like the results of a test suite.
//!
//! Knows what the protocol promises and what hosts put up with. What breaks a host is a failure, what hosts tolerate is a
//! note. Its commands work on a message of our own, and people are played: nothing is shown to anybody.
//!
//! What always holds:
//! - commands run only if [`CheckOptions::commands`] says so: what an extension does outside is its own affair;
//! - bodies that are no messages are sent only if [`CheckOptions::malformed`] says so: published extensions die of them;
//! - every process that was started is gone when the run is over.

mod cases;
mod ending;
mod greeting;
mod judge;
mod played;
mod report;
mod session;
mod talk;

pub use report::{Case, Outcome, Report};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use loggia_wire::child::Keeper;

use crate::entry::ExtensionEntry;
use crate::limits::Limits;
use session::Session;

/// How an extension is checked.
#[derive(Clone)]
pub struct CheckOptions {
    /// What starts it.
    pub keeper: Keeper,
    /// The environment it gets, besides what the protocol and its settings add.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs, unless its settings say otherwise.
    pub directory: PathBuf,
    /// Where it may keep data.
    pub data_directory: PathBuf,
    /// The message that its commands find, as HL7.
    pub message: String,
    /// Whether its commands are run.
    pub commands: bool,
    /// Whether bodies are sent that are no messages.
    pub malformed: bool,
    /// How long it may take for what.
    pub limits: Limits,
}

impl std::fmt::Debug for CheckOptions {
    /// Values of the environment may be secrets and are not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckOptions")
            .field("directory", &self.directory)
            .field("commands", &self.commands)
            .field("malformed", &self.malformed)
            .finish_non_exhaustive()
    }
}

/// The message that commands find if nobody says otherwise.
pub const USUAL_MESSAGE: &str = "MSH|^~\\&|CHECK|LOGGIA|||20260101120000||ADT^A01|1|P|2.5.1\r\
    PID|1||12345678^^^CLINIC||Müller^Zoë||19700101|F\rPV1|1|I";

/// How long a command may take in a run: nobody looks at its dialogs, so it has nobody to wait for.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);

/// Checks an extension as it is configured.
pub async fn check(entry: &ExtensionEntry, options: &CheckOptions) -> Report {
    let mut report = Report::new(entry);
    let words = match entry.command() {
        Ok(words) => words,
        Err(error) => {
            let outcome = judge::failed("a program", error.to_string());
            report.tell("command line", Duration::ZERO, outcome);
            return report;
        }
    };
    report.tell("command line", Duration::ZERO, Outcome::Passed);
    let mut session = Session::new(options, entry, words, report);
    if let Some(told) = greeting::check(&mut session).await {
        cases::check(&mut session, &told).await;
        ending::check(&mut session).await;
    }
    session.finish().await
}
