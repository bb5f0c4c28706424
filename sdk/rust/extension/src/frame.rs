//! Frames: a header with a length, an empty line, and as many bytes.
//!
//! Tolerant in, as hosts differ: any other header, any case, lines that end in LF or CR LF. Strict out.

use std::io::{self, BufRead, Read, Write};

use loggia_protocol_hermes::limits::MAX_INBOUND_FRAME;

/// A header line is some 25 bytes.
const MAX_LINE: u64 = 8 * 1024;

/// The next body; nothing at the end of the stream, also in the middle of a frame.
pub(crate) fn read(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Ok(None);
        }
        let line = line.trim_ascii();
        match (line.is_empty(), length) {
            (true, Some(length)) => return read_body(reader, length),
            (true, None) => {}
            (false, _) => length = length_in(line)?.or(length),
        }
    }
}

fn length_in(line: &[u8]) -> io::Result<Option<u64>> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "`Content-Length` is not a length");
    let text = std::str::from_utf8(line).unwrap_or_default();
    match text.split_once(':') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
            let length: u64 = value.trim().parse().map_err(|_| wrong())?;
            if length <= MAX_INBOUND_FRAME as u64 { Ok(Some(length)) } else { Err(wrong()) }
        }
        _ => Ok(None),
    }
}

fn read_body(reader: &mut impl BufRead, length: u64) -> io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut body)?;
    Ok((body.len() as u64 == length).then_some(body))
}

/// Writes a frame, whole.
pub(crate) fn write(writer: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    writer.write_all(&frame)?;
    writer.flush()
}
