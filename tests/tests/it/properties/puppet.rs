//! A model that does what the instruction names.
//!
//! Each instruction carries a number; under it lies a program, one reply after the other. So what people ask decides
//! what happens, across restarts too. The model also looks at how it is asked: a conversation that no provider would
//! take is a fault.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use loggia_domain::{
    BoxFuture, JsonText, Model, ModelCatalogue, ModelError, ModelErrorKind, ModelInfo, ModelMessage,
    ModelName, ModelRequest, ReplyPart, ReplyStream, Usage,
};
use tokio::sync::Notify;

use super::steps::{Act, COMMANDS, End, FILES, Reply};

/// What stands before an instruction's number.
const MARK: &str = "program ";

/// The model. It outlives engines, as a provider does.
#[derive(Debug)]
pub(super) struct Puppet {
    root: PathBuf,
    window: u64,
    inner: Mutex<Inner>,
    /// Told whenever a reply begins to hang.
    pub(super) hung: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    programs: Vec<VecDeque<Reply>>,
    hanging: HashMap<usize, usize>,
    faults: Vec<String>,
}

/// What a stream still has to give.
enum Piece {
    Part(ReplyPart),
    /// The same, without a pause before.
    More(ReplyPart),
    Error(ModelError),
    Hang,
}

impl Puppet {
    pub(super) fn new(root: PathBuf, window: u64) -> Arc<Self> {
        Arc::new(Self { root, window, inner: Mutex::default(), hung: Notify::new() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// The text of an instruction for a program.
    pub(super) fn learn(&self, program: &[Reply]) -> String {
        let mut inner = self.inner();
        inner.programs.push(program.iter().cloned().collect());
        format!("{MARK}{}; do as it says", inner.programs.len() - 1)
    }

    /// Whether the reply to an instruction hangs.
    pub(super) fn hangs(&self, instruction: &str) -> bool {
        let number = number_in(instruction);
        number.is_some_and(|number| self.inner().hanging.get(&number).is_some_and(|count| *count > 0))
    }

    /// What was wrong with the conversations it was shown.
    pub(super) fn faults(&self) -> Vec<String> {
        self.inner().faults.clone()
    }

    fn next(&self, request: &ModelRequest) -> Option<(usize, Reply)> {
        let mut inner = self.inner();
        if let Err(fault) = check(&request.messages) {
            inner.faults.push(format!("{fault}: {:#?}", request.messages));
        }
        let said = request.messages.iter().rev().filter_map(|message| match message {
            ModelMessage::User(text) => number_in(text),
            _ => None,
        });
        let Some(number) = said.into_iter().next() else {
            inner.faults.push(format!("no instruction: {:#?}", request.messages));
            return None;
        };
        let whole = Reply { acts: vec![Act::Say { pieces: 2 }], end: End::Whole };
        Some((number, inner.programs[number].pop_front().unwrap_or(whole)))
    }

    fn pieces(&self, reply: &Reply) -> VecDeque<Piece> {
        let of = |act: &Act| {
            let piece = if matches!(act, Act::Burst { .. }) { Piece::More } else { Piece::Part };
            self.parts(act).into_iter().map(piece).collect::<Vec<_>>()
        };
        let mut pieces: VecDeque<Piece> = reply.acts.iter().flat_map(of).collect();
        let error = |kind, message: &str| Piece::Error(ModelError::new(kind, message));
        pieces.push_back(match reply.end {
            End::Whole => {
                let usage = Usage { input: 10, cached: 1, output: 5, micro_dollars: Some(7) };
                Piece::Part(ReplyPart::Usage(usage))
            }
            End::Hangs => Piece::Hang,
            End::Stumbles => {
                let retry_after = Some(Duration::from_millis(1));
                error(ModelErrorKind::Transient { retry_after }, "stumbled")
            }
            End::Fails => error(ModelErrorKind::Permanent, "failed"),
            End::TooLong => error(ModelErrorKind::TooLong, "too long"),
        });
        pieces
    }

    fn parts(&self, act: &Act) -> Vec<ReplyPart> {
        let call = |tool: &str, arguments: String| {
            let (tool, arguments) = (tool.to_owned(), JsonText(arguments));
            vec![ReplyPart::Call { provider_id: None, tool, arguments }]
        };
        match act {
            Act::Say { pieces } | Act::Burst { pieces } => {
                (0..*pieces).map(|piece| ReplyPart::Text(format!("été {piece}, "))).collect()
            }
            Act::Think => vec![ReplyPart::Thought("let me see".to_owned())],
            Act::Read(file) => call("read_file", format!("{{\"path\":{:?}}}", FILES[*file])),
            Act::Find => call("find_files", "{\"glob\":\"**\"}".to_owned()),
            Act::Write { file, top, bottom } => {
                let content = content(*top, *bottom);
                call("write_file", format!("{{\"path\":{:?},\"content\":{content:?}}}", FILES[*file]))
            }
            Act::Patch { files, version } => {
                let diff = diff(&self.root, *files, &content(*version, *version));
                call("apply_patch", format!("{{\"diff\":{diff:?}}}"))
            }
            Act::Delete(file) => call("delete_file", format!("{{\"path\":{:?}}}", FILES[*file])),
            Act::Plan => call(
                "update_plan",
                "{\"steps\":[{\"description\":\"look\",\"files_involved\":[]}],\"current\":0,\"rationale\":\"r\"}"
                    .to_owned(),
            ),
            Act::Nonsense(which) => match which {
                0 => call("no_such_tool", "{}".to_owned()),
                1 => call("read_file", "not json".to_owned()),
                2 => call("write_file", "{\"path\":\"../out\",\"content\":\"x\"}".to_owned()),
                _ => call("write_file", "{\"path\":\".git/config\",\"content\":\"x\"}".to_owned()),
            },
            Act::Command(which) => call("run_command", format!("{{\"command\":{:?}}}", COMMANDS[*which])),
        }
    }
}

/// The model as an engine has it: the only one there is.
#[derive(Debug, Clone)]
pub(super) struct Hand(pub(super) Arc<Puppet>);

impl ModelCatalogue for Hand {
    fn find(&self, _: Option<&ModelName>) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Model for Hand {
    fn info(&self) -> ModelInfo {
        ModelInfo::new(ModelName("puppet".to_owned()), self.0.window, true)
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        // Without tools it is asked for a summary, not for work.
        if request.tools.is_empty() {
            let summary = ReplyPart::Text("All of it, in short.".to_owned());
            return Box::pin(async move { Ok(stream::iter([Ok(summary)]).boxed()) });
        }
        let Some((number, reply)) = self.0.next(&request) else {
            return Box::pin(async move { Ok(stream::empty().boxed()) });
        };
        let (puppet, pieces) = (Arc::clone(&self.0), self.0.pieces(&reply));
        let parts = stream::unfold(pieces, move |mut pieces| {
            let puppet = Arc::clone(&puppet);
            async move {
                let piece = pieces.pop_front()?;
                if !matches!(piece, Piece::More(_)) {
                    // As from a network: whoever listens gets a chance between two pieces.
                    tokio::task::yield_now().await;
                }
                match piece {
                    Piece::Part(part) | Piece::More(part) => Some((Ok(part), pieces)),
                    Piece::Error(error) => Some((Err(error), pieces)),
                    Piece::Hang => {
                        let _hung = Hung::new(puppet, number);
                        std::future::pending().await
                    }
                }
            }
        });
        Box::pin(async move { Ok(parts.boxed()) })
    }
}

/// A reply that hangs, as long as somebody waits for it.
struct Hung {
    puppet: Arc<Puppet>,
    number: usize,
}

impl Hung {
    fn new(puppet: Arc<Puppet>, number: usize) -> Self {
        *puppet.inner().hanging.entry(number).or_default() += 1;
        puppet.hung.notify_waiters();
        Self { puppet, number }
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        *self.puppet.inner().hanging.entry(self.number).or_default() -= 1;
    }
}

/// Text of which the first and the last line differ between versions.
pub(super) fn content(top: u8, bottom: u8) -> String {
    let middle: String = (2..20).map(|line| format!("line {line}\n")).collect();
    format!("top {top}\n{middle}bottom {bottom}\n")
}

/// A diff from what some files hold to another content.
fn diff(root: &Path, files: u8, content: &str) -> String {
    let chosen = FILES.iter().enumerate().filter(|(place, _)| files & (1 << place) != 0);
    let one = |(_, path): (usize, &&str)| {
        let old = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        let lines = |text: &str, sign: char| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        let (removed, added) = (old.lines().count(), content.lines().count());
        match removed {
            0 => format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{added} @@\n{}", lines(content, '+')),
            _ => format!(
                "--- a/{path}\n+++ b/{path}\n@@ -1,{removed} +1,{added} @@\n{}{}",
                lines(&old, '-'),
                lines(content, '+')
            ),
        }
    };
    chosen.map(one).collect()
}

fn number_in(text: &str) -> Option<usize> {
    let (_, after) = text.rsplit_once(MARK)?;
    after.split(';').next()?.parse().ok()
}

/// Whether a provider would take a conversation: it begins with who the model is, does not end with the model's own
/// words, and every call is answered right after the reply that made it.
fn check(messages: &[ModelMessage]) -> Result<(), String> {
    if !matches!(messages.first(), Some(ModelMessage::System(_))) {
        return Err("it does not begin with the system's words".to_owned());
    }
    let mut open = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::ToolResult { call, .. } => {
                let known = open.iter().position(|id| *id == call.id);
                open.remove(known.ok_or(format!("message {place} answers no call"))?);
            }
            _ if !open.is_empty() => {
                return Err(format!("message {place} comes before the answers to calls"));
            }
            ModelMessage::Assistant { calls, .. } => open.extend(calls.iter().map(|call| call.id)),
            ModelMessage::System(_) | ModelMessage::User(_) | ModelMessage::Shown { .. } => {}
        }
    }
    match (open.is_empty(), messages.last()) {
        (false, _) => Err("calls are not answered".to_owned()),
        (true, Some(ModelMessage::Assistant { .. })) => Err("the model has the last word".to_owned()),
        (true, _) => Ok(()),
    }
}
