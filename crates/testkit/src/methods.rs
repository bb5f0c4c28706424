//! A method that every kind of peer in tests and benchmarks serves.

use loggia_jsonrpc::{Json, Method};
use loggia_wire::peer::Router;

/// Gives its parameters back.
#[derive(Debug)]
pub struct Echo;

impl Method for Echo {
    const NAME: &'static str = "echo";
    type Params = Json;
    type Result = Json;
}

/// Serves [`Echo`].
pub fn echo() -> Router {
    Router::new().serve::<Echo, _, _>(|_, params| async move { Ok(params) })
}
