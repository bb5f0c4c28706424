//! The way every tool here is made: an argument type, a checked call, and reading off the reactor.
//!
//! Knows the domain's [`Tool`] and [`PreparedCall`]; refuses to know any single tool. What always holds: a call reads
//! on a blocking thread, and once its future is dropped the [`Stop`] it holds says so.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loggia_domain::{
    ArgumentError, BoxFuture, Demand, JsonText, PreparedCall, Tool, ToolContext, ToolEffect, ToolError,
    ToolSpec,
};
use loggia_tree::Root;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::arguments::{self, Shape};
use crate::view::View;

/// What a model says in a call. The doc comments of the type and of its fields are what the model is told.
pub(crate) trait Arguments: DeserializeOwned + JsonSchema + Send + 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// The call these arguments make.
    type Call: Call;

    /// Checks what a schema cannot, without touching anything.
    fn check(self) -> Result<Self::Call, ArgumentError>;
}

/// A call whose arguments are sound.
pub(crate) trait Call: Send + Sync + 'static {
    /// What it would touch.
    fn demand(&self) -> Demand;

    /// Does the reading; on a blocking thread.
    fn run(self, view: &View) -> Result<ToolEffect, ToolError>;
}

/// A tool made of its argument type.
pub(crate) struct Standard<A> {
    spec: ToolSpec,
    shape: Shape,
    root: Arc<Root>,
    arguments: PhantomData<fn() -> A>,
}

impl<A: Arguments> Standard<A> {
    /// The tool, for the files below `root`.
    pub(crate) fn over(root: &Arc<Root>) -> Arc<dyn Tool> {
        let shape = Shape::of::<A>();
        let spec = ToolSpec {
            name: A::NAME.to_owned(),
            description: shape.description().to_owned(),
            parameters: JsonText(shape.as_value().to_string()),
        };
        Arc::new(Self { spec, shape, root: Arc::clone(root), arguments: PhantomData })
    }
}

impl<A: Arguments> Tool for Standard<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &JsonText) -> Result<Box<dyn PreparedCall>, ArgumentError> {
        let arguments: A = arguments::read(A::NAME, &self.shape, arguments)?;
        let call = arguments
            .check()
            .map_err(|ArgumentError(message)| ArgumentError(format!("{}: {message}", A::NAME)))?;
        Ok(Box::new(Prepared { call, root: Arc::clone(&self.root) }))
    }
}

struct Prepared<C> {
    call: C,
    root: Arc<Root>,
}

impl<C: Call> PreparedCall for Prepared<C> {
    fn demand(&self) -> Demand {
        self.call.demand()
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolEffect, ToolError>> {
        Box::pin(async move {
            let Self { call, root } = *self;
            let stop = Stop::default();
            let _on_drop = StopOnDrop(stop.clone());
            let reading = tokio::task::spawn_blocking(move || call.run(&View::new(root, context, stop)));
            reading.await.unwrap_or_else(|error| {
                tracing::error!(%error, "a tool call broke off");
                Err(ToolError::Failed("the tool broke off: this is a fault of the server".to_owned()))
            })
        })
    }
}

/// Says whether anybody still waits for the call.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asked in every loop whose length the files decide.
    ///
    /// # Errors
    /// When nobody waits any more; nobody reads the text either.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        if self.0.load(Ordering::Relaxed) {
            return Err(ToolError::Failed("stopped".to_owned()));
        }
        Ok(())
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
