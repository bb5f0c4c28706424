//! The task that tells a client what happens in its session.
//!
//! Knows when something is told and in how many writes. What is told is the teller's affair.

mod merging;

use std::sync::Arc;

use loggia_domain::{ApprovalAnswer, ApprovalId, EventBody, FileChangeKind, Intent, Patch};
use loggia_engine::{FeedClosed, Subscription, Told};
use loggia_protocol_autohand::limits::PING_INTERVAL;
use loggia_protocol_autohand::{self as wire, AgentStatus, codes};
use loggia_wire::peer::{Notice, NotifyError, Peer};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::door::Door;
use crate::pending;
use crate::place::Place;
use crate::tell::moment::moment;
use crate::tell::{Ear, Said};
use merging::Merging;

/// So much is told in one write at most; then others get their turn. A fast model says less between two writes.
const BURST: usize = 64;

/// Tells what happens until the place is left or nothing more comes. Says first what is under way already.
pub(crate) fn start(door: &Arc<Door>, place: Arc<Place>, peer: Peer) {
    let Some(subscription) = place.take_subscription() else { return };
    let merging = Merging::new(door.launch.merge_updates);
    let pump = Pump { door: Arc::clone(door), place, peer, subscription, merging };
    tokio::spawn(pump.run());
}

struct Pump {
    door: Arc<Door>,
    place: Arc<Place>,
    peer: Peer,
    subscription: Subscription,
    merging: Merging,
}

/// What there is to do next.
enum Next {
    /// Something has happened.
    Told(Told),
    /// What was held back is due.
    Due,
    /// It is time for a sign of life.
    Ping,
}

impl Pump {
    async fn run(mut self) {
        let stop = self.place.stop.clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            why = self.tell() => self.over(why).await,
        }
    }

    async fn tell(&mut self) -> FeedClosed {
        let door = Arc::clone(&self.door);
        {
            let _held = door.hold().await;
            let mut said = Said::default();
            self.place.teller().arrive(&door.ear(), &mut said);
            self.send(said).await;
        }
        let mut pings = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let next = match self.next(&mut pings).await {
                Ok(next) => next,
                Err(why) => return why,
            };
            // Held from looking at what happened until it is sent, so that nobody gets in between.
            let _held = door.hold().await;
            let said = match next {
                Next::Told(told) => self.burst(told).await,
                Next::Due => self.overdue().await,
                Next::Ping => self.ping(),
            };
            self.send(said).await;
        }
    }

    async fn next(&mut self, pings: &mut Interval) -> Result<Next, FeedClosed> {
        let due = self.merging.due();
        let due = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            told = self.subscription.next() => told.map(Next::Told),
            () = due => Ok(Next::Due),
            _ = pings.tick() => Ok(Next::Ping),
        }
    }

    /// Something, and what else is there already.
    async fn burst(&mut self, mut told: Told) -> Said {
        let ear = self.door.ear();
        let mut said = Said::default();
        for _ in 1..BURST {
            self.pass(told, &ear, &mut said).await;
            let Some(next) = self.subscription.try_next() else { return said };
            told = next;
        }
        self.pass(told, &ear, &mut said).await;
        said
    }

    async fn pass(&mut self, told: Told, ear: &Ear, said: &mut Said) {
        for told in self.merging.pass(told, ear.instant).into_iter().flatten() {
            self.take(&told, ear, said).await;
        }
    }

    /// What was held back for long enough.
    async fn overdue(&mut self) -> Said {
        let (ear, mut said) = (self.door.ear(), Said::default());
        if let Some(told) = self.merging.release(ear.instant) {
            self.take(&told, &ear, &mut said).await;
        }
        said
    }

    async fn take(&self, told: &Told, ear: &Ear, said: &mut Said) {
        self.look_up(told).await;
        self.place.teller().tell(told, ear, said);
        self.note(told);
    }

    /// What a file holds that a shown change is made to. Only the disk knows.
    async fn look_up(&self, told: &Told) {
        let Told::Event(event) = told else { return };
        let EventBody::PatchProposed { patch } = &event.body else { return };
        if !self.place.teller().shows_changes() {
            return;
        }
        let base = base(&self.place, patch).await;
        self.place.teller().look_up(patch.id, base);
    }

    fn note(&self, told: &Told) {
        let Told::Event(event) = told else { return };
        match &event.body {
            EventBody::ModelChanged { model, .. } => {
                let facts = self.door.facts(Some(model));
                self.place.teller().model = facts;
            }
            EventBody::ApprovalDecided { approval, .. } => self.place.unlimited(*approval),
            _ => {}
        }
    }

    fn ping(&self) -> Said {
        let teller = self.place.teller();
        let mut said = Said::default();
        if let Some(turn_id) = teller.turn_id() {
            let status = match teller.status() {
                AgentStatus::Idle => "idle",
                AgentStatus::Processing => "processing",
                AgentStatus::WaitingPermission => "waiting_permission",
            };
            let timestamp = moment(loggia_domain::Timestamp::now());
            said.say::<wire::Ping>(&wire::PingParams::KeepAlive(wire::KeepAlive {
                status: status.to_owned(),
                turn_id,
                timestamp,
            }));
        }
        said
    }

    async fn send(&self, said: Said) {
        send(&self.peer, &said.notices).await;
        for (approval, answer) in said.decide {
            decide(&self.place, approval, answer);
        }
        if let Some(timers) = self.door.launch.permission_timers {
            said.asked.iter().for_each(|approval| pending::limit(&self.place, *approval, timers));
        }
        self.place.has_told();
    }

    /// Nothing more will be told.
    async fn over(&self, why: FeedClosed) {
        match &why {
            // The daemon goes, and the connection with it.
            FeedClosed::Stopping => self.door.leave.cancel(),
            FeedClosed::Unloaded => {}
            FeedClosed::Deleted | FeedClosed::Store(_) => {
                let _held = self.door.hold().await;
                let mut said = self.place.fall_silent();
                said.say::<wire::Error>(&wire::ErrorParams {
                    code: codes::EXECUTION_ERROR,
                    message: why.to_string(),
                    recoverable: true,
                    error_type: None,
                    timestamp: moment(loggia_domain::Timestamp::now()),
                });
                self.send(said).await;
            }
        }
        self.place.stop.cancel();
    }
}

/// Sends to a client that may have gone: then there is nobody to tell, and its end of input ends the rest. What is too
/// large for a line is left out, and keeps nothing else out.
pub(crate) async fn send(peer: &Peer, notices: &[Notice]) {
    let error = match peer.tell(notices).await {
        Ok(()) => return,
        Err(error) => error,
    };
    tracing::debug!(%error, "a client was not told");
    if let (NotifyError::Unsendable(_), true) = (&error, notices.len() > 1) {
        for notice in notices {
            if let Err(error) = peer.tell(std::slice::from_ref(notice)).await {
                tracing::warn!(%error, notice = notice.method(), "a client was not told");
            }
        }
    }
}

/// Answers a question in the client's name, beside what is being told.
pub(crate) fn decide(place: &Arc<Place>, approval: ApprovalId, answer: ApprovalAnswer) {
    let place = Arc::clone(place);
    tokio::spawn(async move {
        // Somebody else may have been faster; then that holds.
        if let Err(error) = place.seat.intend(Intent::Decide { approval, answer }).await {
            tracing::debug!(%approval, %error, "a question was not answered in the client's name");
        }
    });
}

/// What a file holds that a change is made to. The engine has made sure that the path leads nowhere else.
async fn base(place: &Place, patch: &Patch) -> Vec<u8> {
    if patch.kind == FileChangeKind::Created {
        return Vec::new();
    }
    let path = place.workspace.root.join(&patch.path);
    let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
    read.map_or_else(|_| Vec::new(), Result::unwrap_or_default)
}
