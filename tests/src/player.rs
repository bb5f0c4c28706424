//! Somebody on a session in a test.

use loggia_domain::{
    Accepted, ApprovalAnswer, ApprovalId, ApprovalScope, Event, EventBody, Instruction, Intent, Remember,
    Seq, TurnEnd, WhenBusy,
};
use loggia_engine::{IntentError, Seat, State, Subscription, Told};
use std::sync::Arc;

use crate::Transcript;

/// Somebody on a session, who hears everything and writes it down.
#[derive(Debug)]
pub struct Player {
    /// The place on the session.
    pub seat: Seat,
    /// What comes next.
    pub subscription: Subscription,
    /// What came so far.
    pub transcript: Transcript,
}

impl Player {
    /// Listens from an event on.
    pub fn new(seat: Seat, after: Seq) -> Self {
        let subscription = seat.subscribe(after);
        Self { seat, subscription, transcript: Transcript::default() }
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

    /// Hears until something is told.
    ///
    /// # Panics
    /// If the session ends first.
    pub async fn until<T>(&mut self, mut wanted: impl FnMut(&Told) -> Option<T>) -> T {
        loop {
            let told = self.subscription.next().await.expect("the session goes on");
            self.transcript.take(&told);
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
    let instruction = Instruction { text: text.to_owned(), context: None, preview: false };
    Intent::Prompt { instruction, when_busy: WhenBusy::Refuse }
}
