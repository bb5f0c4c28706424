//! What an extension is: what it says about itself, its commands and what it hears of.

use std::fmt;

use loggia_protocol_hermes::{
    ButtonId, ChangedOptions, CommandId, EventName, EventOptions, EventSubscription, InitializeResult,
    MessageChangedParams, MessageFormat, MessageOpenedParams, MessageSavedParams, SchemaOverrides,
    ShutdownReason, ToolbarButton, WindowClosedParams,
};

use crate::error::Outcome;
use crate::host::Host;
use crate::wire::Work;

/// What is drawn on a button that has no icon of its own.
const ICON: &str = r#"<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.5"><circle cx="10" cy="10" r="7"/></svg>"#;

type Command = Box<dyn FnMut(&Host) -> Outcome>;
type Event<E> = Box<dyn FnMut(&Host, E) -> Outcome>;

/// What runs before an extension leaves.
pub(crate) type Leaving = Box<dyn FnOnce(&Host, Option<ShutdownReason>) -> Outcome + Send>;

/// What an extension is.
pub struct Extension {
    pub(crate) about: InitializeResult,
    commands: Vec<(CommandId, Command)>,
    opened: Option<Event<MessageOpenedParams>>,
    saved: Option<Event<MessageSavedParams>>,
    changed: Option<Event<MessageChangedParams>>,
    window_closed: Option<Event<WindowClosedParams>>,
    pub(crate) leaving: Option<Leaving>,
}

impl Extension {
    /// An extension with a name and a version.
    ///
    /// # Panics
    /// Without a name: hosts refuse that, and the author should know first.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let (name, version) = (name.into(), version.into());
        assert!(!name.trim().is_empty(), "an extension needs a name");
        Self {
            about: InitializeResult { name, version, ..InitializeResult::default() },
            commands: Vec::new(),
            opened: None,
            saved: None,
            changed: None,
            window_closed: None,
            leaving: None,
        }
    }

    /// The same with a sentence about it.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.about.description = Some(description.into());
        self
    }

    /// The same with one who made it.
    pub fn author(mut self, author: impl Into<String>) -> Self {
        self.about.authors.push(author.into());
        self
    }

    /// The same with where to read more.
    pub fn homepage(mut self, homepage: impl Into<String>) -> Self {
        self.about.homepage = Some(homepage.into());
        self
    }

    /// The same with something laid over the schema.
    pub fn schema(mut self, schema: SchemaOverrides) -> Self {
        self.about.capabilities.schema_provider = Some(true);
        self.about.schema = Some(schema);
        self
    }

    /// The same with a command.
    ///
    /// # Panics
    /// If there is a command of that id.
    pub fn command(mut self, id: impl Into<String>, run: impl FnMut(&Host) -> Outcome + 'static) -> Self {
        let id = CommandId(id.into());
        assert!(self.commands.iter().all(|(known, _)| *known != id), "there are two commands `{}`", id.0);
        self.about.capabilities.commands.push(id.clone());
        self.commands.push((id, Box::new(run)));
        self
    }

    /// The same with a command that has a button.
    ///
    /// # Panics
    /// If there is a command of that id.
    pub fn button(
        self,
        id: impl Into<String>,
        label: impl Into<String>,
        run: impl FnMut(&Host) -> Outcome + 'static,
    ) -> Self {
        self.button_with(id, label, ICON, run)
    }

    /// The same with a command that has a button with an icon, as SVG.
    ///
    /// # Panics
    /// If there is a command of that id.
    pub fn button_with(
        mut self,
        id: impl Into<String>,
        label: impl Into<String>,
        icon: impl Into<String>,
        run: impl FnMut(&Host) -> Outcome + 'static,
    ) -> Self {
        let id = id.into();
        self.about.toolbar_buttons.push(ToolbarButton {
            id: ButtonId(id.clone()),
            label: label.into(),
            icon: icon.into(),
            command: CommandId(id.clone()),
            group: None,
        });
        self.command(id, run)
    }

    /// The same, hearing of opened messages.
    pub fn on_opened(mut self, hear: impl FnMut(&Host, MessageOpenedParams) -> Outcome + 'static) -> Self {
        self.subscribe(EventName::MessageOpened, None);
        self.opened = Some(Box::new(hear));
        self
    }

    /// The same, hearing of saved messages.
    pub fn on_saved(mut self, hear: impl FnMut(&Host, MessageSavedParams) -> Outcome + 'static) -> Self {
        self.subscribe(EventName::MessageSaved, None);
        self.saved = Some(Box::new(hear));
        self
    }

    /// The same, hearing of changes; with the message if a format is named. You hear of your own changes, too: do not
    /// answer each with another.
    pub fn on_changed(
        mut self,
        format: Option<MessageFormat>,
        hear: impl FnMut(&Host, MessageChangedParams) -> Outcome + 'static,
    ) -> Self {
        let options = format.map(|format| {
            EventOptions::Changed(ChangedOptions { include_content: Some(true), format: Some(format) })
        });
        self.subscribe(EventName::MessageChanged, options);
        self.changed = Some(Box::new(hear));
        self
    }

    /// The same, hearing of the end of its windows.
    pub fn on_window_closed(
        mut self,
        hear: impl FnMut(&Host, WindowClosedParams) -> Outcome + 'static,
    ) -> Self {
        self.window_closed = Some(Box::new(hear));
        self
    }

    /// The same with something to do before it leaves, on a thread of its own. There are five seconds.
    pub fn on_leaving(
        mut self,
        leave: impl FnOnce(&Host, Option<ShutdownReason>) -> Outcome + Send + 'static,
    ) -> Self {
        self.leaving = Some(Box::new(leave));
        self
    }

    fn subscribe(&mut self, name: EventName, options: Option<EventOptions>) {
        let events = &mut self.about.capabilities.events;
        events.retain(|event| event.name != name);
        events.push(EventSubscription { name, options });
    }

    /// Runs a command or an event.
    pub(crate) fn run(&mut self, host: &Host, work: Work) -> Outcome {
        fn hear<E>(event: &mut Option<Event<E>>, host: &Host, told: E) -> Outcome {
            event.as_mut().map_or(Ok(()), |hear| hear(host, told))
        }
        match work {
            Work::Command(id) => match self.commands.iter_mut().find(|(known, _)| *known == id) {
                Some((_, command)) => command(host),
                None => {
                    crate::warn(format!("there is no command `{}`", id.0));
                    Ok(())
                }
            },
            Work::Opened(told) => hear(&mut self.opened, host, told),
            Work::Saved(told) => hear(&mut self.saved, host, told),
            Work::Changed(told) => hear(&mut self.changed, host, told),
            Work::WindowClosed(told) => hear(&mut self.window_closed, host, told),
        }
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension").field("about", &self.about).finish_non_exhaustive()
    }
}
