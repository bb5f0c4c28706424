//! The table: which messages there are, who sends them and in which order they are served.

use loggia_jsonrpc::{Kind, MethodInfo, Order, Origin};
use loggia_protocol_hermes::{METHODS, codes, limits};

/// The names of the rows that fit.
fn names(fits: impl Fn(&MethodInfo) -> bool) -> Vec<&'static str> {
    METHODS.iter().filter(|method| fits(method)).map(|method| method.name).collect()
}

#[test]
fn the_table_lists_what_a_host_initiates() {
    let specified = |method: &MethodInfo| method.sender == "host" && method.origin == Origin::Specification;
    assert_eq!(names(|m| specified(m) && m.kind == Kind::Request), ["initialize", "shutdown"]);
    assert_eq!(names(|m| specified(m) && m.kind == Kind::Notification), ["command/execute"]);
}

#[test]
fn the_table_lists_what_an_extension_initiates() {
    assert_eq!(
        names(|method| method.sender == "extension"),
        [
            "editor/getMessage",
            "editor/patchMessage",
            "editor/setMessage",
            "ui/openWindow",
            "ui/closeWindow",
            "ui/showMessage",
            "ui/showConfirm",
            "ui/openFile",
            "ui/openFiles",
            "ui/saveFile",
            "ui/selectDirectory",
        ]
    );
    assert!(names(|method| method.sender == "extension" && method.kind == Kind::Notification).is_empty());
}

#[test]
fn messages_beyond_the_specification_are_marked() {
    assert_eq!(
        names(|method| method.origin == Origin::Peers),
        ["window/closed", "message/changed", "message/opened", "message/saved"]
    );
}

#[test]
fn editor_calls_and_notifications_keep_their_order_and_the_rest_is_free() {
    for method in METHODS {
        let ordered = method.kind == Kind::Notification || method.name.starts_with("editor/");
        let expected = if ordered { Order::Ordered } else { Order::Free };
        assert_eq!(method.order, expected, "{}", method.name);
    }
}

#[test]
fn initialize_may_take_ten_seconds_and_shutdown_five() {
    assert_eq!(limits::INITIALIZE_TIMEOUT.as_secs(), 10);
    assert_eq!(limits::SHUTDOWN_TIMEOUT.as_secs(), 5);
}

#[test]
fn sizes_and_pauses_are_named() {
    assert_eq!(limits::MAX_INBOUND_FRAME, 67_108_864);
    assert_eq!(limits::CHANGED_DEBOUNCE.as_millis(), 500);
    assert_eq!(limits::LOG_RING_ENTRIES, 100);
    assert_eq!((limits::DEFAULT_WINDOW_WIDTH, limits::DEFAULT_WINDOW_HEIGHT), (800, 600));
}

#[test]
fn every_error_code_has_one_name() {
    let listed: Vec<i64> = codes::NAMES.iter().map(|(code, _)| *code).collect();
    let standard = [-32700, -32600, -32601, -32602, -32603];
    let expected: Vec<i64> = standard.into_iter().chain((-32012..=-32000).rev()).collect();
    assert_eq!(listed, expected);
    assert_eq!(codes::name(codes::INVALID_URL), Some("invalid URL"));
    assert_eq!(codes::name(codes::DIALOG_ERROR), Some("dialog error"));
    assert_eq!(codes::name(-32050), None);
}

#[test]
fn extensions_have_a_range_of_codes_of_their_own() {
    assert!(codes::NAMES.iter().all(|(code, _)| !codes::EXTENSION_RANGE.contains(code)));
    assert!((-32012..=-32000).all(|code| codes::HERMES_RANGE.contains(&code)));
    assert_eq!(codes::HERMES_RANGE.start() - 1, *codes::EXTENSION_RANGE.end());
}
