//! What happens to the open message, told to the extensions that want to hear of it.
//!
//! Opened and saved are told at once; changes when there was a pause, with the message as it is then. An extension
//! hears of its own changes, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use loggia_domain::{DeskEvent, DeskEvents, MessageFormat, OpenMessage};
use loggia_protocol_hermes::{self as hermes, MessageChangedParams, MessageOpenedParams, MessageSavedParams};
use tokio::time::Instant;

use crate::context::Context;
use crate::mailbox::Mail;
use crate::offer::Offer;
use crate::serve::{text_of, with_returns};

/// Tells what happens until the host stops.
pub(crate) async fn run(context: Arc<Context>, mut events: DeskEvents) {
    // Set while a change waits for a pause.
    let mut due: Option<Instant> = None;
    loop {
        let pause = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = context.closing.cancelled() => return,
            () = context.dropped.cancelled() => return,
            event = events.next() => match event {
                None => return,
                Some(DeskEvent::Changed(_)) => due = Some(Instant::now() + context.limits.debounce),
                Some(DeskEvent::Opened(message)) => opened(&context, &message),
                Some(DeskEvent::Saved { message, elsewhere }) => saved(&context, &message, elsewhere),
                Some(DeskEvent::Closed) => due = None,
            },
            () = pause => {
                due = None;
                changed(&context).await;
            }
        }
    }
}

fn opened(context: &Context, message: &OpenMessage) {
    let params = MessageOpenedParams {
        is_new: message.file.is_none(),
        file_path: message.file.as_deref().map(text_of),
    };
    post(context, |offer| offer.opened.then(|| Mail::Opened(params.clone())));
}

fn saved(context: &Context, message: &OpenMessage, elsewhere: bool) {
    // What has no file was not saved.
    let Some(file) = message.file.as_deref() else { return };
    let params = MessageSavedParams { file_path: text_of(file), save_as: elsewhere };
    post(context, |offer| offer.saved.then(|| Mail::Saved(params.clone())));
}

async fn changed(context: &Context) {
    let Some(message) = context.desk.current().await else { return };
    let mut texts: BTreeMap<&str, (hermes::MessageFormat, String)> = BTreeMap::new();
    for format in wanted_formats(context) {
        let (name, wire) = wire_format(format);
        match context.desk.read(format).await {
            Ok(read) => drop(texts.insert(name, (wire, with_returns(read.text, format)))),
            // Whoever asked for it is told of the change without it.
            Err(error) => tracing::debug!(%error, name, "a changed message cannot be written in a format"),
        }
    }
    let bare = MessageChangedParams {
        has_file: message.file.is_some(),
        file_path: message.file.as_deref().map(text_of),
        message: None,
        format: None,
    };
    post(context, |offer| {
        let content = offer.changed?.and_then(|format| texts.get(wire_format(format).0));
        let (format, message) = content.cloned().unzip();
        Some(Mail::Changed(MessageChangedParams { message, format, ..bare.clone() }))
    });
}

/// The formats in which somebody who runs wants changed messages, each once.
fn wanted_formats(context: &Context) -> Vec<MessageFormat> {
    let mut formats = Vec::new();
    for extension in context.extensions() {
        let wanted = extension.running().and_then(|(_, offer)| offer.changed.flatten());
        formats.extend(wanted.filter(|format| !formats.contains(format)));
    }
    formats
}

/// Posts to every extension that runs what it is given for it.
fn post(context: &Context, mail: impl Fn(&Offer) -> Option<Mail>) {
    for extension in context.extensions() {
        if let Some((guest, offer)) = extension.running()
            && let Some(mail) = mail(&offer)
        {
            guest.post(mail);
        }
    }
}

fn wire_format(format: MessageFormat) -> (&'static str, hermes::MessageFormat) {
    match format {
        MessageFormat::Hl7 => ("hl7", hermes::MessageFormat::Hl7),
        MessageFormat::Json => ("json", hermes::MessageFormat::Json),
        MessageFormat::Yaml => ("yaml", hermes::MessageFormat::Yaml),
        MessageFormat::Toml => ("toml", hermes::MessageFormat::Toml),
    }
}
