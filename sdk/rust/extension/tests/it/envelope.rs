//! The handshake, what is answered, and the end.

use loggia_extension_kit::Extension;
use loggia_extension_kit::protocol::{MessageFormat, SchemaOverrides};
use serde_json::json;

use crate::support::{Host, extension};

#[test]
fn the_handshake_says_what_there_is() {
    let mut host = Host::new(extension);
    let answer = host.call(1, "initialize", &json!({}));
    let expected = json!({ "name": "Test", "version": "1.2.3", "capabilities": {} });
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": expected }));
    host.end();
    let mut host = Host::new(|| {
        Extension::new("Größe", "1")
            .description("d")
            .author("a")
            .homepage("https://x/")
            .command("plain", |_| Ok(()))
            .button_with("drawn", "Draw", "<svg/>", |_| Ok(()))
            .on_opened(|_, _| Ok(()))
            .on_changed(None, |_, _| Ok(()))
            .on_changed(Some(MessageFormat::Json), |_, _| Ok(()))
            .schema(SchemaOverrides::default())
    });
    let result = host.call(1, "initialize", &json!({}))["result"].clone();
    assert_eq!(
        result,
        json!({
            "name": "Größe", "version": "1", "description": "d", "authors": ["a"], "homepage": "https://x/",
            "capabilities": {
                "commands": ["plain", "drawn"], "schemaProvider": true,
                "events": [{ "name": "message/opened" }, { "name": "message/changed", "options": { "includeContent": true, "format": "json" } }]
            },
            "toolbarButtons": [{ "id": "drawn", "label": "Draw", "icon": "<svg/>", "command": "drawn" }],
            "schema": { "segments": {} }
        })
    );
    host.end();
}

#[test]
#[should_panic(expected = "there are two commands `a`")]
fn two_commands_of_one_id_are_a_mistake_of_the_author() {
    let _ = extension().command("a", |_| Ok(())).command("a", |_| Ok(()));
}

#[test]
fn only_two_methods_are_answered_and_notifications_never() {
    let mut host = Host::begun(extension);
    assert_eq!(host.call(7, "editor/getMessage", &json!({}))["error"]["code"], -32601);
    host.tell("message/opened", json!({ "isNew": true }));
    host.tell("nonsense", json!({}));
    host.body(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    let answer = host.call(2, "shutdown", &json!({ "reason": "closing" }));
    assert_eq!(answer["result"], json!({ "success": true }));
    host.served();
}

#[test]
fn what_is_no_message_is_told_and_harms_nothing() {
    let mut host = Host::begun(extension);
    for (body, code) in [("{", -32700), ("7", -32600), ("[]", -32600), ("{}", -32600)] {
        host.body(body);
        assert_eq!(host.hear().unwrap()["error"]["code"], code, "{body}");
    }
    let body = json!({ "jsonrpc": "2.0", "id": 5, "method": "ping", "params": {} }).to_string();
    for header in [
        "content-length:LEN\n\n",
        "X: y\r\nContent-Length: LEN\r\n\r\n",
        "\r\nContent-Length: LEN\r\r\n\r\r\n",
    ] {
        host.raw(format!("{}{body}", header.replace("LEN", &body.len().to_string())).as_bytes());
        assert_eq!(host.hear().unwrap()["error"]["code"], -32601);
    }
    host.end();
}

#[test]
fn it_ends_with_its_input_and_with_frames_that_cannot_be_read() {
    for last in
        ["Content-Length: 100\r\n\r\n{", "Content-Length: x\r\n\r\n", "Content-Length: 99999999999\r\n\r\n"]
    {
        let mut host = Host::begun(extension);
        host.raw(last.as_bytes());
        host.end();
    }
}

#[test]
fn leaving_may_take_its_time_and_ask_the_host() {
    let mut host = Host::begun(|| {
        extension().on_leaving(|host, reason| {
            assert_eq!(reason, Some(loggia_extension_kit::protocol::ShutdownReason::Reload));
            host.set_message("MSH|bye", MessageFormat::Hl7)
        })
    });
    let asked = host.call(2, "shutdown", &json!({ "reason": "reload" }));
    assert_eq!(
        (&asked["method"], &asked["params"]["message"]),
        (&json!("editor/setMessage"), &json!("MSH|bye"))
    );
    host.answer(&asked, json!({ "success": true }));
    let answer = host.hear().unwrap();
    assert_eq!((&answer["id"], &answer["result"]), (&json!(2), &json!({ "success": true })));
    host.served();
    let mut host = Host::begun(|| extension().on_leaving(|_, _| panic!("as told")));
    assert_eq!(host.call(2, "shutdown", &json!({}))["result"], json!({ "success": false }));
    host.served();
}
