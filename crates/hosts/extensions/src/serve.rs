//! What extensions ask, and who answers.
//!
//! A request counts as open from where it was read: calls about the message take their turn there, and run when it comes.
//! Refuses to know what a message or a person is; both are asked behind traits.

mod dialogs;
mod editor;
mod windows;

use std::marker::PhantomData;
use std::sync::Arc;

use loggia_domain::MessageFormat;
use loggia_jsonrpc::{ErrorObject, Method, Order};
use loggia_protocol_hermes as hermes;
use loggia_wire::peer::Router;

pub(crate) use editor::{text_of, with_returns};

use crate::guest::Guest;
use crate::mailbox::Mail;
use crate::traffic::{Aim, Open};
use crate::turns::Turn;

/// All methods an extension may call.
pub(crate) fn router(guest: &Arc<Guest>) -> Router {
    let router = Router::new();
    let router = editor::serve(router, guest);
    let router = dialogs::serve(router, guest);
    windows::serve(router, guest)
}

/// What is answered, and what happens once the answer is on its way.
pub(crate) struct Reply<R> {
    outcome: Result<R, ErrorObject>,
    then: Option<Then>,
}

/// What happens once an answer is on its way.
pub(crate) enum Then {
    /// The extension is told something.
    Post(Mail),
    /// Somebody who waits for this to be dropped goes on.
    Release(tokio::sync::oneshot::Sender<()>),
}

impl<R> From<Result<R, ErrorObject>> for Reply<R> {
    fn from(outcome: Result<R, ErrorObject>) -> Self {
        Self { outcome, then: None }
    }
}

/// Held until an answer is on its way. The order of the fields is that in which they are dropped.
struct Held {
    _then: Afterwards,
    _turn: Option<Turn>,
    _open: Open,
}

/// Does what is to follow an answer, when it is dropped.
struct Afterwards(Arc<Guest>, Option<Then>);

impl Drop for Afterwards {
    fn drop(&mut self) {
        match self.1.take() {
            Some(Then::Post(mail)) => self.0.post(mail),
            Some(Then::Release(waiting)) => drop(waiting),
            None => {}
        }
    }
}

/// Serves one method.
fn on<M, H, F>(router: Router, guest: &Arc<Guest>, aim: Aim, handler: H) -> Router
where
    M: Method + 'static,
    H: Fn(Arc<Guest>, M::Params) -> F + Send + Sync + Clone + 'static,
    F: Future<Output = Reply<M::Result>> + Send,
{
    let guest = guest.clone();
    router.serve_holding::<AtOnce<M>, _, _, _>(move |context, params| {
        // All of this happens where the request is read, before the next one is.
        let (guest, handler) = (guest.clone(), handler.clone());
        let open = guest.traffic.open(aim);
        let mut turn = (aim == Aim::Editor).then(|| guest.turns.take());
        let admitted = guest.admit(&context.peer);
        async move {
            let Reply { outcome, then } = match admitted {
                Err(error) => Reply::from(Err(error)),
                Ok(waiting) => {
                    if let Some(mut ready) = waiting {
                        // If the handshake fails, the connection ends and this with it.
                        let _ = ready.wait_for(|ready| *ready).await;
                    }
                    if let Some(turn) = &mut turn {
                        turn.come().await;
                    }
                    handler(guest.clone(), params).await
                }
            };
            (outcome, Held { _then: Afterwards(guest, then), _turn: turn, _open: open })
        }
    })
}

/// A method that starts where it is read, whatever its place among others: this host keeps that order itself, because
/// it has to know of a request before it is that one's turn.
struct AtOnce<M>(PhantomData<M>);

impl<M: Method> Method for AtOnce<M> {
    const NAME: &'static str = M::NAME;
    const ORDER: Order = Order::Free;
    type Params = M::Params;
    type Result = M::Result;
}

/// The domain's word for a format.
pub(crate) fn format_of(format: hermes::MessageFormat) -> MessageFormat {
    match format {
        hermes::MessageFormat::Hl7 => MessageFormat::Hl7,
        hermes::MessageFormat::Json => MessageFormat::Json,
        hermes::MessageFormat::Yaml => MessageFormat::Yaml,
        hermes::MessageFormat::Toml => MessageFormat::Toml,
    }
}
