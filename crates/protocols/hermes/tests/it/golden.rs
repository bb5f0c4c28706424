//! Every message as text, read and written back.

use std::path::Path;

use loggia_protocol_hermes::METHODS;
use loggia_testkit::golden;

#[test]
fn golden_messages_read_and_write_back() {
    golden::check_methods(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"), METHODS);
}

#[test]
fn the_framing_sample_of_the_specification_has_58_bytes() {
    // Its header declares 52. Bodies are counted, never taken from the sample.
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    assert_eq!(body.len(), 58);
}
