//! JSON-RPC envelopes: nothing panics, an id comes back as it came, and a presumed message that holds is what
//! reading it properly would have given.

use loggia_jsonrpc::{
    AbsentParams, Batches, Body, Dialect, EmptyParams, Encoding, Incoming, Malformed, NullId, OrphanErrors,
    Presumed, RequestId, Version, presume, read, write_response,
};
use serde_json::Value;

/// The other choice in every respect.
const LENIENT: Dialect = Dialect {
    null_id: NullId::Invalid,
    version: Version::Optional,
    batches: Batches::Refused,
    malformed: Malformed::Skipped,
    absent_params: AbsentParams::Refused,
    empty_params: EmptyParams::Object,
    encoding: Encoding::Ascii,
    orphan_errors: OrphanErrors::FailTheOnlyCall,
};

/// Tries one input.
pub fn target(data: &[u8]) {
    for dialect in [&Dialect::STANDARD, &LENIENT] {
        match read(data, dialect) {
            Ok(Body::One(message)) => check_message(&message, dialect),
            Ok(Body::Batch(members)) => {
                assert!(!members.is_empty() && dialect.batches == Batches::Served, "a batch that is none");
                for member in members {
                    check_message(&Body::member(member, dialect), dialect);
                }
            }
            Err(error) => assert!(!error.to_error().message.is_empty(), "an error without words"),
        }
        if let Some(presumed) = presume(data, dialect) {
            check_presumed(&presumed, data, dialect);
        }
    }
}

/// An answer names its request with the very text the request had.
fn check_message(message: &Incoming<'_>, dialect: &Dialect) {
    let Incoming::Request { id, .. } = message else { return };
    let mut answer = Vec::new();
    write_response(&mut answer, dialect, id, &true).expect("an id that was read can be written");
    let answered = match read(&answer, dialect) {
        Ok(Body::One(Incoming::Response { id: answered, outcome: Ok(_) })) => answered,
        other => panic!("our own answer reads as {other:?}"),
    };
    // A null id names no call, and a dialect may write other characters than it reads.
    let same = answered.as_ref() == Some(id) || id.is_null() || dialect.encoding == Encoding::Ascii;
    assert!(same, "request {id} is answered as {answered:?}");
}

/// If the presumed text is a whole JSON value, reading properly must find the same message.
fn check_presumed(presumed: &Presumed<'_>, data: &[u8], dialect: &Dialect) {
    let text = match presumed {
        Presumed::Call { params, .. } => params,
        Presumed::Result { result, .. } => result,
    };
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let found = match read(data, dialect) {
        Ok(Body::One(found)) => found,
        other => panic!("presumed {presumed:?}, but it reads as {other:?}"),
    };
    match (presumed, &found) {
        (Presumed::Call { id: None, method, .. }, Incoming::Notification { method: found, params })
            if method == found && params.is_some_and(|raw| same(raw.get(), &value)) => {}
        (
            Presumed::Call { id: Some(id), method, .. },
            Incoming::Request { id: same_id, method: found, params },
        ) if id == same_id && method == found && params.is_some_and(|raw| same(raw.get(), &value)) => {}
        (Presumed::Result { id, .. }, Incoming::Response { id: answered, outcome: Ok(raw) })
            if answered.as_ref() == Some(id) && !RequestId::is_null(id) && same(raw.get(), &value) => {}
        _ => panic!("presumed {presumed:?}, but it reads as {found:?}"),
    }
}

fn same(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|found| found == *value)
}
