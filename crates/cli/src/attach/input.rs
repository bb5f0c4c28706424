//! Lines of standard input, where no line is edited.

use std::io::{self, BufRead as _, Read as _};

use tokio::sync::mpsc;

/// The longest line: no command is longer.
const MAX_LINE: u64 = 256 * 1024;

/// Lines that were read and not yet taken.
const WAITING: usize = 16;

/// Reads standard input on a thread that ends with it, or with whoever takes the lines.
pub(super) fn stdin_lines() -> io::Result<mpsc::Receiver<String>> {
    let (sender, lines) = mpsc::channel(WAITING);
    let read = move || {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut input).take(MAX_LINE).read_until(b'\n', &mut line) {
                // The end, or nothing that could be read.
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            if sender.blocking_send(text).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(read)?;
    Ok(lines)
}
