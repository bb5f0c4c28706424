//! One process of a plugin: started, asked, listened to, stopped.
//!
//! Knows the protocol's way of stopping and where events of a run go. Refuses to know restarts and capabilities.
//!
//! Invariant: dropping a process kills it with all it started; its keeper sees to that.

use std::ffi::OsString;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use loggia_jsonrpc::{ErrorObject, Method, Order, decode};
use loggia_protocol_mehrhof::{DIALECT, Shutdown, Stream, unwrap_result};
use loggia_wire::child::{
    Child, ChildSpec, Environment, Exit, SpawnError, StderrTail, StopActions, StopPlan, StopStep, spawn,
};
use loggia_wire::framing::FrameError;
use loggia_wire::peer::{CallError, CloseReason, Peer, Router, Settings, connect};
use serde_json::value::RawValue;

use crate::context::Context;
use crate::ear::Ear;
use crate::error::Fault;
use crate::executable::Invocation;
use crate::lines::{MAX_STRAY_LINES, PluginLines};

/// How long a plugin that closed its output may take to end. Most end at once; this one may be stuck.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// How long an agent that is cancelled may take to leave once its input is closed: it was told to watch for that.
const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// A running plugin.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    peer: Peer,
    ear: Arc<Ear>,
    stray: Arc<AtomicU64>,
    started: Instant,
}

/// How a call went wrong.
#[derive(Debug)]
pub(crate) enum CallFault {
    /// The plugin says that it failed. It is well.
    Answered(ErrorObject),
    /// The plugin says something else. It is well.
    WrongShape(String),
    /// Nothing was said to it. It is well.
    NotSent(String),
    /// It says nothing.
    TimedOut(Duration),
    /// It is gone.
    Closed(CloseReason),
    /// It said more than is kept.
    TooMuch(usize),
    /// We are stopping.
    Stopping,
}

impl Process {
    /// Starts a plugin in its directory.
    pub(crate) async fn start(
        context: &Context,
        name: &str,
        directory: &Path,
        invocation: Invocation,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Self, SpawnError> {
        let spec = ChildSpec::new(name, invocation.program)
            .args(invocation.arguments)
            .cwd(directory)
            .environment(Environment::Exactly(environment));
        let mut child = spawn(&context.keeper, spec).await?;
        let Some((stdout, stdin)) = child.take_streams() else {
            let source = std::io::Error::other("its streams are taken");
            return Err(SpawnError::Keeper { program: name.to_owned(), source });
        };
        let ear = Arc::new(Ear::default());
        let mut settings = Settings::new(name, DIALECT);
        // An agent need not read what it is told before its run is over.
        settings.stall = context.limits.run_total;
        let stray = Arc::new(AtomicU64::new(0));
        let lines = PluginLines::new(context.limits.line, stray.clone());
        let (peer, connection) = connect(stdout, stdin, lines, settings, listening(ear.clone()));
        context.tasks.spawn(connection.run());
        Ok(Self { child, peer, ear, stray, started: Instant::now() })
    }

    /// Whether it can still be spoken to.
    pub(crate) fn is_alive(&self) -> bool {
        self.child.try_exit().is_none() && self.peer.closed().now_or_never().is_none()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.pid()
    }

    pub(crate) fn lived(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Lines that were no messages, and messages nobody waited for.
    pub(crate) fn stray_lines(&self) -> u64 {
        let stats = self.peer.stats();
        self.stray.load(Relaxed)
            + stats.malformed
            + stats.unknown_answers
            + stats.late_answers
            + stats.unheard
    }

    /// The last lines of its stderr, also of those to come.
    pub(crate) fn stderr(&self) -> &StderrTail {
        self.child.stderr()
    }

    /// Where the events of a run are heard, once it is open.
    pub(crate) fn ear(&self) -> &Arc<Ear> {
        &self.ear
    }

    /// Calls a method.
    pub(crate) fn call<M: Method>(
        &self,
        limit: Duration,
        params: &M::Params,
    ) -> impl Future<Output = Result<M::Result, CallFault>> + Send + use<M> {
        let called = self.peer.call_within::<Unread<M>>(limit, params);
        async move {
            let raw = called.await.map_err(CallFault::from)?;
            let result = unwrap_result(&raw).map_err(CallFault::Answered)?;
            decode(result.get()).map_err(|error| CallFault::WrongShape(error.to_string()))
        }
    }

    /// Puts a fault into words. The process is only kept if this gives it back.
    pub(crate) async fn explain(mut self, fault: CallFault) -> (Fault, Vec<String>, Option<Self>) {
        let fault = match fault {
            CallFault::Answered(error) => Ok(Fault::Answered(error)),
            CallFault::WrongShape(problem) => Ok(Fault::WrongShape(problem)),
            CallFault::NotSent(problem) => Ok(Fault::NotSent(problem)),
            CallFault::TimedOut(limit) => Err(Fault::TimedOut(limit)),
            CallFault::TooMuch(limit) => Err(Fault::TooMuch(limit)),
            CallFault::Stopping => Err(Fault::Stopping),
            CallFault::Closed(reason) => Err(self.end(&reason).await),
        };
        match fault {
            Ok(fault) => (fault, self.stderr().lines(), Some(self)),
            Err(fault) => {
                let stderr = self.last_words().await;
                (fault, stderr, None)
            }
        }
    }

    /// Why a connection is no more.
    async fn end(&mut self, reason: &CloseReason) -> Fault {
        if let CloseReason::Broken(error) = reason {
            if let FrameError::LineTooLong { limit } = **error {
                return Fault::LineTooLong(limit);
            }
            if self.stray.load(Relaxed) > MAX_STRAY_LINES {
                return Fault::StrayLines(MAX_STRAY_LINES);
            }
            return Fault::Ended(format!("its output broken: {error}"));
        }
        match tokio::time::timeout(LAST_BREATH, self.child.exited()).await {
            Ok(exit) => Fault::Ended(exit.to_string()),
            Err(_) => Fault::Ended("its output closed, and was stopped".to_owned()),
        }
    }

    /// Kills it, if it is there, and gives what it said last.
    async fn last_words(&mut self) -> Vec<String> {
        self.child.kill().await;
        self.child.ended().await.stderr
    }

    /// Asks it to leave, and makes it.
    pub(crate) async fn stop(mut self, context: &Context) -> Option<Exit> {
        let limits = &context.limits;
        let plan = StopPlan::new([
            (StopStep::Ask, limits.stop_answer),
            (StopStep::CloseInput, limits.stop_exit),
            (StopStep::Terminate, limits.stop_signal),
        ]);
        let asked = self.peer.call_within::<Unread<Shutdown>>(limits.stop_answer, &Default::default());
        // Any answer will do, and none as well.
        let ask = Box::pin(asked.map(|_| ()));
        let peer = self.peer.clone();
        let close_input = Box::new(move || peer.close_writing());
        let stopped = self.child.stop(&plan, StopActions { ask, close_input }).await;
        self.child.gone().await;
        stopped.exit
    }

    /// Ends what it is doing: there is no word for that, but agents watch their input.
    pub(crate) async fn cancel(mut self, context: &Context) {
        let plan = StopPlan::new([
            (StopStep::CloseInput, CANCEL_GRACE.min(context.limits.stop_exit)),
            (StopStep::Terminate, context.limits.stop_signal),
        ]);
        let peer = self.peer.clone();
        let close_input = Box::new(move || peer.close_writing());
        let actions = StopActions { close_input, ..StopActions::none() };
        self.child.stop(&plan, actions).await;
        self.child.gone().await;
    }
}

/// Plugins only tell; what they ask is answered that nobody serves it.
fn listening(ear: Arc<Ear>) -> Router {
    Router::new().listen::<Stream, _, _>(move |_context, event| {
        let ear = Arc::clone(&ear);
        async move { ear.put(event).await }
    })
}

/// A method whose result nobody has read yet: it may hold an error.
struct Unread<M>(PhantomData<M>);

impl<M: Method> Method for Unread<M> {
    const NAME: &'static str = M::NAME;
    const ORDER: Order = M::ORDER;
    type Params = M::Params;
    type Result = Box<RawValue>;
}

impl From<CallError> for CallFault {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Answered(error) => Self::Answered(error),
            CallError::TimedOut { limit, .. } => Self::TimedOut(limit),
            CallError::Closed { reason, .. } => Self::Closed(reason),
            CallError::WrongShape { error, .. } => Self::WrongShape(error.to_string()),
            CallError::Overloaded { .. } => Self::NotSent("it does not read what it is sent".to_owned()),
            CallError::Unsendable { reason, .. } => Self::NotSent(reason),
        }
    }
}
