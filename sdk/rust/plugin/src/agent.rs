//! Agents: what does the work of a prompt, and the ways to tell of it.

use loggia_jsonrpc::{Json, Method};
use loggia_protocol_mehrhof as p;
use loggia_protocol_mehrhof::{
    AgentAvailableResult, AgentInitResult, AgentRunParams, AgentRunResult, FileAction, FileEvent, RunStatus,
    StreamError, StreamEvent, ToolResultEvent, ToolUseEvent, ToolUseId, UsageEvent,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::PluginError;
use crate::plugin::reply;
use crate::wire::Wire;

/// Something that does the work of a prompt.
pub trait Agent {
    /// Called first, with what the user configured, an object; says who it is.
    ///
    /// # Errors
    /// When it cannot work with that.
    fn init(&mut self, config: &Json) -> Result<AgentInitResult, PluginError>;

    /// Whether it can work now.
    ///
    /// # Errors
    /// Why it cannot, for people.
    fn available(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Does what the prompt says and tells of it through `run`. Gives how many tokens it took, if that was not told with
    /// [`Run::usage`].
    ///
    /// # Errors
    /// When the work failed; what was told so far stays told, and files are not changed.
    fn run(&mut self, asked: &AgentRunParams, run: &mut Run) -> Result<Option<u64>, PluginError>;
}

/// A run under way.
///
/// Everything it tells fails with an error for which [`PluginError::is_cancelled`] holds once the host has closed our
/// input. Let that pass.
#[derive(Debug)]
pub struct Run {
    wire: Wire,
    calls: u64,
    tokens: u64,
}

/// A tool that the host was asked to run.
#[derive(Debug)]
#[must_use = "what came out has to be waited for"]
pub struct ToolCall(ToolUseId);

impl Run {
    /// More of the answer.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn text(&mut self, text: impl Into<String>) -> Result<(), PluginError> {
        self.tell(&StreamEvent::Text(text.into()))
    }

    /// What the agent thinks; never part of the answer.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn thinking(&mut self, text: impl Into<String>) -> Result<(), PluginError> {
        self.tell(&StreamEvent::Thinking(text.into()))
    }

    /// A file to write, by its path in the workspace.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn file(&mut self, path: impl Into<String>, content: impl Into<String>) -> Result<(), PluginError> {
        let (path, content) = (path.into(), Some(content.into()));
        self.tell(&StreamEvent::File(FileEvent { path, content, action: Some(FileAction::Write) }))
    }

    /// A file to remove.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn delete(&mut self, path: impl Into<String>) -> Result<(), PluginError> {
        let event = FileEvent { path: path.into(), content: None, action: Some(FileAction::Delete) };
        self.tell(&StreamEvent::File(event))
    }

    /// What it cost since the last time.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn usage(&mut self, usage: UsageEvent) -> Result<(), PluginError> {
        self.tokens += usage.input_tokens + usage.output_tokens;
        self.tell(&StreamEvent::Usage(usage))
    }

    /// A tool of the agent's own that it ran by itself.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn ran(&mut self, id: impl Into<String>, result: impl Into<Value>) -> Result<(), PluginError> {
        let event = ToolResultEvent { id: ToolUseId::Text(id.into()), result: Json(result.into()) };
        self.tell(&StreamEvent::ToolResult(event))
    }

    /// Has the host run a tool, and goes on; [`Run::result`] waits for what comes out.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn tool_use(&mut self, name: &str, input: impl Into<Value>) -> Result<ToolCall, PluginError> {
        self.calls += 1;
        let id = ToolUseId::Text(format!("call_{}", self.calls));
        self.wire.expect(&id);
        self.tell(&StreamEvent::ToolUse(ToolUseEvent {
            id: id.clone(),
            name: name.to_owned(),
            input: Json(input.into()),
            description: None,
        }))?;
        Ok(ToolCall(id))
    }

    /// What came out of a tool; waits for it. What went wrong is told in words, too.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn result(&mut self, call: ToolCall) -> Result<String, PluginError> {
        self.wire.wait_for(&call.0).ok_or_else(PluginError::cancelled)
    }

    /// Has the host run a tool and waits for what comes out.
    ///
    /// # Errors
    /// When the run is cancelled.
    pub fn call(&mut self, name: &str, input: impl Into<Value>) -> Result<String, PluginError> {
        let call = self.tool_use(name, input)?;
        self.result(call)
    }

    /// Whether nobody wants the run any more. Look at it in long work of your own.
    pub fn is_cancelled(&self) -> bool {
        self.wire.has_ended()
    }

    fn tell(&mut self, event: &StreamEvent) -> Result<(), PluginError> {
        if self.is_cancelled() {
            return Err(PluginError::cancelled());
        }
        // A host that does not read any more has gone; the end of our input follows.
        self.wire.stream(event).map_err(|_| PluginError::cancelled())
    }
}

pub(crate) fn answer(
    agent: &mut dyn Agent,
    method: &str,
    params: &str,
    wire: &Wire,
) -> Result<Box<RawValue>, PluginError> {
    match method {
        p::AgentInit::NAME => reply::<p::AgentInit>(params, |given| agent.init(&given.config)),
        p::AgentAvailable::NAME => reply::<p::AgentAvailable>(params, |_| {
            Ok(match agent.available() {
                Ok(()) => AgentAvailableResult { available: true, reason: None, error: None },
                // Some hosts look for the one word and some for the other.
                Err(reason) => AgentAvailableResult {
                    available: false,
                    reason: Some(reason.clone()),
                    error: Some(reason),
                },
            })
        }),
        p::AgentRun::NAME => reply::<p::AgentRun>(params, |asked| work(agent, &asked, wire)),
        _ => Err(PluginError::method_not_found(method)),
    }
}

fn work(agent: &mut dyn Agent, asked: &AgentRunParams, wire: &Wire) -> Result<AgentRunResult, PluginError> {
    let mut run = Run { wire: wire.clone(), calls: 0, tokens: 0 };
    let worked = agent.run(asked, &mut run);
    wire.expect_nothing();
    match worked {
        Ok(used) => {
            run.tell(&StreamEvent::Complete)?;
            let tokens_used = used.or((run.tokens > 0).then_some(run.tokens));
            Ok(AgentRunResult { status: Some(RunStatus::Complete), tokens_used, error: None })
        }
        Err(error) if error.is_cancelled() => Err(error),
        Err(error) => {
            let code = Some(Json(error.code().into()));
            run.tell(&StreamEvent::Error(StreamError { code, message: error.to_string() }))?;
            Err(error)
        }
    }
}
