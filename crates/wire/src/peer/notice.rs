//! A notification that is written but not sent yet.
//!
//! Whoever decides what to say need not hold a connection: it gives notices back, which can be looked at, and
//! somebody else sends them.

use loggia_jsonrpc::{Dialect, Notification, write_notification};
use serde_json::value::{RawValue, to_raw_value};

/// A notification that is written but not sent yet; see [`super::Peer::tell`].
#[derive(Debug, Clone)]
pub struct Notice {
    method: &'static str,
    params: Box<RawValue>,
}

impl Notice {
    /// Writes a notification down.
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn new<N: Notification>(params: &N::Params) -> Result<Self, serde_json::Error> {
        Ok(Self { method: N::NAME, params: to_raw_value(params)? })
    }

    /// The notification's name.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// The parameters as JSON.
    pub fn params(&self) -> &str {
        self.params.get()
    }

    pub(super) fn write(&self, dialect: &Dialect) -> Result<Vec<u8>, serde_json::Error> {
        let mut body = Vec::with_capacity(self.method.len() + self.params.get().len() + ENVELOPE);
        write_notification(&mut body, dialect, self.method, &*self.params)?;
        Ok(body)
    }
}

/// What stands around a method's name and its parameters.
const ENVELOPE: usize = r#"{"jsonrpc":"2.0","method":"","params":}"#.len();
