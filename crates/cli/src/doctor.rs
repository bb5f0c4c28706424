//! What is set up, what works, and what to do about the rest.

use std::collections::BTreeSet;

use loggia_client::Client;
use loggia_protocol_agent_server::{CheckState, DoctorCheck, DoctorReport};

use crate::paint::{ASIDE, BAD, CODE, GOOD, PLAIN, Paint, SUBJECT, WARNING, printable};
use crate::{CliError, Terminal};

/// Shows what the server found. Whether nothing has failed is given back.
///
/// # Errors
/// When it cannot be had or shown.
pub async fn doctor(client: &Client, json: bool, terminal: &mut Terminal) -> Result<bool, CliError> {
    doctor_report(&client.doctor().await?, json, terminal)
}

/// Shows what was found by whoever looked. Whether nothing has failed is given back.
///
/// # Errors
/// When it cannot be shown.
pub fn doctor_report(report: &DoctorReport, json: bool, terminal: &mut Terminal) -> Result<bool, CliError> {
    let well = !report.checks.iter().any(|check| check.state == CheckState::Failed);
    if json {
        let text = serde_json::to_string(report).map_err(|error| CliError::Output(error.into()))?;
        terminal.out(&format!("{text}\n")).map_err(CliError::Output)?;
        return Ok(well);
    }
    let mut hints = BTreeSet::new();
    for check in &report.checks {
        let is_new = check.hint.as_deref().is_none_or(|hint| hints.insert(hint));
        let text = told(check, is_new, terminal.paint_out());
        terminal.out(&text).map_err(CliError::Output)?;
    }
    Ok(well)
}

/// A check in words, with its hint unless that was told already.
pub(crate) fn told(check: &DoctorCheck, with_hint: bool, paint: Paint) -> String {
    let (mark, style) = match check.state {
        CheckState::Ok => ("✓", GOOD),
        CheckState::Failed => ("✗", BAD),
        CheckState::Degraded => ("!", WARNING),
        CheckState::Absent => ("–", ASIDE),
        _ => ("?", PLAIN),
    };
    let name = paint.foreign(SUBJECT, &check.name);
    let mut text = format!("{} {name}: {}\n", paint.text(style, mark), printable(&check.message));
    if let Some(hint) = check.hint.as_ref().filter(|_| with_hint) {
        text.push_str(&format!("  {} {}\n", paint.text(CODE, "hint:"), printable(hint)));
    }
    text
}
