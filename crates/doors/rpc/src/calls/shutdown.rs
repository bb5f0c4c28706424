//! `autohand.shutdown`, under the name all others have. Under its bare name it is [`language_client`](super::language_client)'s.

use std::sync::Arc;

use loggia_jsonrpc::{ErrorObject, Method, NoParams, Order};
use loggia_protocol_autohand::SuccessResult;
use loggia_wire::peer::Context;

use crate::door::Door;

pub(super) struct AutohandShutdown;

impl Method for AutohandShutdown {
    const NAME: &'static str = "autohand.shutdown";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = SuccessResult;
}

/// Answers; everything ends once the answer is on its way.
pub(super) async fn shutdown(door: Arc<Door>, _: Context, _: NoParams) -> Result<SuccessResult, ErrorObject> {
    door.leave.cancel();
    Ok(SuccessResult { success: true })
}
