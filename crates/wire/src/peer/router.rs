//! Which handler serves which method.
//!
//! Built from method types: parameters are read as the method's own before the handler sees them, and a wrong
//! field is answered by name without the handler ever running.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use loggia_jsonrpc::{Dialect, ErrorObject, FieldError, Kind, Method, Notification, Order, decode};

use super::lane::Work;
use super::responder::{Context, Responder};

/// The handlers of one side of a connection.
#[derive(Default)]
pub struct Router {
    routes: HashMap<&'static str, Route>,
}

pub(super) struct Route {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) order: Order,
    begin: Begin,
}

/// Reads the parameters and starts the handler. When they are wrong, the responder comes back to be used for that.
type Begin =
    Box<dyn Fn(Context, Option<&str>, &Dialect, Responder) -> Result<Work, WrongParams> + Send + Sync>;

/// Parameters that do not fit, and whoever waits for an answer.
pub(super) type WrongParams = Box<(FieldError, Responder)>;

impl Router {
    /// Serves nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves a method. A handler must not block its thread: the reader polls it once before it moves away.
    ///
    /// A call of the method without an id runs the handler too; its outcome is dropped.
    pub fn serve<M, H, F>(mut self, handler: H) -> Self
    where
        M: Method,
        H: Fn(Context, M::Params) -> F + Send + Sync + 'static,
        F: Future<Output = Result<M::Result, ErrorObject>> + Send + 'static,
    {
        // Called at its turn, not when it is read: work a handler does before its first await is work too.
        let handler = Arc::new(handler);
        let begin: Begin = Box::new(move |context, params, dialect, responder| {
            match dialect.params(params).and_then(decode::<M::Params>) {
                Ok(params) => {
                    let handler = handler.clone();
                    Ok(Box::pin(async move { responder.answer(handler(context, params).await).await }))
                }
                Err(error) => Err(Box::new((error, responder))),
            }
        });
        let route = Route { name: M::NAME, kind: Kind::Request, order: M::ORDER, begin };
        self.routes.insert(M::NAME, route);
        self
    }

    /// Serves a method whose handler holds something until its answer is on its way, for what must not come before it.
    ///
    /// The handler gives its outcome and what it holds; the latter is dropped once the answer is queued.
    pub fn serve_holding<M, H, F, G>(mut self, handler: H) -> Self
    where
        M: Method,
        H: Fn(Context, M::Params) -> F + Send + Sync + 'static,
        F: Future<Output = (Result<M::Result, ErrorObject>, G)> + Send + 'static,
        G: Send + 'static,
    {
        let handler = Arc::new(handler);
        let begin: Begin = Box::new(move |context, params, dialect, responder| {
            match dialect.params(params).and_then(decode::<M::Params>) {
                Ok(params) => {
                    let handler = handler.clone();
                    Ok(Box::pin(async move {
                        let (outcome, held) = handler(context, params).await;
                        responder.answer(outcome).await;
                        drop(held);
                    }))
                }
                Err(error) => Err(Box::new((error, responder))),
            }
        });
        let route = Route { name: M::NAME, kind: Kind::Request, order: M::ORDER, begin };
        self.routes.insert(M::NAME, route);
        self
    }

    /// Listens to a notification.
    pub fn listen<N, H, F>(mut self, handler: H) -> Self
    where
        N: Notification,
        H: Fn(Context, N::Params) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let begin: Begin = Box::new(move |context, params, dialect, nobody| {
            match dialect.params(params).and_then(decode::<N::Params>) {
                Ok(params) => {
                    let handler = handler.clone();
                    Ok(Box::pin(async move {
                        handler(context, params).await;
                        nobody.forget();
                    }))
                }
                Err(error) => Err(Box::new((error, nobody))),
            }
        });
        let route = Route { name: N::NAME, kind: Kind::Notification, order: N::ORDER, begin };
        self.routes.insert(N::NAME, route);
        self
    }

    /// The names served, for tests that compare them with a protocol's table.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.routes.keys().copied()
    }

    pub(super) fn find(&self, method: &str) -> Option<&Route> {
        self.routes.get(method)
    }
}

impl Route {
    pub(super) fn begin(
        &self,
        context: Context,
        params: Option<&str>,
        dialect: &Dialect,
        responder: Responder,
    ) -> Result<Work, WrongParams> {
        (self.begin)(context, params, dialect, responder)
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.routes.keys()).finish()
    }
}
