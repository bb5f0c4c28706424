//! The loop: one thread hears the host, one runs commands and events.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loggia_jsonrpc::{Body, ErrorObject, Incoming, Method, Notification, RequestId, decode, read};
use loggia_protocol_hermes::{
    CommandExecute, CommandExecuteParams, DIALECT, Initialize, InitializeParams, InitializeResult,
    MessageChanged, MessageOpened, MessageSaved, Shutdown, ShutdownParams, ShutdownReason, ShutdownResult,
    WindowClosed,
};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::HostError;
use crate::extension::{Extension, Leaving};
use crate::host::Host;
use crate::wire::{Wire, Work};
use crate::{frame, stdio};

/// Serves a host until it says `shutdown` or its frames end.
///
/// The thread that reads goes on until it has heard one of these, which may be after this has returned.
///
/// # Errors
/// When no thread can be started.
pub fn serve(
    extension: Extension,
    reader: impl BufRead + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<()> {
    serve_until(extension, reader, writer, Arc::new(|| {}))
}

/// Done once the host has nothing more to say, or has been told goodbye.
pub(crate) type Ended = Arc<dyn Fn() + Send + Sync>;

/// The same, with something to do at the end, on the thread that knows of it.
pub(crate) fn serve_until(
    mut extension: Extension,
    reader: impl BufRead + Send + 'static,
    writer: impl Write + Send + 'static,
    ended: Ended,
) -> io::Result<()> {
    let host = Host { wire: Wire::new(writer), name: extension.about.name.clone() };
    let (about, leaving) = (extension.about.clone(), extension.leaving.take());
    let listener = Listener { host: host.clone(), about, leaving, ended };
    std::thread::Builder::new().name("host-reader".to_owned()).spawn(move || listener.listen(reader))?;
    while let Some(work) = host.wire.next() {
        let run = AssertUnwindSafe(|| extension.run(&host, work));
        match catch_unwind(run) {
            Ok(Ok(()) | Err(HostError::Gone)) => {}
            Ok(Err(error)) => stdio::error(error.to_string()),
            Err(_) => stdio::error("the extension's code panicked"),
        }
    }
    Ok(())
}

struct Listener {
    host: Host,
    about: InitializeResult,
    leaving: Option<Leaving>,
    ended: Ended,
}

/// Whether there is more to hear.
enum Next {
    More,
    Goodbye,
}

impl Listener {
    fn listen(mut self, mut reader: impl BufRead) {
        let mut told = false;
        // A frame that cannot be read is the last one: nobody knows where the next would begin.
        while let Ok(Some(body)) = frame::read(&mut reader) {
            match self.hear(&body) {
                Ok(Next::More) => {}
                Ok(Next::Goodbye) => {
                    told = true;
                    break;
                }
                // The host has gone.
                Err(_) => break,
            }
        }
        self.host.wire.end(told);
        (self.ended)();
    }

    fn hear(&mut self, body: &[u8]) -> io::Result<Next> {
        let nobody = RequestId::null();
        match read(body, &DIALECT) {
            Err(error) => self.host.wire.fail(&nobody, &error.to_error())?,
            Ok(Body::Batch(_)) => {} // Refused by the dialect, so there is none.
            Ok(Body::One(Incoming::Invalid(invalid))) => self.host.wire.fail(&nobody, &invalid.to_error())?,
            Ok(Body::One(Incoming::Response { id, outcome })) => {
                self.host.wire.deliver(id.as_ref(), outcome.map(RawValue::to_owned));
            }
            Ok(Body::One(Incoming::Notification { method, params })) => {
                self.take(&method, params.map_or("{}", RawValue::get));
            }
            Ok(Body::One(Incoming::Request { id, method, params })) => {
                return self.answer(&id, &method, params.map_or("{}", RawValue::get));
            }
        }
        Ok(Next::More)
    }

    fn answer(&mut self, id: &RequestId, method: &str, params: &str) -> io::Result<Next> {
        match method {
            Initialize::NAME => {
                let given: InitializeParams = decode(params).unwrap_or_default();
                self.host.wire.set_data_directory(given.data_directory);
                self.host.wire.answer(id, &to_raw_value(&self.about)?)?;
            }
            Shutdown::NAME => {
                let ShutdownParams { reason } = decode(params).unwrap_or_default();
                match self.leaving.take() {
                    // What it asks is answered through this thread, so it runs on another.
                    Some(leaving) => self.say_goodbye(id.clone(), leaving, reason)?,
                    None => {
                        self.host.wire.answer(id, &to_raw_value(&ShutdownResult { success: true })?)?;
                        return Ok(Next::Goodbye);
                    }
                }
            }
            _ => self.host.wire.fail(id, &ErrorObject::method_not_found(method))?,
        }
        Ok(Next::More)
    }

    fn say_goodbye(&self, id: RequestId, leaving: Leaving, reason: Option<ShutdownReason>) -> io::Result<()> {
        let (host, ended) = (self.host.clone(), self.ended.clone());
        std::thread::Builder::new().name("goodbye".to_owned()).spawn(move || {
            let left = catch_unwind(AssertUnwindSafe(|| leaving(&host, reason)));
            let success = matches!(left, Ok(Ok(())));
            if let Ok(Err(error)) = left {
                stdio::error(error.to_string());
            }
            let answered = to_raw_value(&ShutdownResult { success })
                .map_err(io::Error::from)
                .and_then(|result| host.wire.answer(&id, &result));
            if let Err(error) = answered {
                stdio::error(format!("the host cannot be told that we leave: {error}"));
            }
            host.wire.end(true);
            ended();
        })?;
        Ok(())
    }

    /// Keeps what there is to run; what nobody knows is left alone.
    fn take(&self, method: &str, params: &str) {
        let work = match method {
            CommandExecute::NAME => {
                decode::<CommandExecuteParams>(params).map(|given| Work::Command(given.command))
            }
            MessageOpened::NAME => decode(params).map(Work::Opened),
            MessageSaved::NAME => decode(params).map(Work::Saved),
            MessageChanged::NAME => decode(params).map(Work::Changed),
            WindowClosed::NAME => decode(params).map(Work::WindowClosed),
            _ => return,
        };
        match work {
            Ok(work) => self.host.wire.keep(work),
            Err(error) => stdio::warn(format!("`{method}` of the host does not fit: {error}")),
        }
    }
}
