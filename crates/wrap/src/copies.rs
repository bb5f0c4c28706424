//! Our own stdout and stderr, which get what the program writes, byte by byte.
//!
//! Each has a thread of its own, since a terminal or a pipe may block. Invariants: so much waits and no more; then whoever
//! copies waits, as the program would without us; nothing is lost while a reader is there, however slow it is; a reader
//! that has gone is not an error.

use std::io::{ErrorKind, Write, stderr, stdout};

use tokio::sync::{mpsc, oneshot};

/// How many reads of a program's output may wait for our own stdout: some two megabytes.
const QUEUE: usize = 128;

/// Both of them.
#[derive(Debug)]
pub(crate) struct Copies {
    pub(crate) stdout: Copy,
    pub(crate) stderr: Copy,
    ended: [oneshot::Receiver<()>; 2],
}

/// Where bytes are copied to.
#[derive(Debug, Clone)]
pub(crate) struct Copy(mpsc::Sender<Vec<u8>>);

impl Copies {
    /// Starts their threads.
    ///
    /// # Errors
    /// When the system has no room for them.
    pub(crate) fn start() -> std::io::Result<Self> {
        Self::to(stdout(), stderr())
    }

    fn to(out: impl Write + Send + 'static, err: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (out, out_ended) = start("stdout", out)?;
        let (err, err_ended) = start("stderr", err)?;
        Ok(Self { stdout: out, stderr: err, ended: [out_ended, err_ended] })
    }

    /// Waits until what was copied is out, however long its readers take, or until somebody has had enough. All other
    /// handles have to be gone.
    pub(crate) async fn finish(self, enough: impl Future<Output = ()>) {
        let Self { stdout, stderr, ended: [out, err] } = self;
        drop((stdout, stderr));
        // Their senders go with the threads.
        let all_out = async { drop((out.await, err.await)) };
        tokio::select! {
            () = all_out => {}
            () = enough => tracing::debug!("somebody does not read what the program said"),
        }
    }
}

impl Copy {
    /// Copies, and waits while too much waits already.
    pub(crate) async fn write(&self, bytes: &[u8]) {
        // The thread only ends after us.
        let _ = self.0.send(bytes.to_vec()).await;
    }

    /// Copies a line of our own, unless too much waits already.
    pub(crate) fn line(&self, text: &str) {
        let _ = self.0.try_send(format!("{text}\n").into_bytes());
    }
}

fn start(
    name: &str,
    mut target: impl Write + Send + 'static,
) -> std::io::Result<(Copy, oneshot::Receiver<()>)> {
    let (sender, mut queue) = mpsc::channel::<Vec<u8>>(QUEUE);
    let (ended, is_ended) = oneshot::channel();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let mut open = true;
        while let Some(bytes) = queue.blocking_recv() {
            if !open {
                continue;
            }
            if let Err(error) = target.write_all(&bytes).and_then(|()| target.flush()) {
                // The program goes on without; whoever read and has gone knows that.
                open = false;
                if error.kind() != ErrorKind::BrokenPipe {
                    tracing::warn!(%error, "what the program says cannot be copied any more");
                }
            }
        }
        drop(ended);
    })?;
    Ok((Copy(sender), is_ended))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, pipe, sink};
    use std::time::Duration;

    use super::*;

    /// More than a pipe holds, less than may wait.
    const MUCH: usize = 1024 * 1024;

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_all_of_it_however_long_it_takes() {
        let (mut reader, writer) = pipe().unwrap();
        let copies = Copies::to(writer, sink()).unwrap();
        for chunk in vec![b'x'; MUCH].chunks(16 * 1024) {
            copies.stdout.write(chunk).await;
        }
        let mut finishing = std::pin::pin!(copies.finish(std::future::pending()));
        // On a clock that only goes on while all wait.
        let long = Duration::from_secs(3600);
        assert!(tokio::time::timeout(long, &mut finishing).await.is_err(), "it gave up");
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all.len())
        });
        finishing.await;
        assert_eq!(reading.join().unwrap().unwrap(), MUCH);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_reader_that_has_gone_or_after_somebody_had_enough() {
        for gone in [true, false] {
            let (reader, writer) = pipe().unwrap();
            let copies = Copies::to(writer, sink()).unwrap();
            for chunk in vec![b'x'; MUCH].chunks(16 * 1024) {
                copies.stdout.write(chunk).await;
            }
            if gone {
                drop(reader);
                copies.finish(std::future::pending()).await;
            } else {
                copies.finish(std::future::ready(())).await;
            }
        }
    }
}
