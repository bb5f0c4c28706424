//! Tools for what a workspace has besides files: its open message, and commands of extensions.
//!
//! Made like the others, of an argument type; but what they look at is a part of the server that answers by itself, and
//! no file. Refuses to know formats of messages and how extensions are spoken to. What always holds: a message whose
//! file may not be read is not told; a change of it comes back as a change of its file.

mod extension_command;
mod message_get;
mod message_patch;

use std::marker::PhantomData;
use std::sync::Arc;

use loggia_domain::{
    ArgumentError, BoxFuture, Demand, GuestCommands, JsonText, MessageDesk, MessageError, OpenMessage,
    PreparedCall, Tool, ToolContext, ToolEffect, ToolError, ToolSpec,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::arguments::{self, Shape};

/// The tools for the message on a desk.
pub fn for_messages(desk: &Arc<dyn MessageDesk>) -> Vec<Arc<dyn Tool>> {
    vec![DeskTool::<message_get::MessageGet>::over(desk), DeskTool::<message_patch::MessagePatch>::over(desk)]
}

/// The tools for the commands of extensions.
pub fn for_commands(commands: &Arc<dyn GuestCommands>) -> Vec<Arc<dyn Tool>> {
    vec![DeskTool::<extension_command::ExtensionCommand>::over(commands)]
}

/// What a model says in a call. The doc comments of the type and of its fields are what the model is told.
pub(crate) trait DeskArguments: DeserializeOwned + JsonSchema + Send + 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// What it looks at.
    type Desk: ?Sized + Send + Sync + 'static;
    /// The call these arguments make.
    type Call: DeskCall<Self::Desk>;

    /// Checks what a schema cannot, without touching anything.
    fn check(self) -> Result<Self::Call, ArgumentError>;
}

/// A call whose arguments are sound.
pub(crate) trait DeskCall<D: ?Sized>: Send + Sync + 'static {
    /// What it would touch.
    fn demand(&self) -> Demand;

    /// Does the looking.
    fn run(
        self,
        desk: Arc<D>,
        context: ToolContext,
    ) -> impl Future<Output = Result<ToolEffect, ToolError>> + Send + 'static;
}

/// A tool made of its argument type.
pub(crate) struct DeskTool<A: DeskArguments> {
    spec: ToolSpec,
    shape: Shape,
    desk: Arc<A::Desk>,
    arguments: PhantomData<fn() -> A>,
}

impl<A: DeskArguments> DeskTool<A> {
    pub(crate) fn over(desk: &Arc<A::Desk>) -> Arc<dyn Tool> {
        let shape = Shape::of::<A>();
        let spec = ToolSpec {
            name: A::NAME.to_owned(),
            description: shape.description().to_owned(),
            parameters: JsonText(shape.as_value().to_string()),
        };
        Arc::new(Self { spec, shape, desk: Arc::clone(desk), arguments: PhantomData })
    }
}

impl<A: DeskArguments> Tool for DeskTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &JsonText) -> Result<Box<dyn PreparedCall>, ArgumentError> {
        let arguments: A = arguments::read(A::NAME, &self.shape, arguments)?;
        let call = arguments
            .check()
            .map_err(|ArgumentError(message)| ArgumentError(format!("{}: {message}", A::NAME)))?;
        Ok(Box::new(Prepared { call, desk: Arc::clone(&self.desk) }))
    }
}

struct Prepared<C, D: ?Sized> {
    call: C,
    desk: Arc<D>,
}

impl<D: ?Sized + Send + Sync + 'static, C: DeskCall<D>> PreparedCall for Prepared<C, D> {
    fn demand(&self) -> Demand {
        self.call.demand()
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolEffect, ToolError>> {
        let Self { call, desk } = *self;
        Box::pin(call.run(desk, context))
    }
}

/// The open message, if the policy lets its file be read.
async fn readable(desk: &Arc<dyn MessageDesk>, context: &ToolContext) -> Result<OpenMessage, ToolError> {
    let Some(message) = desk.current().await else { return Err(failed(MessageError::NoneOpen)) };
    match (&message.path, &message.file) {
        (Some(path), _) if !(context.may_read)(path) => {
            Err(ToolError::Forbidden(format!("the open message, `{path}`, must not be read")))
        }
        (None, Some(_)) => Err(ToolError::Forbidden(
            "the open message's file is outside the workspace and must not be read".to_owned(),
        )),
        (Some(_), _) | (None, None) => Ok(message),
    }
}

fn failed(error: MessageError) -> ToolError {
    let hint = match &error {
        MessageError::NoneOpen => "; somebody has to open one",
        MessageError::NoFile => "; say with `file` where to write it",
        _ => "",
    };
    ToolError::Failed(format!("{error}{hint}"))
}
