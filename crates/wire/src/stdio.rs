//! Our own stdin and stdout as streams the reactor can wait for.
//!
//! A plain async stdin reads on a helper thread: two thread changes per message. Whoever started us almost always
//! gave us pipes or sockets, which can be waited for directly; anything else (a file, a terminal) takes the
//! helper thread after all.

use std::io::{stdin, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;

use rustix::fs::{FileType, fstat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What we read from.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// What we write to.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Takes stdin and stdout for a connection. Nobody else may use them from then on.
///
/// # Errors
/// When either is closed or cannot be switched to waiting.
pub fn take() -> std::io::Result<(Input, Output)> {
    let input = stdin().as_fd().try_clone_to_owned()?;
    let output = stdout().as_fd().try_clone_to_owned()?;
    let input: Input = match kind(&input)? {
        FileType::Fifo => Box::new(pipe::Receiver::from_owned_fd(input)?),
        FileType::Socket => Box::new(socket(input)?),
        _ => Box::new(tokio::io::stdin()),
    };
    let output: Output = match kind(&output)? {
        FileType::Fifo => Box::new(pipe::Sender::from_owned_fd(output)?),
        FileType::Socket => Box::new(socket(output)?),
        _ => Box::new(tokio::io::stdout()),
    };
    Ok((input, output))
}

fn kind(descriptor: &OwnedFd) -> std::io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(descriptor)?.st_mode))
}

fn socket(descriptor: OwnedFd) -> std::io::Result<UnixStream> {
    let stream = StdUnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
