//! An extension that runs, as those who serve it and tell it things see it.
//!
//! Refuses to know its process: whoever holds that one looks for [`Guest::trouble`].

use std::sync::Arc;

use loggia_jsonrpc::ErrorObject;
use loggia_protocol_hermes::codes;
use loggia_wire::peer::Peer;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::mailbox::{Mail, Mailbox, PostError};
use crate::traffic::Traffic;
use crate::turns::Turns;
use crate::windows::Windows;

/// An extension that runs.
#[derive(Debug)]
pub(crate) struct Guest {
    /// What it is called here.
    pub(crate) name: String,
    pub(crate) context: Arc<Context>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) mailbox: Mailbox,
    pub(crate) windows: Windows,
    /// The order of calls about the message.
    pub(crate) turns: Turns,
    /// It was told to leave, or has ended: people are not asked for it any more.
    pub(crate) leaving: CancellationToken,
    /// Nothing is left of its process, and what became of it is told.
    pub(crate) gone: CancellationToken,
    /// Its handshake is over.
    ready: watch::Sender<bool>,
    /// Why it cannot go on.
    trouble: watch::Sender<Option<String>>,
}

impl Guest {
    pub(crate) fn new(name: &str, context: Arc<Context>) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            traffic: Traffic::new(),
            mailbox: Mailbox::new(context.limits),
            windows: Windows::default(),
            turns: Turns::default(),
            leaving: CancellationToken::new(),
            gone: CancellationToken::new(),
            ready: watch::Sender::new(false),
            trouble: watch::Sender::new(None),
            context,
        })
    }

    /// Its handshake is over: what it asks is served.
    pub(crate) fn welcome(&self) {
        self.ready.send_replace(true);
    }

    /// Whether what it asks is served; where its answer was read but not understood yet, somebody to wait for.
    pub(crate) fn admit(&self, peer: &Peer) -> Result<Option<watch::Receiver<bool>>, ErrorObject> {
        if *self.ready.borrow() {
            return Ok(None);
        }
        // The handshake is the only call we make before it is over, and its answer was read before this request.
        if peer.pending_calls() > 0 {
            let words = "the extension has not answered `initialize` yet";
            return Err(ErrorObject::new(codes::NOT_INITIALIZED, words));
        }
        Ok(Some(self.ready.subscribe()))
    }

    /// Has it told something. One that has not read for so long that nothing more can wait is given up.
    pub(crate) fn post(&self, mail: Mail) {
        if self.mailbox.post(mail) == Err(PostError::Full) {
            let waiting = self.context.limits.waiting_events;
            self.give_up(format!("it does not read what it is told: {waiting} events wait for it"));
        }
    }

    /// Says that it cannot go on.
    pub(crate) fn give_up(&self, why: String) {
        self.trouble.send_if_modified(|trouble| {
            let first = trouble.is_none();
            trouble.get_or_insert(why);
            first
        });
    }

    /// Waits until it cannot go on, and says why.
    pub(crate) async fn trouble(&self) -> String {
        let mut trouble = self.trouble.subscribe();
        // The sender is ours, so it is there.
        trouble.wait_for(Option::is_some).await.ok().and_then(|why| why.clone()).unwrap_or_default()
    }

    /// Nothing is told, shown or asked for it any more.
    pub(crate) fn end(&self) {
        self.leaving.cancel();
        self.mailbox.close();
        self.windows.end();
    }
}
