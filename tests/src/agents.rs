//! Agents of nobody: they say what a test tells them to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::unfold;
use loggia_domain::{
    AgentBackend, AgentPart, AgentRequest, AgentRun, BoxFuture, CallResults, GuestCall, GuestError,
    GuestFinder, Guests, JsonText, Workspace,
};
use tokio::sync::watch;

/// What an agent does next.
#[derive(Debug, Clone)]
pub enum Act {
    /// It says this.
    Say(AgentPart),
    /// It calls a tool and waits for what comes of it: its name of the call, the tool, the arguments.
    Call(&'static str, &'static str, &'static str),
    /// It fails.
    Fail(GuestError),
    /// It never says anything again.
    Hang,
}

impl Act {
    /// It says a text.
    pub fn text(text: &str) -> Self {
        Self::Say(AgentPart::Text(text.to_owned()))
    }

    /// It wants a file to hold this, or to go.
    pub fn file(path: &str, content: Option<&str>) -> Self {
        Self::Say(AgentPart::File(path.to_owned(), content.map(str::to_owned)))
    }
}

/// An agent that plays runs one after the other.
#[derive(Debug)]
pub struct FakeAgent {
    name: &'static str,
    readiness: Result<(), GuestError>,
    runs: Mutex<VecDeque<Vec<Act>>>,
    requests: Mutex<Vec<AgentRequest>>,
    given: Arc<Given>,
    /// How many runs were let go of before their end.
    cut: watch::Sender<usize>,
}

/// Results that were handed over.
#[derive(Debug, Default)]
struct Given {
    results: watch::Sender<Vec<(String, String)>>,
}

impl FakeAgent {
    /// An agent of this name with these runs.
    pub fn new(name: &'static str, runs: Vec<Vec<Act>>) -> Arc<Self> {
        Self::that_is(name, Ok(()), runs)
    }

    /// One that can work, or not.
    pub fn that_is(name: &'static str, readiness: Result<(), GuestError>, runs: Vec<Vec<Act>>) -> Arc<Self> {
        Arc::new(Self {
            name,
            readiness,
            runs: Mutex::new(runs.into()),
            requests: Mutex::default(),
            given: Arc::default(),
            cut: watch::Sender::new(0),
        })
    }

    /// What it was asked, oldest first.
    pub fn requests(&self) -> Vec<AgentRequest> {
        lock(&self.requests).clone()
    }

    /// What came of its calls, as it was told: each with its name of the call.
    pub fn given(&self) -> Vec<(String, String)> {
        self.given.results.borrow().clone()
    }

    /// Waits until a run has been let go of before its end.
    ///
    /// # Panics
    /// If none is.
    pub async fn until_cut(&self) {
        let mut cut = self.cut.subscribe();
        let waited = tokio::time::timeout(crate::player::PATIENCE, cut.wait_for(|cut| *cut > 0)).await;
        waited.expect("a run is let go of").expect("the agent is there");
    }
}

impl AgentBackend for FakeAgent {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(std::future::ready(self.readiness.clone()))
    }

    fn run(&self, request: AgentRequest) -> BoxFuture<'_, Result<AgentRun, GuestError>> {
        lock(&self.requests).push(request);
        let acts: VecDeque<Act> = lock(&self.runs).pop_front().unwrap_or_default().into();
        let playing = Playing {
            acts,
            waits: None,
            given: self.given.results.subscribe(),
            at_work: AtWork(self.cut.clone()),
        };
        let parts = Box::pin(unfold(playing, Playing::next));
        let results = Box::new(Results(Arc::clone(&self.given)));
        Box::pin(std::future::ready(Ok(AgentRun { parts, results })))
    }
}

/// A run under way.
struct Playing {
    acts: VecDeque<Act>,
    waits: Option<&'static str>,
    given: watch::Receiver<Vec<(String, String)>>,
    at_work: AtWork,
}

impl Playing {
    async fn next(mut self) -> Option<(Result<AgentPart, GuestError>, Self)> {
        if let Some(id) = self.waits.take() {
            let is_given = |given: &Vec<(String, String)>| given.iter().any(|(call, _)| call == id);
            // Whoever gives results goes with the run.
            let _ = self.given.wait_for(is_given).await;
        }
        match self.acts.pop_front() {
            Some(Act::Say(part)) => Some((Ok(part), self)),
            Some(Act::Call(id, tool, arguments)) => {
                self.waits = Some(id);
                let call = GuestCall {
                    id: id.to_owned(),
                    tool: tool.to_owned(),
                    arguments: JsonText(arguments.to_owned()),
                    purpose: Some("to go on".to_owned()),
                };
                Some((Ok(AgentPart::Call(call)), self))
            }
            Some(Act::Fail(error)) => {
                self.acts.clear();
                self.at_work.done();
                Some((Err(error), self))
            }
            Some(Act::Hang) => std::future::pending().await,
            None => {
                self.at_work.done();
                None
            }
        }
    }
}

/// Notes that a run was let go of, unless it is done.
struct AtWork(watch::Sender<usize>);

impl AtWork {
    fn done(&mut self) {
        self.0 = watch::Sender::new(0);
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.send_modify(|cut| *cut += 1);
    }
}

struct Results(Arc<Given>);

impl CallResults for Results {
    fn give(&self, call: &str, result: String) -> Result<(), GuestError> {
        self.0.results.send_modify(|given| given.push((call.to_owned(), result)));
        Ok(())
    }
}

/// The same agents in every workspace.
#[derive(Debug, Default)]
pub struct FakeGuests(pub Vec<Arc<FakeAgent>>);

impl GuestFinder for FakeGuests {
    fn guests(&self, _: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        let agents = self.0.iter().map(|agent| Arc::clone(agent) as Arc<dyn AgentBackend>);
        let guests = Guests { agents: agents.collect(), ..Guests::default() };
        Box::pin(std::future::ready(Ok(guests)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
