//! What an extension hears of.

use std::sync::mpsc::channel;

use loggia_extension_kit::protocol::MessageFormat;
use serde_json::json;

use crate::support::{Host, extension};

#[test]
fn events_come_one_after_another_and_changes_as_one() {
    let (told, heard) = channel();
    let (go_on, wait) = channel::<()>();
    let mut host = Host::begun(move || {
        let [opened, saved, changed, closed] = [told.clone(), told.clone(), told.clone(), told];
        extension()
            .on_opened(move |_, event| {
                opened.send(format!("opened {:?}", event.file_path)).unwrap();
                wait.recv().unwrap();
                Ok(())
            })
            .on_saved(move |_, event| {
                saved.send(format!("saved {} {}", event.file_path, event.save_as)).unwrap();
                Ok(())
            })
            .on_changed(Some(MessageFormat::Hl7), move |_, event| {
                changed.send(format!("changed {:?}", event.message)).unwrap();
                Ok(())
            })
            .on_window_closed(move |_, event| {
                closed.send(format!("closed {} {:?}", event.window_id.0, event.reason)).unwrap();
                Ok(())
            })
    });
    host.tell("message/opened", json!({ "isNew": false, "filePath": "/a" }));
    for text in ["1", "2"] {
        host.tell(
            "message/changed",
            json!({ "hasFile": true, "filePath": "/a", "message": text, "format": "hl7" }),
        );
        host.tell("message/saved", json!({ "filePath": "/a", "saveAs": true }));
    }
    host.tell("message/saved", json!({ "filePath": 7 }));
    host.tell("window/closed", json!({ "windowId": "w" }));
    // All of it is read when this is answered.
    host.call(9, "nothing", &json!({}));
    go_on.send(()).unwrap();
    let expected =
        ["opened Some(\"/a\")", "saved /a true", "changed Some(\"2\")", "saved /a true", "closed w None"];
    for expected in expected {
        assert_eq!(heard.recv().unwrap(), expected);
    }
    host.end();
}

#[test]
fn data_is_kept_in_a_directory_of_its_own() {
    let directory = std::env::temp_dir().join(format!("loggia-extension-kit-{}", std::process::id()));
    let (told, heard) = channel();
    let mut host = Host::new(move || {
        loggia_extension_kit::Extension::new("../Größe x", "1").command("go", move |host| {
            told.send(host.data_directory()?).unwrap();
            Ok(())
        })
    });
    host.call(1, "initialize", &json!({ "dataDirectory": directory }));
    host.give("go");
    let place = heard.recv().unwrap();
    assert!(place.is_dir() && place.parent() == Some(directory.as_path()), "{}", place.display());
    host.end();
    std::fs::remove_dir_all(directory).unwrap();
}
