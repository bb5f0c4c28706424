//! What commands ask of the host.

use std::sync::mpsc::channel;

use loggia_extension_kit::protocol::{
    FileFilter, MessageFormat, MessageKind, OpenFileParams, OpenWindowParams, SaveFileParams,
    SelectDirectoryParams, WindowId,
};
use loggia_extension_kit::{Host as Asked, HostError, clear, create, remove, set};
use serde_json::{Value, json};

use crate::support::{Host, extension};

/// A command that asks one thing: what it asks, and what it makes of the answer.
fn check<T: Send + std::fmt::Debug + 'static>(
    ask: impl Fn(&Asked) -> Result<T, HostError> + Send + 'static,
    method: &str,
    params: Value,
    result: Value,
    expected: &str,
) {
    let (told, heard) = channel();
    let mut host = Host::begun(move || {
        extension().command("go", move |host| {
            told.send(format!("{:?}", ask(host)?)).unwrap();
            Ok(())
        })
    });
    host.give("go");
    let request = host.hear().unwrap();
    assert_eq!(request, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
    host.answer(&request, result);
    assert_eq!(heard.recv().unwrap(), expected, "{method}");
    host.end();
}

#[test]
fn every_request_is_asked_as_the_protocol_has_it() {
    check(
        |host| host.get_message(MessageFormat::Yaml).map(|got| (got.message, got.has_file, got.file_path)),
        "editor/getMessage",
        json!({ "format": "yaml" }),
        json!({ "message": "é", "hasFile": true, "filePath": "/a" }),
        r#"("é", true, Some("/a"))"#,
    );
    check(
        |host| host.set_message("MSH|", MessageFormat::Hl7),
        "editor/setMessage",
        json!({ "message": "MSH|", "format": "hl7" }),
        json!({ "success": true }),
        "()",
    );
    check(
        |host| {
            let patches = [set("A.1", "v"), clear("B.2"), create("NK1"), remove("OBX[2]")];
            host.patch(patches).map(|done| (done.success, done.patches_applied, done.errors.len()))
        },
        "editor/patchMessage",
        json!({ "patches": [
            { "path": "A.1", "value": "v" }, { "path": "B.2" }, { "path": "NK1", "create": true },
            { "path": "OBX[2]", "remove": true }
        ] }),
        json!({ "success": false, "patchesApplied": 3, "errors": [{ "index": 1, "path": "B.2", "message": "no" }] }),
        "(false, 3, 1)",
    );
    check(
        |host| host.show_message_of(MessageKind::Error, "m"),
        "ui/showMessage",
        json!({ "message": "m", "kind": "error" }),
        json!({ "acknowledged": true }),
        "()",
    );
    check(
        |host| host.confirm("m"),
        "ui/showConfirm",
        json!({ "message": "m" }),
        json!({ "confirmed": true }),
        "true",
    );
    let filters = vec![FileFilter { name: "HL7".to_owned(), extensions: vec!["hl7".to_owned()] }];
    let wanted = OpenFileParams { title: Some("t".to_owned()), default_path: None, filters };
    let params = json!({ "title": "t", "filters": [{ "name": "HL7", "extensions": ["hl7"] }] });
    let one = wanted.clone();
    check(
        move |host| host.open_file(one.clone()),
        "ui/openFile",
        params.clone(),
        json!({ "path": null }),
        "None",
    );
    check(
        move |host| host.open_files(wanted.clone()),
        "ui/openFiles",
        params,
        json!({ "paths": ["/a", "/b"] }),
        r#"Some(["/a", "/b"])"#,
    );
    check(
        |host| {
            host.save_file(SaveFileParams { default_name: Some("n".to_owned()), ..SaveFileParams::default() })
        },
        "ui/saveFile",
        json!({ "defaultName": "n" }),
        json!({ "path": "/a" }),
        r#"Some("/a")"#,
    );
    check(
        |host| host.select_directory(SelectDirectoryParams::default()),
        "ui/selectDirectory",
        json!({}),
        json!({ "path": "/d" }),
        r#"Some("/d")"#,
    );
    check(
        |host| {
            let params =
                OpenWindowParams { url: "http://x/".to_owned(), title: "t".to_owned(), ..Default::default() };
            host.open_window(params).map(|window| window.0)
        },
        "ui/openWindow",
        json!({ "url": "http://x/", "title": "t" }),
        json!({ "windowId": "w" }),
        r#""w""#,
    );
    check(
        |host| host.close_window(&WindowId("w".to_owned())),
        "ui/closeWindow",
        json!({ "windowId": "w" }),
        json!({ "success": true }),
        "()",
    );
}

#[test]
fn refusals_wrong_shapes_and_the_hosts_end_are_told_apart() {
    let (told, heard) = channel();
    let mut host = Host::begun(move || {
        extension().command("go", move |host| {
            told.send(host.get_message(MessageFormat::Json).unwrap_err().code()).unwrap();
            told.send(host.set_message("x", MessageFormat::Hl7).unwrap_err().code()).unwrap();
            assert!(matches!(host.confirm("?"), Err(HostError::WrongShape(_))));
            assert_eq!(host.confirm("?").unwrap_err(), HostError::Gone);
            assert_eq!(host.confirm("again").unwrap_err(), HostError::Gone);
            told.send(None).unwrap();
            Ok(())
        })
    });
    host.give("go");
    let request = host.hear().unwrap();
    let error = json!({ "code": -32003, "message": "none" });
    host.body(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string());
    assert_eq!(heard.recv().unwrap(), Some(-32003));
    let request = host.hear().unwrap();
    host.answer(&request, json!({ "success": false, "error": "no MSH" }));
    assert_eq!(heard.recv().unwrap(), Some(-32004));
    let request = host.hear().unwrap();
    host.answer(&request, json!({ "confirmed": "perhaps" }));
    host.hear().unwrap();
    host.end();
    assert_eq!(heard.recv().unwrap(), None);
}

#[test]
fn answers_are_matched_by_their_ids_whatever_comes_between() {
    let (told, heard) = channel();
    let mut host = Host::begun(move || {
        extension().command("go", move |host| {
            let (other, told) = (host.clone(), told.clone());
            let second = std::thread::spawn(move || other.confirm("b"));
            let first = host.confirm("a");
            told.send((first.unwrap(), second.join().unwrap().unwrap())).unwrap();
            Ok(())
        })
    });
    host.give("go");
    let (one, other) = (host.hear().unwrap(), host.hear().unwrap());
    let (a, b) = if one["params"]["message"] == "a" { (one, other) } else { (other, one) };
    assert_eq!(host.call(9, "nothing", &json!({}))["id"], 9);
    host.answer(&b, json!({ "confirmed": false }));
    host.answer(&a, json!({ "confirmed": true }));
    assert_eq!(heard.recv().unwrap(), (true, false));
    host.end();
}

#[test]
fn a_command_that_fails_or_panics_harms_no_other() {
    let (told, heard) = channel();
    let mut host = Host::begun(move || {
        extension()
            .command("fail", |_| Err(HostError::new("as told")))
            .command("panic", |_| panic!("as told"))
            .command("go", move |_| {
                told.send(()).unwrap();
                Ok(())
            })
    });
    for command in ["fail", "panic", "unknown", "go"] {
        host.give(command);
    }
    heard.recv().unwrap();
    host.end();
}
