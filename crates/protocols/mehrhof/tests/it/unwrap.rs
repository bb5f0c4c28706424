//! Errors that hide in results.

use loggia_protocol_mehrhof::unwrap_result;
use serde_json::value::RawValue;

fn check(result: &str, expected: &str) {
    let raw: &RawValue = serde_json::from_str(result).expect("JSON");
    let outcome = match unwrap_result(raw) {
        Ok(same) => format!("result {}", same.get()),
        Err(error) => {
            format!("error {}", serde_json::to_string(&error).expect("an error that can be written"))
        }
    };
    assert_eq!(outcome, expected, "for {result}");
}

#[test]
fn an_error_object_in_a_result_is_an_error() {
    check(
        r#"{"error":{"code":-32601,"message":"Method not found: ping"}}"#,
        r#"error {"code":-32601,"message":"Method not found: ping"}"#,
    );
    check(
        r#" {"id":null, "error" : {"message":"m","code":-32004,"data":{"retry_after":3}}}"#,
        r#"error {"code":-32004,"message":"m","data":{"retry_after":3}}"#,
    );
}

#[test]
fn a_code_that_is_no_number_still_makes_it_an_error() {
    check(r#"{"error":{"code":"E1","message":"m"}}"#, r#"error {"code":-32000,"message":"m"}"#);
}

#[test]
fn every_other_result_stays_as_it_is() {
    for result in [
        r#"{"error":"Invalid format"}"#,
        r#"{"error":null,"id":"1"}"#,
        r#"{"error":{"message":"m"}}"#,
        r#"{"error":{"code":1}}"#,
        r#"{"error":[1,"m"]}"#,
        r#"[{"code":1,"message":"m"}]"#,
        r#"{"id":"1"}"#,
        "null",
        "7",
        "\"text\"",
    ] {
        check(result, &format!("result {result}"));
    }
}
