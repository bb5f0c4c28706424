//! A first extension: it writes a patient's name in capitals, asks before it clears it, and counts what is saved.

use std::process::ExitCode;

use loggia_extension_kit::protocol::{MessageFormat, MessageKind, MessageSavedParams};
use loggia_extension_kit::{Extension, Host, HostError, Outcome, clear, info, run, set, warn};

const NAME: &str = "starter-name";

fn main() -> ExitCode {
    let extension = Extension::new(NAME, "0.1.0")
        .description("Names of patients")
        .button(format!("{NAME}/upper"), "Name in capitals", upper)
        .button(format!("{NAME}/clear"), "Clear the name", clear_name)
        .on_saved(saved);
    run(extension)
}

/// Changes two places of the open message, as one step for undo.
fn upper(host: &Host) -> Outcome {
    let Some(name) = name(host)? else {
        return host.show_message_of(MessageKind::Warning, "The open message has no patient.");
    };
    let part = |at: usize| name.split('^').nth(at).unwrap_or("").to_uppercase();
    let done = host.patch([set("PID.5.1", part(0)), set("PID.5.2", part(1))])?;
    for error in &done.errors {
        warn(format!("{}: {}", error.path, error.message));
    }
    info(format!("{} places changed", done.patches_applied));
    Ok(())
}

/// Asks first. Where nobody can be asked, the host says so and nothing happens.
fn clear_name(host: &Host) -> Outcome {
    match host.confirm("Clear the patient's name?") {
        Ok(true) => host.patch([clear("PID.5")]).map(drop),
        Ok(false) => Ok(()),
        Err(HostError::Refused(error)) => {
            warn(format!("nothing was changed: {}", error.message));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Keeps count, in a directory of its own.
fn saved(host: &Host, event: MessageSavedParams) -> Outcome {
    let count = host.data_directory()?.join("saved");
    let before: u64 = std::fs::read_to_string(&count).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    std::fs::write(&count, (before + 1).to_string())?;
    info(format!("saved {}, number {}", event.file_path, before + 1));
    Ok(())
}

/// The name of the first patient; nothing if there is none.
fn name(host: &Host) -> Result<Option<String>, HostError> {
    let message = host.get_message(MessageFormat::Hl7)?.message;
    let patient = message.split(['\r', '\n']).find(|segment| segment.starts_with("PID|"));
    Ok(patient.map(|segment| segment.split('|').nth(5).unwrap_or("").to_owned()))
}
