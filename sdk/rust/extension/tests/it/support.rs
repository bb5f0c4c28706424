//! A host of frames.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::thread::JoinHandle;

use loggia_extension_kit::{Extension, serve};
use serde_json::{Value, json};

/// A host that talks while the extension works.
pub(crate) struct Host {
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Host {
    /// An extension need not be able to move to another thread, so it is made where it works.
    pub(crate) fn new(extension: impl FnOnce() -> Extension + Send + 'static) -> Self {
        let (reader, input) = std::io::pipe().unwrap();
        let (output, writer) = std::io::pipe().unwrap();
        let served = std::thread::spawn(move || serve(extension(), BufReader::new(reader), writer));
        Self { input: Some(input), output: BufReader::new(output), served }
    }

    /// One that has shaken hands.
    pub(crate) fn begun(extension: impl FnOnce() -> Extension + Send + 'static) -> Self {
        let mut host = Self::new(extension);
        let params = json!({ "hermesVersion": "0.1.0", "apiVersion": "1.0", "dataDirectory": "/nowhere" });
        host.call(1, "initialize", &params);
        host
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn body(&mut self, body: &str) {
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.body(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    pub(crate) fn give(&mut self, command: &str) {
        self.tell("command/execute", json!({ "command": command }));
    }

    pub(crate) fn answer(&mut self, request: &Value, result: Value) {
        self.body(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string());
    }

    pub(crate) fn call(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.body(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        self.hear().unwrap()
    }

    /// The next frame, or the end.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut header = String::new();
        if self.output.read_line(&mut header).unwrap() == 0 {
            return None;
        }
        let length: usize = header.strip_prefix("Content-Length: ").unwrap().trim_end().parse().unwrap();
        let mut rest = vec![0; length + 2];
        self.output.read_exact(&mut rest).unwrap();
        let body = rest.strip_prefix(b"\r\n").unwrap();
        assert!(body.is_ascii());
        Some(serde_json::from_slice(body).unwrap())
    }

    /// Waits until the extension has left.
    pub(crate) fn served(self) {
        self.served.join().unwrap().unwrap();
    }

    /// Closes the extension's input and waits until it has left.
    pub(crate) fn end(mut self) {
        self.input = None;
        assert_eq!(self.hear(), None);
        self.served();
    }
}

pub(crate) fn extension() -> Extension {
    Extension::new("Test", "1.2.3")
}
