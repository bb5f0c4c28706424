//! Our own stdin and stdout as streams the reactor can wait for.
//!
//! A plain async stdin reads on a helper thread: two thread changes per message. Whoever started us almost always
//! gave us pipes or sockets, which can be waited for directly; anything else (a file, a terminal) takes the
//! helper thread after all.

use std::fs::{File, OpenOptions};
use std::io::{stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream as StdUnixStream;

use rustix::fs::{FileType, OFlags, fstat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What we read from.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// What we write to.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Takes stdin and stdout for a connection.
///
/// Nobody else can use them from then on: both names point to nothing, so that a stray print cannot end up between
/// two messages, and closing the connection closes what is behind them.
///
/// # Errors
/// When either is closed or cannot be switched to waiting.
pub fn take() -> std::io::Result<(Input, Output)> {
    let input: Input = match kind(stdin().as_fd())? {
        FileType::Fifo => {
            Box::new(pipe::Receiver::from_file(reopen("/proc/self/fd/0", File::options().read(true))?)?)
        }
        FileType::Socket => Box::new(socket(stdin().as_fd().try_clone_to_owned()?)?),
        // Read by the helper thread, under its own name.
        _ => return Ok((Box::new(tokio::io::stdin()), output()?)),
    };
    let output = output()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok((input, output))
}

fn output() -> std::io::Result<Output> {
    let output: Output = match kind(stdout().as_fd())? {
        FileType::Fifo => {
            Box::new(pipe::Sender::from_file(reopen("/proc/self/fd/1", File::options().write(true))?)?)
        }
        FileType::Socket => Box::new(socket(stdout().as_fd().try_clone_to_owned()?)?),
        _ => return Ok(Box::new(tokio::io::stdout())),
    };
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(output)
}

/// Opens a pipe once more, for a handle of our own: switching the one we were given to not blocking would switch it
/// for everybody who shares it, the shell that started us included.
fn reopen(path: &str, options: &OpenOptions) -> std::io::Result<File> {
    options.clone().custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

fn kind(descriptor: BorrowedFd<'_>) -> std::io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(descriptor)?.st_mode))
}

/// A socket cannot be opened once more, so it is switched; those who start us over sockets keep the other end.
fn socket(descriptor: OwnedFd) -> std::io::Result<UnixStream> {
    let stream = StdUnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
