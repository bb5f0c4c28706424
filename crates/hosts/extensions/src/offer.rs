//! What an extension said in its handshake, checked and bounded.

use loggia_domain::{ExtensionAbout, GuestButton, GuestCommand, MessageFormat, SchemaOverlay};
use loggia_protocol_hermes::{self as hermes, EventName, InitializeResult};

use crate::overlay::overlay;
use crate::serve::format_of;

/// More commands, and more buttons, than a person finds their way in.
const MOST: usize = 1000;

/// An icon is some hundred bytes of SVG.
const LARGEST_ICON: usize = 64 * 1024;

/// What an extension offers and wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) about: ExtensionAbout,
    pub(crate) commands: Vec<GuestCommand>,
    pub(crate) overlay: Option<SchemaOverlay>,
    /// Whether it hears of opened messages.
    pub(crate) opened: bool,
    /// Whether it hears of saved messages.
    pub(crate) saved: bool,
    /// Whether it hears of changes, and in which format it wants the message with them.
    pub(crate) changed: Option<Option<MessageFormat>>,
    /// What people should know about it.
    pub(crate) warnings: Vec<String>,
}

impl Offer {
    /// What an extension, called so here, offers.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(crate) fn read(name: &str, result: InitializeResult) -> Result<Self, String> {
        if result.name.trim().is_empty() {
            return Err("its `name` is empty".to_owned());
        }
        let mut warnings = Vec::new();
        let commands = commands(name, &result, &mut warnings);
        let events = &result.capabilities.events;
        for unknown in events.iter().filter_map(|event| match &event.name {
            EventName::Other(unknown) => Some(unknown),
            _ => None,
        }) {
            warnings.push(format!("it subscribes to `{unknown}`, which does not exist here"));
        }
        let subscription = |name: &EventName| result.capabilities.subscription(name);
        let changed = subscription(&EventName::MessageChanged)
            .map(|subscription| subscription.content_format().map(format_of));
        Ok(Self {
            commands,
            opened: subscription(&EventName::MessageOpened).is_some(),
            saved: subscription(&EventName::MessageSaved).is_some(),
            changed,
            overlay: result.schema.map(|schema| overlay(name, schema)),
            about: ExtensionAbout {
                name: result.name,
                version: result.version,
                description: result.description,
                authors: result.authors,
                homepage: result.homepage,
            },
            warnings,
        })
    }

    /// The events that it hears of.
    pub(crate) fn events(&self) -> Vec<String> {
        let named = [
            (self.changed.is_some(), "message/changed"),
            (self.opened, "message/opened"),
            (self.saved, "message/saved"),
        ];
        named.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name.to_owned()).collect()
    }

    /// Whether it has a command.
    pub(crate) fn has(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known.id == command)
    }
}

/// Commands that are listed, and those that only a button has.
fn commands(name: &str, result: &InitializeResult, warnings: &mut Vec<String>) -> Vec<GuestCommand> {
    let buttons = &result.toolbar_buttons[..result.toolbar_buttons.len().min(MOST)];
    let listed = result.capabilities.commands.iter().take(MOST);
    let beyond = result.toolbar_buttons.len().max(result.capabilities.commands.len());
    if beyond > MOST {
        warnings.push(format!("it has {beyond} commands or buttons; only the first {MOST} are offered"));
    }
    let mut commands: Vec<GuestCommand> = Vec::new();
    for id in listed.chain(buttons.iter().map(|button| &button.command)) {
        if commands.iter().any(|known| known.id == id.0) {
            continue;
        }
        let button = buttons.iter().find(|button| button.command == *id);
        commands.push(GuestCommand {
            id: id.0.clone(),
            extension: name.to_owned(),
            title: button.map_or_else(|| id.0.clone(), |button| button.label.clone()),
            button: button.map(|button| shown(button, warnings)),
        });
    }
    commands
}

fn shown(button: &hermes::ToolbarButton, warnings: &mut Vec<String>) -> GuestButton {
    let fits = button.icon.len() <= LARGEST_ICON;
    if !fits {
        warnings.push(format!("the icon of its button `{}` is too large and is left out", button.id.0));
    }
    GuestButton {
        id: button.id.0.clone(),
        icon: if fits { button.icon.clone() } else { String::new() },
        group: button.group.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Offer {
        Offer::read("lab", serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn commands_of_buttons_count_even_if_they_are_not_listed() {
        let offer = read(
            r#"{"name":"Lab","version":"1","capabilities":{"commands":["a","b","a"]},"toolbarButtons":[
                {"id":"1","label":"Do C","icon":"<svg/>","command":"c"},
                {"id":"2","label":"Do A","icon":"","command":"a","group":"g"}]}"#,
        );
        let told: Vec<(&str, &str, Option<&str>)> = offer
            .commands
            .iter()
            .map(|command| (&*command.id, &*command.title, command.button.as_ref().map(|button| &*button.id)))
            .collect();
        assert_eq!(told, [("a", "Do A", Some("2")), ("b", "b", None), ("c", "Do C", Some("1"))]);
        assert!(offer.has("c") && !offer.has("d") && offer.warnings.is_empty());
    }

    #[test]
    fn unknown_events_are_left_out_with_a_warning() {
        let offer = read(
            r#"{"name":"Lab","version":"1","capabilities":{"events":[{"name":"cursor/moved","options":3},
                {"name":"message/changed","options":{"includeContent":true,"format":"yaml"}},
                {"name":"message/changed"},{"name":"message/saved"}]}}"#,
        );
        assert_eq!(offer.events(), ["message/changed", "message/saved"]);
        assert_eq!(offer.changed, Some(Some(MessageFormat::Yaml)));
        assert_eq!(offer.warnings, ["it subscribes to `cursor/moved`, which does not exist here"]);
    }

    #[test]
    fn an_extension_needs_a_name_and_may_lack_the_rest() {
        let nameless = serde_json::from_str(r#"{"name":" ","version":"1"}"#).unwrap();
        assert_eq!(Offer::read("lab", nameless).unwrap_err(), "its `name` is empty");
        let offer = read(r#"{"name":"Lab","version":"1"}"#);
        assert!(offer.commands.is_empty() && offer.events().is_empty() && offer.overlay.is_none());
    }

    #[test]
    fn too_much_is_left_out_with_a_warning() {
        let commands: Vec<String> = (0..1001).map(|number| format!("c{number}")).collect();
        let icon = "x".repeat(LARGEST_ICON + 1);
        let given = serde_json::json!({"name": "Lab", "version": "1", "capabilities": {"commands": commands},
            "toolbarButtons": [{"id": "b", "label": "B", "icon": icon, "command": "c0"}]});
        let offer = read(&given.to_string());
        assert_eq!((offer.commands.len(), offer.warnings.len()), (1000, 2));
        assert_eq!(offer.commands[0].button.as_ref().unwrap().icon, "");
    }
}
