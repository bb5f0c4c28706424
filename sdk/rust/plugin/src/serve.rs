//! The loop: a line in, a line out, until the host has had enough.
//!
//! A thread reads the host's lines, so that results of tools arrive while the plugin works and the end of our input is
//! noticed. It answers what must not wait; all the rest is put in line for the plugin.

use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};

use loggia_jsonrpc::{Body, ErrorObject, Incoming, Method, RequestId, codes, decode, read};
use loggia_protocol_mehrhof::limits::MAX_LINE_BYTES;
use loggia_protocol_mehrhof::{
    AgentToolResult, AgentToolResultParams, AgentToolResultResult, DIALECT, Ping, PingResult, Shutdown,
    ShutdownResult,
};
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::error::PluginError;
use crate::plugin::Plugin;
use crate::wire::Wire;

/// Requests that wait to be served. A host asks one thing at a time; one that asks more is not read from meanwhile.
const MAX_WAITING: usize = 64;

/// A call that the plugin has to serve.
struct Call {
    /// None if nobody wants an answer.
    id: Option<RequestId>,
    method: String,
    params: String,
}

/// Answers a host until it says `shutdown` or its lines end.
///
/// The thread that reads goes on until `reader` ends, which may be after this has returned.
///
/// # Errors
/// When the host cannot be written to for another reason than that it has gone.
pub fn serve(
    mut plugin: Plugin,
    reader: impl BufRead + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<()> {
    let wire = Wire::new(writer);
    let (calls, waiting) = sync_channel(MAX_WAITING);
    let listener = Listener { wire: wire.clone(), calls };
    std::thread::Builder::new().name("host-reader".to_owned()).spawn(move || listener.listen(reader))?;
    for call in waiting {
        let leaving = call.method == Shutdown::NAME;
        match answer(&mut plugin, &call, &wire) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            answered => answered?,
        }
        if leaving {
            break;
        }
    }
    Ok(())
}

/// Has one call served, whatever the plugin's code does.
fn answer(plugin: &mut Plugin, call: &Call, wire: &Wire) -> io::Result<()> {
    let served = if call.method == Shutdown::NAME {
        to_raw_value(&ShutdownResult::shutting_down()).map_err(PluginError::internal)
    } else {
        let serve = AssertUnwindSafe(|| plugin.answer(&call.method, &call.params, wire));
        catch_unwind(serve).unwrap_or_else(|_| Err(PluginError::internal("the plugin panicked")))
    };
    let Some(id) = &call.id else { return Ok(()) };
    match served {
        Ok(result) => wire.answer(id, &result),
        // Nobody reads the answer.
        Err(error) if error.is_cancelled() => Ok(()),
        Err(error) => wire.fail(id, error.object()),
    }
}

struct Listener {
    wire: Wire,
    calls: SyncSender<Call>,
}

impl Listener {
    fn listen(self, mut reader: impl BufRead) {
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut limited = reader.by_ref().take(MAX_LINE_BYTES as u64);
            match limited.read_until(b'\n', &mut line) {
                // A line without an end is either the last one or too long; after neither is there a next one.
                Ok(_) if !line.ends_with(b"\n") => {
                    self.hear_last(&line);
                    break;
                }
                Ok(_) => {}
                Err(_) => break,
            }
            if self.hear(&line).is_err() {
                break;
            }
        }
        self.wire.end();
    }

    fn hear_last(&self, line: &[u8]) {
        if line.len() < MAX_LINE_BYTES {
            // Whether it could be served makes no difference any more.
            let _ = self.hear(line);
        }
    }

    /// Deals with a line; an error if there is nobody left to deal with.
    fn hear(&self, line: &[u8]) -> io::Result<()> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        match read(line, &DIALECT) {
            Err(error) => self.wire.fail(&RequestId::null(), &error.to_error()),
            Ok(Body::Batch(_)) => Ok(()), // Refused by the dialect, so there is none.
            Ok(Body::One(message)) => match message {
                Incoming::Request { id, method, params } => {
                    self.take(Some(id), &method, params.map(serde_json::value::RawValue::get))
                }
                Incoming::Notification { method, params } => {
                    self.take(None, &method, params.map(serde_json::value::RawValue::get))
                }
                Incoming::Invalid(invalid) => self.wire.fail(&RequestId::null(), &invalid.to_error()),
                // An answer to nobody is none of our business.
                Incoming::Response { .. } => Ok(()),
            },
        }
    }

    fn take(&self, id: Option<RequestId>, method: &str, params: Option<&str>) -> io::Result<()> {
        let params = match DIALECT.params(params) {
            Ok(params) if params.trim_start().starts_with('{') => params,
            _ => return self.refuse(id.as_ref(), "an object is needed"),
        };
        match method {
            Ping::NAME => self.reply(id.as_ref(), &PingResult { pong: Some(true) }),
            AgentToolResult::NAME => match decode::<AgentToolResultParams>(params) {
                Ok(AgentToolResultParams { tool_id, result }) => {
                    let acknowledged = self.wire.deliver(&tool_id, result);
                    self.reply(id.as_ref(), &AgentToolResultResult { acknowledged })
                }
                Err(error) => self.refuse(id.as_ref(), &error.to_string()),
            },
            _ => {
                let call = Call { id, method: method.to_owned(), params: params.to_owned() };
                self.calls.send(call).map_err(|_| io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    fn reply(&self, id: Option<&RequestId>, result: &impl Serialize) -> io::Result<()> {
        let Some(id) = id else { return Ok(()) };
        self.wire.answer(id, &to_raw_value(result)?)
    }

    fn refuse(&self, id: Option<&RequestId>, reason: &str) -> io::Result<()> {
        let Some(id) = id else { return Ok(()) };
        let error = ErrorObject::new(codes::INVALID_PARAMS, format!("Invalid params: {reason}"));
        self.wire.fail(id, &error)
    }
}
