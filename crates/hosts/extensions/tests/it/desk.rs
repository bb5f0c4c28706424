//! A desk for tests: a text, and just enough understanding of it. It can be made to wait.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::StreamExt;
use loggia_domain::{
    BoxFuture, DeskEvent, DeskEvents, DocumentId, MessageDesk, MessageError, MessageFinding, MessageFormat,
    MessageKind, MessagePatch, MessageSchema, MessageText, OpenMessage, Opening, PatchedMessage,
    ProposedMessage, RefusedPatch, SchemaOverlay, Unsaved,
};
use tokio::sync::{broadcast, watch};

/// A message that every desk can have.
pub(crate) const MESSAGE: &str = "MSH|^~\\&|LAB|X|||20250101||ADT^A01|1|P|2.5.1\rPID|1||77||ROE^ANN";

pub(crate) struct Desk {
    state: Mutex<State>,
    events: broadcast::Sender<DeskEvent>,
    /// Whether calls are served, or wait.
    awake: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    text: Option<String>,
    file: Option<PathBuf>,
    revision: u64,
    /// What was asked, in order.
    calls: Vec<String>,
    overlays: Vec<SchemaOverlay>,
    /// A format that cannot be written.
    unwritable: Option<MessageFormat>,
}

impl Desk {
    pub(crate) fn new() -> Arc<Self> {
        let (events, _) = broadcast::channel(4096);
        Arc::new(Self { state: Mutex::default(), events, awake: watch::Sender::new(true) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Puts a message there without telling anybody.
    pub(crate) fn put(&self, text: &str) {
        self.lock().text = Some(text.to_owned());
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.lock().text.clone()
    }

    pub(crate) fn set_file(&self, file: &str) {
        self.lock().file = Some(PathBuf::from(file));
    }

    pub(crate) fn cannot_write(&self, format: MessageFormat) {
        self.lock().unwritable = Some(format);
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.lock().calls.clone()
    }

    pub(crate) fn overlays(&self) -> Vec<SchemaOverlay> {
        self.lock().overlays.clone()
    }

    /// Makes calls wait, or lets them go on.
    pub(crate) fn set_awake(&self, awake: bool) {
        self.awake.send_replace(awake);
    }

    pub(crate) fn tell(&self, event: DeskEvent) {
        // Nobody may listen yet.
        let _ = self.events.send(event);
    }

    /// Changes the text and tells it.
    pub(crate) fn type_text(&self, text: &str) {
        self.lock().text = Some(text.to_owned());
        self.tell(DeskEvent::Changed(self.open_message()));
    }

    pub(crate) fn open_message(&self) -> OpenMessage {
        let state = self.lock();
        OpenMessage {
            id: DocumentId::new(),
            file: state.file.clone(),
            path: None,
            kind: MessageKind::Hl7,
            revision: state.revision,
            unsaved: true,
            can_undo: false,
            can_redo: false,
            bytes: state.text.as_ref().map_or(0, |text| text.len() as u64),
        }
    }

    async fn asked(&self, what: String) {
        self.lock().calls.push(what);
        let mut awake = self.awake.subscribe();
        awake.wait_for(|awake| *awake).await.unwrap();
    }

    fn write(&self, format: MessageFormat) -> Result<String, MessageError> {
        let state = self.lock();
        let text = state.text.clone().ok_or(MessageError::NoneOpen)?;
        if state.unwritable == Some(format) {
            return Err(MessageError::BadFormat("it cannot be written so".to_owned()));
        }
        Ok(match format {
            MessageFormat::Hl7 => text,
            MessageFormat::Json => serde_json::json!({ "text": text }).to_string(),
            MessageFormat::Yaml => format!("text: {text:?}\n"),
            MessageFormat::Toml => format!("text = {text:?}\n"),
        })
    }

    fn take(&self, text: String, format: MessageFormat) -> Result<(), MessageError> {
        let read = match format {
            MessageFormat::Hl7 if text.starts_with("MSH") => text,
            MessageFormat::Json => serde_json::from_str::<serde_json::Value>(&text)
                .ok()
                .and_then(|tree| Some(tree["text"].as_str()?.to_owned()))
                .ok_or_else(|| MessageError::BadText("no tree".to_owned()))?,
            _ => return Err(MessageError::BadText("it does not begin with MSH".to_owned())),
        };
        let mut state = self.lock();
        state.text = Some(read);
        state.revision += 1;
        Ok(())
    }
}

/// Sets `SEG.F` or `SEG.F.C` in a text; why it cannot.
fn set(text: &str, path: &str, value: &str) -> Result<String, String> {
    let parts: Vec<&str> = path.split('.').collect();
    let [segment, rest @ ..] = &parts[..] else { return Err("no path".to_owned()) };
    let numbers: Vec<usize> = rest.iter().filter_map(|part| part.parse().ok()).collect();
    let (Some(field), component) = (numbers.first(), numbers.get(1).copied().unwrap_or(1)) else {
        return Err("no field".to_owned());
    };
    let mut segments: Vec<String> = text.split('\r').map(str::to_owned).collect();
    let Some(found) = segments.iter_mut().find(|found| found.starts_with(&format!("{segment}|"))) else {
        return Err(format!("segment {segment} is not in the message"));
    };
    let mut fields: Vec<String> = found.split('|').map(str::to_owned).collect();
    fields.resize(fields.len().max(field + 1), String::new());
    let mut components: Vec<String> = fields[*field].split('^').map(str::to_owned).collect();
    components.resize(components.len().max(component), String::new());
    value.clone_into(&mut components[component - 1]);
    fields[*field] = components.join("^");
    *found = fields.join("|");
    Ok(segments.join("\r"))
}

impl MessageDesk for Desk {
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>> {
        Box::pin(async move { self.text().map(|_| self.open_message()) })
    }

    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        Box::pin(async move {
            let Opening::New { text, format } = opening else { return Err(MessageError::NoFile) };
            self.asked("open".to_owned()).await;
            self.take(text, format)?;
            self.lock().file = None;
            let message = self.open_message();
            self.tell(DeskEvent::Opened(message.clone()));
            Ok(message)
        })
    }

    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<MessageText, MessageError>> {
        Box::pin(async move {
            self.asked(format!("read {format:?}")).await;
            let text = self.write(format)?;
            Ok(MessageText { text, message: self.open_message() })
        })
    }

    fn get(&self, _: String) -> BoxFuture<'_, Result<Option<String>, MessageError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn replace(
        &self,
        text: String,
        format: MessageFormat,
    ) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        Box::pin(async move {
            self.asked("replace".to_owned()).await;
            self.text().ok_or(MessageError::NoneOpen)?;
            self.take(text, format)?;
            let message = self.open_message();
            self.tell(DeskEvent::Changed(message.clone()));
            Ok(message)
        })
    }

    fn patch(&self, patches: Vec<MessagePatch>) -> BoxFuture<'_, Result<PatchedMessage, MessageError>> {
        Box::pin(async move {
            let paths: Vec<&str> = patches.iter().map(|patch| &*patch.path).collect();
            self.asked(format!("patch {}", paths.join(" "))).await;
            let mut text = self.text().ok_or(MessageError::NoneOpen)?;
            let (mut applied, mut refused) = (0, Vec::new());
            for (index, patch) in patches.into_iter().enumerate() {
                match set(&text, &patch.path, &patch.value.unwrap_or_default()) {
                    Ok(new) => {
                        text = new;
                        applied += 1;
                    }
                    Err(why) => refused.push(RefusedPatch { index, path: patch.path, why }),
                }
            }
            self.lock().text = Some(text);
            let message = self.open_message();
            if applied > 0 {
                self.tell(DeskEvent::Changed(message.clone()));
            }
            Ok(PatchedMessage { message, applied, refused })
        })
    }

    fn propose(
        &self,
        _: Vec<MessagePatch>,
        _: Option<String>,
    ) -> BoxFuture<'_, Result<ProposedMessage, MessageError>> {
        Box::pin(std::future::ready(Err(MessageError::NoneOpen)))
    }

    fn undo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        Box::pin(std::future::ready(Err(MessageError::NoneOpen)))
    }

    fn redo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        Box::pin(std::future::ready(Err(MessageError::NoneOpen)))
    }

    fn save(&self, _: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        Box::pin(std::future::ready(Err(MessageError::NoFile)))
    }

    fn close(&self, _: Unsaved) -> BoxFuture<'_, Result<(), MessageError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn validate(&self) -> BoxFuture<'_, Result<Vec<MessageFinding>, MessageError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn schema(&self) -> MessageSchema {
        MessageSchema::default()
    }

    fn lay_over(&self, overlays: Vec<SchemaOverlay>) {
        self.lock().overlays = overlays;
    }

    fn watch(&self) -> DeskEvents {
        let events = self.events.subscribe();
        let events = futures_util::stream::unfold(events, |mut events| async move {
            loop {
                match events.recv().await {
                    Ok(event) => return Some((event, events)),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        });
        events.boxed()
    }
}
