//! Slash commands on the wire: what the model is told besides what the editor sent.

use loggia_domain::Preset;
use serde_json::{Value, json};

use crate::stream_support::{says, world};

const FILES: [(&str, &str); 4] = [
    ("src/a.ts", "import { b } from './b';\n\nexport function a() {\n  b();\n}\n\nexport const noise = 1;\n"),
    ("src/b.ts", "export function b() {}\n"),
    ("src/c.ts", "import { a } from './a';\na();\n"),
    ("src/a.test.ts", "test('a', () => {});\n"),
];

/// What a message adds to what the model is told, and what the client hears of it.
async fn added(message: Value) -> (String, Vec<Value>) {
    let world = world(&FILES, &says(&["Fine."])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.say(message).await;
    client.until_done().await;
    let told = world.last_prompt();
    let added = told.split_once("looked up in the workspace before you began:");
    let added = added.map(|(_, added)| added.to_owned()).unwrap_or_default();
    let is_status = |message: &&Value| message["type"] == "agent.retrieve.status";
    let heard = client.transcript.numbered.iter().filter(is_status).cloned().collect();
    (added, heard)
}

#[tokio::test]
async fn slash_commands_add_what_the_editor_did_not_send() {
    let cursor = json!({"start": {"line": 4, "character": 2}, "end": {"line": 4, "character": 2}});
    let editor = json!({"file_path": "src/a.ts", "selection": cursor});
    let cases = [
        ("/fix", vec!["src/a.ts, lines 1 to 7:", "b();"], 1),
        ("/test", vec!["src/a.ts, lines 1 to 7:", "src/a.test.ts, lines 1 to 1 (a test of it):"], 2),
        ("/explain", vec!["src/a.ts, lines 3 to 5:\n```\nexport function a() {\n  b();\n}\n```"], 1),
        ("/refactor", vec!["src/b.ts, lines 1 to 1 (it imports this):", "src/c.ts", "2: a();"], 3),
    ];
    for (command, wanted, pieces) in cases {
        let context = json!({"active_editor": editor, "command": command});
        let (told, heard) =
            added(json!({"type": "client.user_message", "message": "please", "context": context})).await;
        for wanted in wanted {
            assert!(told.contains(wanted), "{command}: {wanted:?} in {told}");
        }
        assert_eq!(told.contains("noise"), command != "/explain", "{command}: {told}");
        assert_eq!(heard.len(), 1, "{command}: {heard:?}");
        assert_eq!(heard[0]["results_count"], pieces, "{command}: {told}");
    }
}

#[tokio::test]
async fn other_messages_add_nothing() {
    let editor = json!({"file_path": "src/a.ts"});
    for (text, command) in [("please", None), ("please", Some("/dance")), ("/usr is a path", None)] {
        let mut context = json!({"active_editor": editor});
        if let Some(command) = command {
            context["command"] = command.into();
        }
        let (told, heard) =
            added(json!({"type": "client.user_message", "message": text, "context": context})).await;
        assert_eq!((told.as_str(), heard.len()), ("", 0));
    }
}
