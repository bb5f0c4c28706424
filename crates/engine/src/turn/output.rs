//! A command's output on its way to those who listen: in pieces, with secrets masked even where a piece cuts one.

use std::sync::{Arc, Mutex, PoisonError};

use loggia_domain::{CallId, OutputSink, OutputStream, Passing};

use crate::secrets::{MaskStream, Masker};
use crate::session::Feed;

/// The output of one command.
#[derive(Debug)]
pub(super) struct Output {
    feed: Arc<Feed>,
    call: CallId,
    stdout: Mutex<MaskStream>,
    stderr: Mutex<MaskStream>,
}

impl Output {
    pub(super) fn new(feed: &Arc<Feed>, call: CallId, masker: &Masker) -> Arc<Self> {
        let (stdout, stderr) = (Mutex::new(masker.stream()), Mutex::new(masker.stream()));
        Arc::new(Self { feed: Arc::clone(feed), call, stdout, stderr })
    }

    /// What a runner writes to.
    pub(super) fn sink(self: &Arc<Self>) -> OutputSink {
        let output = Arc::clone(self);
        Box::new(move |stream, chunk| output.take(stream, chunk))
    }

    fn take(&self, stream: OutputStream, chunk: &str) {
        let mask = match stream {
            OutputStream::Stdout => &self.stdout,
            OutputStream::Stderr => &self.stderr,
        };
        let mut mask = mask.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = mask.push(chunk);
        // Only what may be the beginning of a secret is held back: people are watching.
        text.push_str(&mask.release());
        drop(mask);
        if !text.is_empty() {
            self.feed.pass(Passing::ToolOutput { call: self.call, stream, chunk: text });
        }
    }

    /// Tells what was held back: the command has ended, nothing completes it any more.
    pub(super) fn finish(&self, masker: &Masker) {
        for (stream, mask) in [(OutputStream::Stdout, &self.stdout), (OutputStream::Stderr, &self.stderr)] {
            let mask =
                std::mem::replace(&mut *mask.lock().unwrap_or_else(PoisonError::into_inner), masker.stream());
            let chunk = mask.finish();
            if !chunk.is_empty() {
                self.feed.pass(Passing::ToolOutput { call: self.call, stream, chunk });
            }
        }
    }
}
