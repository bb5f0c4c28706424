//! What clients made for language servers say before and after everything else.
//!
//! Such a client sends headers around its messages, and only to such a client do these methods mean what they mean
//! there: `initialize` is answered, `shutdown` ends nothing, `exit` does. To others `shutdown` is the end itself.

use std::sync::Arc;

use loggia_jsonrpc::{ErrorObject, Method, NoParams, Notification, Order};
use loggia_protocol_autohand::SuccessResult;
use loggia_wire::peer::Router;
use serde_json::{Value, json};

use crate::calls::free;
use crate::door::Door;
use crate::framing::Framing;

/// The first request of such a client; it sends no other before the answer.
struct Initialize;

impl Method for Initialize {
    const NAME: &'static str = "initialize";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = Value;
}

/// It has seen the answer.
struct Initialized;

impl Notification for Initialized {
    const NAME: &'static str = "initialized";
    type Params = NoParams;
}

/// It will ask for nothing more; of others, one desktop client calls this before it closes the streams.
struct Shutdown;

impl Method for Shutdown {
    const NAME: &'static str = "shutdown";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = Option<SuccessResult>;
}

/// It wants the process to end.
struct Exit;

impl Notification for Exit {
    const NAME: &'static str = "exit";
    type Params = NoParams;
}

/// Serves them. How the client frames may be known only when it sends the first of them.
pub(super) fn serve(router: Router, door: &Arc<Door>, framing: &Framing) -> Router {
    let (initializing, leaving) = (framing.clone(), framing.clone());
    let router = free::<Initialize, _, _>(router, door, move |_, _, _| {
        let is_lines = initializing.is_lines();
        async move {
            if is_lines {
                return Err(ErrorObject::method_not_found(Initialize::NAME));
            }
            // None of a language server's.
            Ok(json!({ "capabilities": {} }))
        }
    });
    let router = free::<Shutdown, _, _>(router, door, move |door, _, _| {
        let is_lines = leaving.is_lines();
        async move {
            if is_lines {
                door.leave.cancel();
            }
            Ok(is_lines.then_some(SuccessResult { success: true }))
        }
    });
    let router = router.listen::<Initialized, _, _>(|_, _| async {});
    let (door, framing) = (Arc::clone(door), framing.clone());
    router.listen::<Exit, _, _>(move |_, _| {
        if !framing.is_lines() {
            door.leave.cancel();
        }
        async {}
    })
}
