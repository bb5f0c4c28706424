//! One run of an agent, from its prompt to its answer.
//!
//! A task drives the run and hands its parts on. It ends with the plugin's answer; with a few seconds of nothing after
//! the plugin said that it is through; with too long a silence; or when nobody listens any more, which is how a run
//! is cancelled: the plugin's input is closed and it is made to leave.
//!
//! Invariant: silence counts only while the plugin waits for nothing of ours. Whoever uses the run may be slow; what waits
//! for them is no more than [`MAX_RUN`], and the plugin does not feel it.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{iter, unfold};
use futures_util::{FutureExt, StreamExt};
use loggia_domain::{AgentPart, AgentRun, CallResults, GuestError};
use loggia_protocol_mehrhof::{
    AgentRun as Run, AgentRunParams, AgentRunResult, AgentToolResult, AgentToolResultParams, StreamEvent,
    ToolUseId,
};
use loggia_wire::child::StderrTail;
use loggia_wire::peer::Peer;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use super::fences::Fences;
use super::heard::{self, Heard};
use super::own::OwnRun;
use crate::context::Context;
use crate::error::{Fault, PluginError};
use crate::plugin::{Held, Plugin};
use crate::process::{CallFault, Process};

pub(super) const METHOD: &str = "agent.run";

/// Heaps of parts on their way to whoever uses the run. What comes while one waits makes up the next.
const HEAPS: usize = 1;

/// All that an agent may say in one run. It is kept in a journal and shown to people.
const MAX_RUN: usize = 64 * 1024 * 1024;

/// What a part costs besides its text, roughly.
const PER_PART: usize = 128;

/// Whose process a run has.
enum Lease {
    /// The plugin's, which nobody else uses meanwhile.
    Shared(Held),
    /// One of its own, because it has variables of its own.
    Own(Box<Process>),
}

impl Lease {
    fn process(&self) -> Option<&Process> {
        match self {
            Self::Shared(held) => held.process(),
            Self::Own(process) => Some(process),
        }
    }

    fn take(self) -> Option<Process> {
        match self {
            Self::Shared(mut held) => held.take(),
            Self::Own(process) => Some(*process),
        }
    }
}

/// Starts a run.
pub(super) async fn begin(
    plugin: &Plugin,
    params: AgentRunParams,
    variables: &[(String, String)],
) -> Result<AgentRun, PluginError> {
    let (lease, own) = if variables.is_empty() {
        (Lease::Shared(plugin.hold(METHOD).await?), None)
    } else {
        let (process, own) = OwnRun::begin(plugin, variables).await?;
        (Lease::Own(Box::new(process)), Some(own))
    };
    let Some((peer, stderr)) =
        lease.process().map(|process| (process.peer().clone(), process.stderr().clone()))
    else {
        return Err(plugin.fail(METHOD, Fault::Stopping, Vec::new()));
    };
    let (parts, receiver) = mpsc::channel(HEAPS);
    let open = Arc::new(OpenCalls::default());
    let results = Results { plugin: plugin.clone(), peer, stderr, open: open.clone() };
    let driver = Driver {
        plugin: plugin.clone(),
        parts,
        waiting: Heap::new(),
        fences: Fences::default(),
        open,
        said: 0,
        told_usage: false,
        complaint: None,
        _own: own,
    };
    plugin.context().tasks.spawn(driver.drive(lease, params));
    let heaps = unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
    let parts = heaps.flat_map(|heap: Heap| iter(heap));
    Ok(AgentRun { parts: Box::pin(parts), results: Box::new(results) })
}

/// What is handed on at once.
type Heap = Vec<Result<AgentPart, GuestError>>;

/// What drives a run.
struct Driver {
    plugin: Plugin,
    parts: mpsc::Sender<Heap>,
    /// Parts that were heard and not handed on yet.
    waiting: Heap,
    /// What finds files in its text.
    fences: Fences,
    open: Arc<OpenCalls>,
    /// How much was heard in all.
    said: usize,
    told_usage: bool,
    /// What the plugin said went wrong.
    complaint: Option<String>,
    _own: Option<OwnRun>,
}

/// How a run ended.
enum End {
    Answered(AgentRunResult),
    Failed(CallFault),
    /// Nobody listens any more.
    Unwanted,
}

impl Driver {
    async fn drive(mut self, lease: Lease, params: AgentRunParams) {
        let context = self.plugin.context().clone();
        let end = self.follow(&lease, &context, params).await;
        if let Some(process) = lease.process() {
            process.ear().open(false);
        }
        let mut leaving = None;
        let failure = match end {
            End::Unwanted => {
                tracing::debug!(plugin = self.plugin.name(), "a run is cancelled");
                if let Some(process) = lease.take() {
                    process.cancel(&context).await;
                }
                return;
            }
            End::Answered(result) => {
                let stderr = lease.process().map(|process| process.stderr().clone()).unwrap_or_default();
                match lease {
                    Lease::Shared(held) => held.answered(),
                    Lease::Own(process) => leaving = Some(*process),
                }
                self.judge(result, &stderr)
            }
            End::Failed(CallFault::Stopping) => Some(self.let_go(lease)),
            End::Failed(fault) => Some(self.explain(lease, fault, &mut leaving).await),
        };
        self.tell_the_rest(failure).await;
        // The run is over for whoever listens; its process may take its time.
        drop(self);
        if let Some(process) = leaving {
            process.stop(&context).await;
        }
    }

    /// Hands on what still waits, and then the failure, unless nobody wants it any more.
    async fn tell_the_rest(&mut self, failure: Option<PluginError>) {
        let closing = self.plugin.closing().clone();
        // Of a run that failed, also what it was in the middle of.
        let rest = self.fences.finish().0;
        self.pass_on(rest);
        self.waiting.extend(failure.map(|error| Err(error.into())));
        if self.waiting.is_empty() {
            return;
        }
        tokio::select! {
            biased;
            // Whoever does not listen any more does not miss it.
            _ = self.parts.send(std::mem::take(&mut self.waiting)) => {}
            // Whoever has not taken it by now is not waited for.
            () = closing.cancelled() => {}
        }
    }

    /// Parts to be handed on.
    fn pass_on(&mut self, parts: impl IntoIterator<Item = AgentPart>) {
        self.waiting.extend(parts.into_iter().map(Ok));
    }

    /// Listens to what the plugin says, and hands it on, until the run is over.
    async fn follow(&mut self, lease: &Lease, context: &Context, params: AgentRunParams) -> End {
        let Some(process) = lease.process() else { return End::Failed(CallFault::Stopping) };
        let ear = Arc::clone(process.ear());
        ear.open(true);
        let limits = &context.limits;
        let closing = self.plugin.closing().clone();
        let parts = self.parts.clone();
        let mut answer = pin!(process.call::<Run>(limits.run_total, &params));
        drop(params);
        let mut silent_since = Instant::now();
        let mut complete_since = None;
        // Set anew only when it goes off: to do so with every event would cost more than the event.
        let mut silence = pin!(sleep_until(silent_since + limits.run_silence));
        let mut settled = pin!(sleep_until(silent_since + limits.run_answer));
        let answer = loop {
            tokio::select! {
                biased;
                () = parts.closed() => return End::Unwanted,
                () = closing.cancelled() => return End::Failed(CallFault::Stopping),
                // First, so that a plugin that never pauses does not keep from people what it said.
                Ok(place) = parts.reserve(), if !self.waiting.is_empty() => {
                    place.send(std::mem::take(&mut self.waiting));
                }
                events = ear.take() => {
                    silent_since = Instant::now();
                    match self.hear_all(events) {
                        Ok(false) => {}
                        Ok(true) => {
                            complete_since = Some(silent_since);
                            settled.as_mut().reset(silent_since + limits.run_answer);
                        }
                        Err(fault) => return End::Failed(fault),
                    }
                }
                answer = &mut answer => break answer,
                () = self.open.given.notified() => silent_since = Instant::now(),
                () = &mut settled, if complete_since.is_some() => break Ok(AgentRunResult::default()),
                () = &mut silence, if self.open.is_empty() => {
                    let end = silent_since + limits.run_silence;
                    if end <= Instant::now() {
                        return End::Failed(CallFault::TimedOut(limits.run_silence));
                    }
                    silence.as_mut().reset(end);
                }
            }
        };
        // The answer overtakes events that were read before it.
        let mut heard = pin!(process.peer().heard());
        loop {
            let events = tokio::select! {
                biased;
                events = ear.take() => events,
                () = &mut heard => break,
            };
            if let Err(fault) = self.hear_all(events) {
                return End::Failed(fault);
            }
        }
        if let Err(fault) = self.hear_all(ear.take_now()) {
            return End::Failed(fault);
        }
        answer.map_or_else(End::Failed, End::Answered)
    }

    /// Keeps what events say, to be handed on. Whether one of them is the end.
    fn hear_all(&mut self, events: Vec<StreamEvent>) -> Result<bool, CallFault> {
        let mut is_complete = false;
        for event in events {
            is_complete |= self.hear(event)?;
        }
        Ok(is_complete)
    }

    fn hear(&mut self, event: StreamEvent) -> Result<bool, CallFault> {
        let wanted = match &event {
            StreamEvent::ToolUse(call) => Some(call.id.clone()),
            _ => None,
        };
        let part = match heard::read(event) {
            Heard::Part(part) => part,
            Heard::Failure(message) => {
                self.complaint = Some(message.clone());
                AgentPart::Note(message)
            }
            Heard::Complete => return Ok(true),
            Heard::Nothing => return Ok(false),
        };
        self.said = self.said.saturating_add(PER_PART + heard::weight(&part));
        if self.said > MAX_RUN {
            return Err(CallFault::TooMuch(MAX_RUN));
        }
        if let Some(call) = wanted {
            self.open.add(call);
        }
        self.told_usage |= matches!(part, AgentPart::Usage(_));
        match part {
            AgentPart::Text(text) => {
                let found = self.fences.push(&text);
                self.pass_on(found);
            }
            part => {
                let before = self.fences.interrupt();
                self.pass_on(before.into_iter().chain([part]));
            }
        }
        Ok(false)
    }

    /// Whether an answer says that the run failed.
    fn judge(&mut self, result: AgentRunResult, stderr: &StderrTail) -> Option<PluginError> {
        if result.has_failed() {
            let reason = result.error.or(self.complaint.take());
            let reason = reason.unwrap_or_else(|| "it does not say why".to_owned());
            return Some(self.plugin.fail(METHOD, Fault::Failed(reason), stderr.lines()));
        }
        let (rest, problem) = self.fences.finish();
        self.pass_on(rest);
        if let Some(problem) = problem {
            return Some(self.plugin.fail(METHOD, Fault::Failed(problem), stderr.lines()));
        }
        self.pass_on(result.tokens_used.filter(|_| !self.told_usage).map(heard::sum));
        None
    }

    /// Ends the run of a plugin that is not to be asked any more, as one that is cancelled.
    fn let_go(&self, lease: Lease) -> PluginError {
        match lease.take() {
            Some(process) => self.plugin.let_go(METHOD, process),
            None => self.plugin.fail(METHOD, Fault::Stopping, Vec::new()),
        }
    }

    /// A failure in words. A process that is well and not the plugin's is `leaving`.
    async fn explain(
        &mut self,
        lease: Lease,
        fault: CallFault,
        leaving: &mut Option<Process>,
    ) -> PluginError {
        let mut error = match lease {
            Lease::Shared(held) => held.failed(METHOD, fault).await,
            Lease::Own(process) => {
                let (fault, stderr, kept) = process.explain(fault).await;
                *leaving = kept;
                self.plugin.fail(METHOD, self.plugin.judge(METHOD, fault), stderr)
            }
        };
        if let (Fault::Ended(how), Some(complaint)) = (&error.fault, self.complaint.take()) {
            error.fault = Fault::Failed(format!("{complaint}; then it ended with {how}"));
        }
        error
    }
}

/// Calls of an agent that nobody has answered, and how the agent wrote their names.
#[derive(Debug, Default)]
struct OpenCalls {
    ids: Mutex<HashMap<String, ToolUseId>>,
    given: Notify,
}

impl OpenCalls {
    fn ids(&self) -> MutexGuard<'_, HashMap<String, ToolUseId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, id: ToolUseId) {
        self.ids().insert(id.to_string(), id);
    }

    fn remove(&self, id: &str) -> Option<ToolUseId> {
        let known = self.ids().remove(id);
        self.given.notify_one();
        known
    }

    fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }
}

/// Where results of an agent's calls go.
struct Results {
    plugin: Plugin,
    peer: Peer,
    /// Of the process that has the run.
    stderr: StderrTail,
    open: Arc<OpenCalls>,
}

impl CallResults for Results {
    /// It is on its way when this returns. That it arrived is not waited for: a plugin that does not know the method says
    /// so only after its run, and means no harm.
    fn give(&self, call: &str, result: String) -> Result<(), GuestError> {
        let fail = |fault| {
            let stderr = self.stderr.lines();
            GuestError::from(self.plugin.fail("agent.tool_result", fault, stderr))
        };
        let Some(tool_id) = self.open.remove(call) else {
            return Err(fail(Fault::NotSent(format!("it waits for no call `{call}`"))));
        };
        let params = AgentToolResultParams { tool_id, result };
        match self.peer.call::<AgentToolResult>(&params).now_or_never() {
            None | Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(fail(Fault::NotSent(error.to_string()))),
        }
    }
}
