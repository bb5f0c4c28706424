//! How this protocol reads and writes JSON-RPC.

use loggia_jsonrpc::{
    AbsentParams, Batches, Dialect, EmptyParams, Encoding, Malformed, NullId, OrphanErrors, Version,
};

/// Plugins are short scripts: they serve one line at a time, forget the version, break on `null` parameters and
/// on answers they did not ask for. Their stdout also carries stray prints, which are skipped.
///
/// An error without an id is a plugin's answer to a line it could not read; with one call under way that call
/// has failed.
pub const DIALECT: Dialect = Dialect {
    null_id: NullId::Invalid,
    version: Version::Optional,
    batches: Batches::Refused,
    malformed: Malformed::Skipped,
    absent_params: AbsentParams::Empty,
    empty_params: EmptyParams::Object,
    encoding: Encoding::Utf8,
    orphan_errors: OrphanErrors::FailTheOnlyCall,
};
