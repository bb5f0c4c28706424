//! How Hermes reads and writes JSON-RPC, and the version it speaks.

use loggia_jsonrpc::{
    AbsentParams, Batches, Dialect, EmptyParams, Encoding, Malformed, NullId, OrphanErrors, Version,
};

/// What a host tells an extension as `apiVersion`. Nothing is negotiated: an extension that dislikes it answers
/// `initialize` with an error.
pub const API_VERSION: &str = "1.0";

/// How Hermes reads and writes JSON-RPC.
///
/// - `null_id`: an id is a number or text; only an error answer may carry `null`.
/// - `absent_params`: every request of an extension has parameters, `{}` where all of them are optional.
/// - `empty_params`: published extensions index into `params` without looking, so it is always there.
/// - `encoding`: the length in a frame's header counts bytes, but the reader that published extensions share reads
///   that many *characters*. With everything outside ASCII escaped the two counts are the same.
pub const DIALECT: Dialect = Dialect {
    null_id: NullId::Invalid,
    version: Version::Required,
    batches: Batches::Refused,
    malformed: Malformed::Answered,
    absent_params: AbsentParams::Refused,
    empty_params: EmptyParams::Object,
    encoding: Encoding::Ascii,
    orphan_errors: OrphanErrors::Logged,
};

/// Variables a host adds to an extension's environment, with the values it also sends in `initialize`.
pub mod environment {
    /// The same value as `hermesVersion`.
    pub const HERMES_VERSION: &str = "HERMES_VERSION";
    /// The same value as `apiVersion`.
    pub const HERMES_API_VERSION: &str = "HERMES_API_VERSION";
    /// The same value as `dataDirectory`.
    pub const HERMES_DATA_DIR: &str = "HERMES_DATA_DIR";
}
