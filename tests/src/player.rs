//! Somebody on a session in a test.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    Abilities, Accepted, ApprovalAnswer, ApprovalId, ApprovalScope, CallId, Client, ClientId, Door, Event,
    EventBody, Instruction, Intent, Remember, Role, Seq, TurnEnd, WhenBusy,
};
use loggia_engine::{FeedClosed, IntentError, Seat, State, Subscription, Told};

use crate::Transcript;

/// Longer than anything takes that does not hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody on a session, who hears everything and writes it down.
#[derive(Debug)]
pub struct Player {
    /// The place on the session.
    pub seat: Seat,
    /// What comes next.
    pub subscription: Subscription,
    /// What came so far.
    pub heard: Vec<Told>,
    /// The same as text.
    pub transcript: Transcript,
}

impl Player {
    /// Listens from an event on.
    pub fn new(seat: Seat, after: Seq) -> Self {
        let subscription = seat.subscribe(after);
        Self { seat, subscription, heard: Vec::new(), transcript: Transcript::default() }
    }

    /// Gives an instruction.
    ///
    /// # Errors
    /// What the session says against it.
    pub async fn prompt(&self, text: &str) -> Result<Accepted, IntentError> {
        self.seat.intend(prompt(text)).await
    }

    /// Answers a question.
    ///
    /// # Errors
    /// What the session says against it.
    pub async fn decide(&self, approval: ApprovalId, scope: ApprovalScope) -> Result<Accepted, IntentError> {
        let answer = ApprovalAnswer { scope, remember: Remember::Once, comment: None };
        self.seat.intend(Intent::Decide { approval, answer }).await
    }

    /// Hears what comes next, and writes it down.
    async fn next(&mut self) -> Result<Told, FeedClosed> {
        match tokio::time::timeout(PATIENCE, self.subscription.next()).await {
            Ok(told) => told.inspect(|told| {
                self.transcript.take(told);
                self.heard.push(told.clone());
            }),
            Err(_) => panic!("nothing more is told after\n{}", self.text()),
        }
    }

    /// Hears until something is told.
    ///
    /// # Panics
    /// If the session ends first, or nothing comes any more.
    pub async fn until<T>(&mut self, mut wanted: impl FnMut(&Told) -> Option<T>) -> T {
        loop {
            let told = self.next().await.expect("the session goes on");
            if let Some(found) = wanted(&told) {
                return found;
            }
        }
    }

    /// Hears until an event is told.
    pub async fn until_event<T>(&mut self, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        self.until(|told| match told {
            Told::Event(event) => wanted(event),
            Told::Reply(_) | Told::Passing(_) => None,
        })
        .await
    }

    /// Hears until nothing more will be told.
    pub async fn until_closed(&mut self) -> FeedClosed {
        loop {
            if let Err(why) = self.next().await {
                return why;
            }
        }
    }

    /// Gives up the place on the session, and hears why nothing more will be told.
    ///
    /// # Panics
    /// If that does not come.
    pub async fn leave(self) -> FeedClosed {
        let Self { seat, mut subscription, .. } = self;
        drop(seat);
        let closed = async {
            loop {
                if let Err(why) = subscription.next().await {
                    return why;
                }
            }
        };
        tokio::time::timeout(PATIENCE, closed).await.expect("the session leaves memory")
    }

    /// Hears until more of a reply comes.
    pub async fn until_reply(&mut self) {
        self.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    }

    /// Hears until a call is carried out.
    pub async fn until_started(&mut self) -> CallId {
        self.until_event(|event| match &event.body {
            EventBody::ToolStarted { call, .. } => Some(*call),
            _ => None,
        })
        .await
    }

    /// Hears until people are asked.
    pub async fn until_asked(&mut self) -> ApprovalId {
        self.until_event(|event| match &event.body {
            EventBody::ApprovalAsked { approval, .. } => Some(*approval),
            _ => None,
        })
        .await
    }

    /// Hears until a turn ends.
    pub async fn until_done(&mut self) -> TurnEnd {
        self.until_event(|event| match &event.body {
            EventBody::TurnEnded { end, .. } => Some(end.clone()),
            _ => None,
        })
        .await
    }

    /// Gives an instruction, answers every question with yes, and hears until the turn ends.
    ///
    /// # Panics
    /// If the session refuses.
    pub async fn play(&mut self, text: &str) -> TurnEnd {
        let began = self.prompt(text).await.expect("the session takes a prompt").seq;
        loop {
            let asked = self
                .until_event(|event| match &event.body {
                    // The past is heard as well, but not answered.
                    _ if event.seq < began => None,
                    EventBody::ApprovalAsked { approval, .. } => Some(Ok(*approval)),
                    EventBody::TurnEnded { end, .. } => Some(Err(end.clone())),
                    _ => None,
                })
                .await;
            match asked {
                Ok(approval) => drop(self.decide(approval, ApprovalScope::All).await.expect("it is open")),
                Err(end) => return end,
            }
        }
    }

    /// The session's state.
    ///
    /// # Panics
    /// If the session is gone.
    pub async fn state(&self) -> Arc<State> {
        self.seat.state().await.expect("the session is there")
    }

    /// Everything told so far.
    pub fn text(&self) -> String {
        self.transcript.text()
    }
}

/// An instruction that is refused while a turn runs.
pub fn prompt(text: &str) -> Intent {
    instruction(text, false, WhenBusy::Refuse)
}

/// An instruction that waits while a turn runs.
pub fn queued(text: &str) -> Intent {
    instruction(text, false, WhenBusy::Queue)
}

/// An instruction whose changes are collected.
pub fn preview(text: &str) -> Intent {
    instruction(text, true, WhenBusy::Refuse)
}

fn instruction(text: &str, preview: bool, when_busy: WhenBusy) -> Intent {
    let instruction = Instruction { text: text.to_owned(), preview, ..Instruction::default() };
    Intent::Prompt { instruction, when_busy }
}

/// Somebody new.
pub fn client(name: &str, role: Role, abilities: Abilities) -> Client {
    Client { id: ClientId::new(), name: name.to_owned(), door: Door::Inside, role, abilities }
}
