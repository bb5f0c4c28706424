//! Errors that plugins put into a result.

use loggia_jsonrpc::ErrorObject;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The result itself, or the error a plugin wrapped in it.
///
/// Simple plugins answer every failure with `"result": {"error": {"code": …, "message": …}}`. Such a result is
/// an error answer, whatever the method. An `error` that is plain text stays a result: `provider.parse` and
/// `agent.run` give it a meaning of their own.
///
/// # Errors
/// The wrapped error.
pub fn unwrap_result(result: &RawValue) -> Result<&RawValue, ErrorObject> {
    #[derive(Deserialize)]
    struct Wrapper<'a> {
        #[serde(borrow)]
        error: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Wrapped {
        #[serde(rename = "code")] // Only whether it is there counts here.
        _code: IgnoredAny,
        #[serde(rename = "message")] // The same.
        _message: IgnoredAny,
    }
    // A list would be read as the struct's fields in order, so only objects are looked into.
    let is_object = |raw: &RawValue| raw.get().starts_with('{');
    if !is_object(result) {
        return Ok(result);
    }
    match serde_json::from_str::<Wrapper<'_>>(result.get()) {
        Ok(Wrapper { error }) if is_object(error) && serde_json::from_str::<Wrapped>(error.get()).is_ok() => {
            Err(ErrorObject::from_raw(error))
        }
        _ => Ok(result),
    }
}
