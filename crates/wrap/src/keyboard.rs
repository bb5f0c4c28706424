//! What somebody types or pipes in where we were started.
//!
//! A thread reads it, since a terminal cannot be waited for otherwise. It ends with our stdin, or with the process.
//! Invariant: the program gets every byte as it came; only a last line without an end gets one, if its input stays open.

use std::io::{BufRead, Read as _, stdin};

use tokio::sync::mpsc;

use crate::desk::{Input, MAX_INPUT, Source};

/// Starts to read. Whether the end of our input is the program's, too, decides what a line without an end is.
///
/// # Errors
/// When the system has no room for the thread.
pub(crate) fn listen(input: mpsc::Sender<Input>, ends_both: bool) -> std::io::Result<()> {
    let pass_on = move || read(stdin().lock(), ends_both, |next| input.blocking_send(next).is_ok());
    std::thread::Builder::new().name("stdin".to_owned()).spawn(pass_on)?;
    Ok(())
}

/// Reads to the end, or until nobody takes it any more. Lines that are too long come in parts.
fn read(mut from: impl BufRead, ends_both: bool, mut send: impl FnMut(Input) -> bool) {
    let mut is_inside = false;
    loop {
        let mut bytes = Vec::new();
        // Who cannot read any more has come to the end.
        let length = from.by_ref().take(MAX_INPUT as u64).read_until(b'\n', &mut bytes).unwrap_or(0);
        if length == 0 {
            break;
        }
        let goes_on = bytes.last() != Some(&b'\n');
        let next = if is_inside { Input::More(bytes) } else { Input::Line(Source::Keyboard, bytes) };
        is_inside = goes_on;
        if !send(next) {
            return;
        }
    }
    // Others' lines come after it.
    if !is_inside || ends_both || send(Input::More(b"\n".to_vec())) {
        send(Input::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that the program gets, and how many lines are told.
    fn passed_on(given: &[u8], ends_both: bool) -> (Vec<u8>, usize) {
        let (mut all, mut lines, mut is_ended) = (Vec::new(), 0, false);
        read(given, ends_both, |next| {
            match next {
                Input::Line(source, bytes) => {
                    assert_eq!(source, Source::Keyboard);
                    lines += 1;
                    all.extend(bytes);
                }
                Input::More(bytes) => all.extend(bytes),
                Input::End => is_ended = true,
            }
            true
        });
        assert!(is_ended);
        (all, lines)
    }

    #[test]
    fn bytes_are_passed_on_as_they_are() {
        let long = [vec![b'x'; 100_000], b"\nnext\n".to_vec()].concat();
        for (given, lines) in [(&b"a\xffb\r\n\n"[..], 2), (&long, 2), (b"", 0), (b"one\ntwo", 2)] {
            assert_eq!(passed_on(given, true), (given.to_vec(), lines));
        }
    }

    #[test]
    fn a_last_line_gets_an_end_if_others_may_follow() {
        assert_eq!(passed_on(b"one\ntwo", false), (b"one\ntwo\n".to_vec(), 2));
        assert_eq!(passed_on(b"one\n", false), (b"one\n".to_vec(), 1));
        let exact = vec![b'x'; MAX_INPUT];
        assert_eq!(passed_on(&exact, false), ([exact, b"\n".to_vec()].concat(), 1));
    }
}
