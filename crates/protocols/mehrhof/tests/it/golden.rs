//! The golden files against the table.

use std::path::Path;

use loggia_protocol_mehrhof::METHODS;

#[test]
fn golden_messages_read_and_write_back() {
    loggia_testkit::golden::check_methods(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"), METHODS);
}
