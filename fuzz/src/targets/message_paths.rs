//! Paths into messages and trees: whatever a path is, what was written at it is read back, and what is refused changes
//! nothing.

use loggia_domain::{MessageKind, MessagePatch};
use loggia_messages::Document;

/// One of each, with a little of everything in it.
const DOCUMENTS: [(MessageKind, &str); 4] = [
    (MessageKind::Hl7, "MSH|^~\\&|A\rPID|1||77^^^C&9.8~88||ROE^ANN\r\nOBX|1|ST|x\n\nNK1\rOBX|2|"),
    (MessageKind::Json, "{\"a\": {\"b c\": [1, {\"d\": \"é\"}, null]}, \"e\": []}"),
    (MessageKind::Yaml, "a: # note\n  b c:\n    - 1\n    - d: é\n    -\ne: []\nx: &n {y: 1}\nz: *n\n"),
    (MessageKind::Toml, "e = [] # note\n[a]\n\"b c\" = [1, { d = 'é' }]\n[[t]]\nu = 1\n"),
];

/// Tries one input: a path, and after a NUL the value.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (path, value) = text.split_once('\0').unwrap_or((&text, "v"));
    for (kind, text) in DOCUMENTS {
        let document = Document::read(text.to_owned(), kind).expect("the documents are documents");
        let is_path = document.get(path).is_ok();
        for (create, remove) in [(false, false), (true, false), (false, true)] {
            let value = Some(value.to_owned());
            let patch = MessagePatch { path: path.to_owned(), value: value.clone(), remove, create };
            let patched = document.patched(std::slice::from_ref(&patch)).expect("one patch is not too many");
            assert!(is_path || patched.applied == 0, "`{path}` is no path and was applied");
            assert_eq!(patched.applied + patched.refused.len(), 1);
            if patched.applied == 0 {
                assert_eq!(patched.text, text, "a refused patch changed something");
                continue;
            }
            let after = document.with_text(patched.text).expect("what was patched is still a document");
            let again = after.patched(std::slice::from_ref(&patch)).expect("one patch is not too many");
            let is_place = kind == MessageKind::Hl7 && path.len() > 3 && path.contains(['.', '-', ' ']);
            if is_place {
                assert_eq!(again.text, after.text(), "the same patch changes something twice");
            }
        }
    }
}
