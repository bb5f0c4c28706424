//! How this protocol reads and writes JSON-RPC.

use loggia_jsonrpc::{
    AbsentParams, Batches, Dialect, EmptyParams, Encoding, Malformed, NullId, OrphanErrors, Version,
};

/// The standard, to the letter. Clients send `{}` for "no parameters" and some of them index into what they
/// get, so that is what we write too.
pub const DIALECT: Dialect = Dialect {
    null_id: NullId::Request,
    version: Version::Required,
    batches: Batches::Served,
    malformed: Malformed::Answered,
    absent_params: AbsentParams::Empty,
    empty_params: EmptyParams::Object,
    encoding: Encoding::Utf8,
    orphan_errors: OrphanErrors::Logged,
};
