//! Commands a message may begin with, which are answered here and not by a model.

use std::sync::Arc;

use loggia_domain::{Intent, MessageId, ModelName, Timestamp, TurnId};
use loggia_protocol_autohand::limits::MAX_OUTPUT_BYTES;
use loggia_protocol_autohand::{self as wire, AgentEndReason, TurnEndReason};
use loggia_wire::peer::Peer;

use crate::door::Door;
use crate::launch::MAX_NAME_BYTES;
use crate::place::{Claimed, Place};
use crate::pump::send;
use crate::tell::moment::{between, moment};
use crate::tell::{Said, end_of_turn, fit};

/// Every command, with what it does.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("/help", "lists the commands"),
    ("/model", "tells the model in use, or chooses the one that is named"),
    ("/redo", "takes an undo back"),
    ("/undo", "takes back what the last turn that changed files changed"),
];

/// The command a message is; nothing if it is for the model. A path at its beginning is no command.
pub(crate) fn command(message: &str) -> Option<(&str, &str)> {
    let (word, rest) = message.split_once(char::is_whitespace).unwrap_or((message, ""));
    let name = word.strip_prefix('/')?;
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_:".contains(&byte));
    is_name.then(|| (word, rest.trim()))
}

/// Carries a command out as a turn of its own, once the prompt is answered: no hooks, no preview, one piece of text.
pub(crate) fn start(door: &Arc<Door>, place: Arc<Place>, peer: Peer, message: String, claimed: Claimed) {
    let door = Arc::clone(door);
    tokio::spawn(async move {
        let (turn, began) = (wire::TurnId(TurnId::new().to_string()), Timestamp::now());
        let message_id = wire::MessageId(MessageId::new().to_string());
        let text = match command(&message) {
            Some((word, rest)) => answer(&door, &place, word, rest).await,
            None => String::new(),
        };
        let _held = door.hold().await;
        let now = Timestamp::now();
        let (session_id, context_percent) = {
            let teller = place.teller();
            (teller.session_id(), teller.context_percent())
        };
        let mut said = Said::default();
        said.say::<wire::TurnStart>(&wire::TurnStartParams {
            turn_id: turn.clone(),
            session_id: session_id.clone(),
            instruction: fit::shortened(&message, MAX_OUTPUT_BYTES).into_owned(),
            timestamp: moment(began),
        });
        said.say::<wire::MessageStart>(&wire::MessageStartParams {
            message_id: message_id.clone(),
            turn_id: turn.clone(),
            role: Some(wire::Role::Assistant),
            timestamp: moment(began),
        });
        said.say::<wire::MessageUpdate>(&wire::MessageUpdateParams {
            message_id: message_id.clone(),
            delta: text.clone(),
            thought: None,
            timestamp: moment(now),
        });
        said.say::<wire::MessageEnd>(&wire::MessageEndParams {
            message_id,
            content: text,
            tool_calls: None,
            aborted: None,
            timestamp: moment(now),
        });
        said.say::<wire::TurnEnd>(&wire::TurnEndParams::new(
            turn,
            session_id.clone(),
            None,
            between(began, now),
            context_percent.into(),
            TurnEndReason::Completed,
            moment(now),
        ));
        said.notices.extend(end_of_turn(door.launch.end_of_turn, session_id, AgentEndReason::Completed, now));
        // Idle before the end can be read.
        drop(claimed);
        send(&peer, &said.notices).await;
        place.has_told();
    });
}

async fn answer(door: &Door, place: &Place, word: &str, rest: &str) -> String {
    match word {
        "/help" => help(),
        "/model" if rest.is_empty() => format!("The model in use is {}.", place.teller().model.name),
        "/model" => match set_model(door, place, Some(rest)).await {
            Ok(model) => format!("The model in use is {model} from now on."),
            Err(why) => why,
        },
        "/undo" => intended(place, Intent::Undo { steps: 1 }, "The last changes are taken back.").await,
        "/redo" => intended(place, Intent::Redo { steps: 1 }, "The changes are there again.").await,
        other => format!("There is no command {other}.\n\n{}", help()),
    }
}

async fn intended(place: &Place, intent: Intent, done: &str) -> String {
    match place.seat.intend(intent).await {
        Ok(_) => done.to_owned(),
        Err(error) => format!("That cannot be done: {error}."),
    }
}

fn help() -> String {
    let lines: Vec<String> = COMMANDS.iter().map(|(name, what)| format!("{name} {what}")).collect();
    format!("Commands:\n{}", lines.join("\n"))
}

/// Chooses the session's model, the default one if none is named; says which it is, or why it is not.
pub(crate) async fn set_model(door: &Door, place: &Place, name: Option<&str>) -> Result<String, String> {
    if name.is_some_and(|name| name.len() > MAX_NAME_BYTES) {
        return Err(format!("A model's name has at most {MAX_NAME_BYTES} bytes."));
    }
    let wanted = name.map(|name| ModelName(name.to_owned())).or_else(|| door.parts.engine.default_model());
    let model = match wanted.as_ref().filter(|wanted| wanted.guest().is_some()) {
        // Whether a plugin's agent is there, the session says.
        Some(agent) => agent.clone(),
        None => door.parts.models.find(wanted.as_ref()).map_err(|error| error.message)?.info().name,
    };
    let name = model.0.clone();
    place.seat.intend(Intent::SetModel { model }).await.map_err(|error| error.to_string())?;
    place.until(|teller| (teller.model.name == name).then_some(())).await;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_paths_and_prose() {
        assert_eq!(command("/help"), Some(("/help", "")));
        assert_eq!(command("/model  a:b "), Some(("/model", "a:b")));
        assert_eq!(command("/frobnicate now"), Some(("/frobnicate", "now")));
        for prose in ["help", "/", "/home/me is full", "/Users", "a /help", ""] {
            assert_eq!(command(prose), None, "{prose}");
        }
    }
}
