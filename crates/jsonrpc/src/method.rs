//! Methods as types, and the tables in which a protocol lists them.
//!
//! A protocol states each method once: name, order, parameters and result. Dispatch, golden tests, the
//! inspector and the reference pages all walk the protocol's table, so nothing can be listed in one and
//! forgotten in another.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{FieldError, decode};

/// A call that is answered.
pub trait Method {
    /// The name on the wire.
    const NAME: &'static str;
    /// How calls of this method share the connection.
    const ORDER: Order = Order::Free;
    /// What the caller sends.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What the answer holds.
    type Result: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// A call that is not answered.
pub trait Notification {
    /// The name on the wire.
    const NAME: &'static str;
    /// Notifications tell a story; by default they are heard in the order they were told.
    const ORDER: Order = Order::Ordered;
    /// What the caller sends.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// How calls share one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Starts the moment it is read, however busy the connection is: `abort` and its like.
    Urgent,
    /// One at a time, in the order of arrival.
    Ordered,
    /// Starts when it is read and may overlap with others; refused when too many are under way.
    Free,
}

/// Whether a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is.
    Request,
    /// It is not.
    Notification,
}

/// Where a message is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// In the protocol's own specification.
    Specification,
    /// Only in what existing peers send or need.
    Peers,
}

/// Text of a value → read as its type → text again.
type Rewrite = fn(&str) -> Result<String, FieldError>;

/// One row of a JSON-RPC protocol's table.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// Request or notification.
    pub kind: Kind,
    /// Which side sends it, in the protocol's words: `client`, `host`, `plugin`…
    pub sender: &'static str,
    /// Who defines it.
    pub origin: Origin,
    /// How it shares the connection.
    pub order: Order,
    params: Rewrite,
    result: Option<Rewrite>,
}

impl MethodInfo {
    /// The row of a request.
    pub const fn request<M: Method>(sender: &'static str) -> Self {
        Self {
            name: M::NAME,
            kind: Kind::Request,
            sender,
            origin: Origin::Specification,
            order: M::ORDER,
            params: rewrite::<M::Params>,
            result: Some(rewrite::<M::Result>),
        }
    }

    /// The row of a notification.
    pub const fn notification<N: Notification>(sender: &'static str) -> Self {
        Self {
            name: N::NAME,
            kind: Kind::Notification,
            sender,
            origin: Origin::Specification,
            order: N::ORDER,
            params: rewrite::<N::Params>,
            result: None,
        }
    }

    /// Marks a row as known from peers only.
    pub const fn from_peers(mut self) -> Self {
        self.origin = Origin::Peers;
        self
    }

    /// Reads parameters as their type and writes them back.
    ///
    /// # Errors
    /// When the text does not fit the type.
    pub fn rewrite_params(&self, text: &str) -> Result<String, FieldError> {
        (self.params)(text)
    }

    /// Reads a result as its type and writes it back; a notification has none.
    ///
    /// # Errors
    /// When the text does not fit the type, or the method has no result.
    pub fn rewrite_result(&self, text: &str) -> Result<String, FieldError> {
        match self.result {
            Some(result) => result(text),
            None => Err(FieldError::whole(format!("`{}` is never answered", self.name))),
        }
    }
}

/// One row of the table of a protocol whose messages are not JSON-RPC.
#[derive(Debug, Clone, Copy)]
pub struct MessageInfo {
    /// The message's type on the wire.
    pub name: &'static str,
    /// Which side sends it.
    pub sender: &'static str,
    /// Who defines it.
    pub origin: Origin,
    whole: Rewrite,
}

impl MessageInfo {
    /// The row of a message whose whole text reads as `M`.
    pub const fn new<M: Serialize + DeserializeOwned>(name: &'static str, sender: &'static str) -> Self {
        Self { name, sender, origin: Origin::Specification, whole: rewrite::<M> }
    }

    /// Marks a row as known from peers only.
    pub const fn from_peers(mut self) -> Self {
        self.origin = Origin::Peers;
        self
    }

    /// Reads a message as its type and writes it back.
    ///
    /// # Errors
    /// When the text does not fit the type.
    pub fn rewrite(&self, text: &str) -> Result<String, FieldError> {
        (self.whole)(text)
    }
}

fn rewrite<T: Serialize + DeserializeOwned>(text: &str) -> Result<String, FieldError> {
    let value: T = decode(text)?;
    serde_json::to_string(&value).map_err(|error| FieldError::whole(format!("cannot be written: {error}")))
}

/// The parameters (or the result) of a method that has none: read from anything, written as `{}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct NoParams {}

impl<'de> Deserialize<'de> for NoParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer)?;
        Ok(Self {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Add;
    #[derive(Serialize, Deserialize)]
    struct AddParams {
        left: i64,
        right: i64,
    }
    impl Method for Add {
        const NAME: &'static str = "add";
        type Params = AddParams;
        type Result = i64;
    }
    struct Told;
    impl Notification for Told {
        const NAME: &'static str = "told";
        type Params = NoParams;
    }
    const METHODS: &[MethodInfo] =
        &[MethodInfo::request::<Add>("client"), MethodInfo::notification::<Told>("server")];

    #[test]
    fn a_table_row_knows_its_method() {
        let [add, told] = METHODS else { panic!("two rows") };
        assert_eq!((add.name, add.kind, add.order), ("add", Kind::Request, Order::Free));
        assert_eq!((told.name, told.kind, told.order), ("told", Kind::Notification, Order::Ordered));
        assert_eq!(
            add.rewrite_params(r#"{"right":2,"left":1,"extra":0}"#).unwrap(),
            r#"{"left":1,"right":2}"#
        );
        assert_eq!(add.rewrite_params(r#"{"left":1}"#).unwrap_err().to_string(), "missing field `right`");
        assert_eq!(add.rewrite_result("3").unwrap(), "3");
        assert_eq!(told.rewrite_params("null").unwrap(), "{}");
        assert!(told.rewrite_result("null").is_err());
    }
}
