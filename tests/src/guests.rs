//! Guests for tests of what is around them: providers and hooks that do as they are told and remember what they were.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{
    BoxFuture, GuestError, GuestFinder, Guests, JsonText, Occasion, Page, Proposal, Proposed,
    ProviderAbility, StepMoment, TaskProvider, Verdict, WorkItem, WorkQuery, WorkflowHook, WorkflowParts,
    Workspace,
};
use tokio::sync::{Barrier, watch};

/// Finds these guests in every workspace.
#[derive(Debug, Clone, Default)]
pub struct PretendGuests(pub Guests);

impl GuestFinder for PretendGuests {
    fn guests(&self, _: Workspace) -> BoxFuture<'_, Result<Guests, GuestError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// A provider of items that a test names.
#[derive(Debug)]
pub struct PretendProvider {
    /// Its name, and its scheme.
    pub name: &'static str,
    /// Who is asked first.
    pub priority: i64,
    /// What references it claims begin with.
    pub claims: Option<&'static str>,
    /// Whom it waits for before it says whether it claims something.
    pub meets: Option<Arc<Barrier>>,
    /// What it can do.
    pub abilities: Vec<ProviderAbility>,
    /// Its items, by key.
    pub items: BTreeMap<String, WorkItem>,
    /// What was asked of it, in order.
    log: Mutex<Vec<String>>,
}

impl PretendProvider {
    /// A provider without items.
    pub fn new(name: &'static str) -> Self {
        let log = Mutex::default();
        let (abilities, items) = (Vec::new(), BTreeMap::new());
        Self { name, priority: 0, claims: None, meets: None, abilities, items, log }
    }

    /// With an item.
    #[must_use]
    pub fn item(mut self, item: WorkItem) -> Self {
        self.items.insert(item.key.clone(), item);
        self
    }

    /// What was asked of it, one thing a line.
    pub fn log(&self) -> String {
        self.lines().join("\n")
    }

    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say<T: Send + 'static>(
        &self,
        line: String,
        result: Result<T, GuestError>,
    ) -> BoxFuture<'_, Result<T, GuestError>> {
        self.lines().push(line);
        Box::pin(std::future::ready(result))
    }
}

/// An item with a key, a title and a text.
pub fn item(key: &str, title: &str, description: &str) -> WorkItem {
    WorkItem {
        key: key.to_owned(),
        label: Some(key.to_owned()),
        kind: Some("issue".to_owned()),
        title: title.to_owned(),
        description: description.to_owned(),
        status: Some("open".to_owned()),
        priority: None,
        tags: vec!["needs-approval".to_owned()],
        location: None,
        provider: None,
        more: JsonText::empty_object(),
    }
}

impl TaskProvider for PretendProvider {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn schemes(&self) -> Vec<String> {
        vec![self.name.to_owned()]
    }

    fn priority(&self) -> i64 {
        self.priority
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        self.abilities.contains(&ability)
    }

    fn claims(&self, reference: String) -> BoxFuture<'_, Result<bool, GuestError>> {
        let claims = self.claims.is_some_and(|beginning| reference.starts_with(beginning));
        let said = self.say(format!("claims {reference}"), Ok(claims));
        Box::pin(async move {
            if let Some(others) = &self.meets {
                others.wait().await;
            }
            said.await
        })
    }

    fn resolve(&self, reference: String) -> BoxFuture<'_, Result<String, GuestError>> {
        let key = reference.rsplit(':').next().unwrap_or_default().to_owned();
        self.say(format!("resolve {reference}"), Ok(key))
    }

    fn fetch(&self, key: String) -> BoxFuture<'_, Result<WorkItem, GuestError>> {
        let found = self.items.get(&key).cloned();
        let found = found.ok_or_else(|| GuestError::NotFound(format!("there is no item `{key}`")));
        self.say(format!("fetch {key}"), found)
    }

    fn snapshot(&self, key: String) -> BoxFuture<'_, Result<String, GuestError>> {
        let failed = GuestError::Failed("the place does not answer".to_owned());
        self.say(format!("snapshot {key}"), Err(failed))
    }

    fn list(&self, query: WorkQuery) -> BoxFuture<'_, Result<Page<WorkItem>, GuestError>> {
        let items = self.items.values().take(query.limit).cloned().collect();
        self.say("list".to_owned(), Ok(Page { items, next: None }))
    }

    fn set_status(&self, key: String, status: String) -> BoxFuture<'_, Result<(), GuestError>> {
        self.say(format!("{key} is {status}"), Ok(()))
    }

    fn comments(&self, _: String) -> BoxFuture<'_, Result<Vec<(String, String)>, GuestError>> {
        self.say("comments".to_owned(), Ok(Vec::new()))
    }

    fn comment(&self, key: String, text: String) -> BoxFuture<'_, Result<(), GuestError>> {
        self.say(format!("comment {key}: {text}"), Ok(()))
    }

    fn set_tags(&self, _: String, _: Vec<String>, _: bool) -> BoxFuture<'_, Result<(), GuestError>> {
        self.say("tags".to_owned(), Ok(()))
    }

    fn branch(&self, _: String) -> BoxFuture<'_, Result<Option<String>, GuestError>> {
        self.say("branch".to_owned(), Ok(None))
    }

    fn set_branch(&self, _: String, _: String, _: bool) -> BoxFuture<'_, Result<(), GuestError>> {
        self.say("set branch".to_owned(), Ok(()))
    }

    fn propose(&self, proposal: Proposal) -> BoxFuture<'_, Result<Proposed, GuestError>> {
        let proposed = Proposed {
            label: Some("7".to_owned()),
            location: Some("https://example.org/7".to_owned()),
            state: None,
        };
        self.say(format!("propose {} into {}", proposal.from, proposal.into), Ok(proposed))
    }

    fn attachment(&self, _: String, _: String) -> BoxFuture<'_, Result<Vec<u8>, GuestError>> {
        self.say("attachment".to_owned(), Ok(Vec::new()))
    }
}

/// A hook that does as it is told.
#[derive(Debug)]
pub struct PretendHook {
    name: &'static str,
    parts: Result<WorkflowParts, GuestError>,
    told: Mutex<Told>,
    stuck: watch::Sender<Option<String>>,
    reached: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Told {
    guards: BTreeMap<String, Result<Verdict, GuestError>>,
    effects: BTreeMap<String, Result<Option<String>, GuestError>>,
    log: Vec<String>,
    facts: Vec<String>,
}

impl PretendHook {
    /// A hook that adds this; its guards allow and its effects work until they are told otherwise.
    pub fn new(name: &'static str, parts: WorkflowParts) -> Arc<Self> {
        Self::with(name, Ok(parts))
    }

    /// A hook that does not say what it adds.
    pub fn silent(name: &'static str, why: &str) -> Arc<Self> {
        Self::with(name, Err(GuestError::Gone(why.to_owned())))
    }

    fn with(name: &'static str, parts: Result<WorkflowParts, GuestError>) -> Arc<Self> {
        let (stuck, reached) = (watch::Sender::new(None), watch::Sender::new(false));
        Arc::new(Self { name, parts, told: Mutex::default(), stuck, reached })
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on a guard says this.
    pub fn guard_says(&self, guard: &str, word: Result<Verdict, GuestError>) {
        self.told().guards.insert(guard.to_owned(), word);
    }

    /// From here on this comes of an effect.
    pub fn effect_does(&self, effect: &str, result: Result<Option<String>, GuestError>) {
        self.told().effects.insert(effect.to_owned(), result);
    }

    /// What was asked of it, one thing a line.
    pub fn log(&self) -> String {
        self.told().log.join("\n")
    }

    /// The facts it was told with the last question.
    pub fn facts(&self) -> String {
        self.told().facts.last().cloned().unwrap_or_default()
    }

    /// Has the next run of this effect hang after it has done its work, until the process is gone.
    pub fn hang_after(&self, effect: &str) {
        self.reached.send_replace(false);
        self.stuck.send_replace(Some(effect.to_owned()));
    }

    /// Waits until an effect hangs, and lets later ones go on.
    ///
    /// # Panics
    /// If that does not come.
    pub async fn until_hanging(&self) {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|reached| *reached).await.expect("the hook is there");
        self.stuck.send_replace(None);
    }
}

impl WorkflowHook for PretendHook {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn parts(&self) -> BoxFuture<'_, Result<WorkflowParts, GuestError>> {
        Box::pin(std::future::ready(self.parts.clone()))
    }

    fn guard(&self, guard: String, moment: StepMoment) -> BoxFuture<'_, Result<Verdict, GuestError>> {
        let mut told = self.told();
        told.log.push(format!("{guard} before {}", moment.step));
        told.facts.push(moment.facts.0);
        let word = told.guards.get(&guard).cloned().unwrap_or(Ok(Verdict::Allow(None)));
        Box::pin(std::future::ready(word))
    }

    fn effect(
        &self,
        effect: String,
        moment: StepMoment,
    ) -> BoxFuture<'_, Result<Option<String>, GuestError>> {
        let result = {
            let mut told = self.told();
            let occasion = match moment.occasion {
                Some(Occasion::TaskStarted) => "task started",
                Some(Occasion::StepEntered) => "entered",
                Some(Occasion::StepLeft) => "left",
                Some(Occasion::CheckpointMade) => "checkpoint",
                Some(Occasion::TaskDone) => "task done",
                None => "nothing",
            };
            told.log.push(format!("{effect} at {} ({occasion})", moment.step));
            told.effects.get(&effect).cloned().unwrap_or(Ok(None))
        };
        Box::pin(async move {
            if *self.stuck.borrow() == Some(effect) {
                self.reached.send_replace(true);
                std::future::pending::<()>().await;
            }
            result
        })
    }
}
