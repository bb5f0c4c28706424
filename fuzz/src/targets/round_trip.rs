//! What each framing writes, it reads back: the same bodies, in the same order, with nothing in between.

use bytes::BytesMut;
use loggia_wire::framing::{Codec, ContentLength, Layout, LengthPrefixed, Lines};

use super::stream;

/// Some bodies are over it: they must be refused when they are written, and leave no trace.
const CAP: usize = 512;
/// Never reached.
const LARGE: usize = 1 << 30;

/// More of them show nothing new.
const MOST_BODIES: usize = 32;

/// Tries one input.
pub fn target(data: &[u8]) {
    let data = &data[..data.len().min(4 * CAP)];
    let mut bodies: Vec<&[u8]> = stream::pieces(data);
    bodies.truncate(MOST_BODIES);
    check(&ContentLength::new(CAP), CAP, &bodies);
    let filled: Vec<&[u8]> = bodies.iter().copied().filter(|body| !body.is_empty()).collect();
    check(&LengthPrefixed::plain(CAP), CAP, &filled);
    check(&LengthPrefixed::tagged(CAP, CAP), CAP, &bodies);
    // A compressor takes a while to set up, so only one body goes through it.
    let longest: Vec<&[u8]> = bodies.iter().copied().max_by_key(|body| body.len()).into_iter().collect();
    check(&LengthPrefixed::tagged(CAP, 4 * CAP).compress_from(16), 4 * CAP, &longest);
    check_detection(&bodies);
    check_lines(data, &bodies);
}

/// Writes the bodies and reads them back.
fn check<C: Codec>(codec: &C, longest: usize, bodies: &[&[u8]]) {
    let (written, stream) = write(codec, longest, bodies);
    let read = stream::check(codec, &stream, longest);
    assert_eq!(read.error, None, "{codec:?} does not read what it writes");
    assert!(read.frames().eq(written), "{codec:?} reads other bodies than it wrote");
}

/// Writes bodies; gives those that were taken, and the stream.
fn write<'a, C: Codec>(codec: &C, longest: usize, bodies: &[&'a [u8]]) -> (Vec<&'a [u8]>, BytesMut) {
    let mut encoder = codec.clone();
    let mut stream = BytesMut::new();
    let mut written = Vec::new();
    for body in bodies {
        let before = stream.len();
        match encoder.encode(body, &mut stream) {
            Ok(()) => {
                assert!(body.len() <= longest, "{codec:?} wrote a body that is over its cap");
                written.push(*body);
            }
            Err(_) => assert_eq!(stream.len(), before, "{codec:?} refused a body and wrote part of it"),
        }
    }
    (written, stream)
}

/// A reader that does not know the layout finds it, where the first frame shows it.
fn check_detection(bodies: &[&[u8]]) {
    let (tagged, stream) = write(&LengthPrefixed::tagged(CAP, CAP), CAP, bodies);
    let read = stream::check(&LengthPrefixed::detect(CAP, CAP), &stream, CAP);
    assert!(read.frames().eq(tagged) && read.error.is_none(), "the tagged layout is not detected");

    let mut object_first: Vec<&[u8]> = vec![b"{}"];
    object_first.extend(bodies.iter().filter(|body| !body.is_empty()));
    let (plain, mut stream) = write(&LengthPrefixed::plain(CAP), CAP, &object_first);
    let read = stream::check(&LengthPrefixed::detect(CAP, CAP), &stream, CAP);
    assert!(read.frames().eq(plain) && read.error.is_none(), "the plain layout is not detected");

    let mut codec = LengthPrefixed::detect(CAP, CAP);
    let first = tokio_util::codec::Decoder::decode(&mut codec, &mut stream);
    assert!(first.is_ok() && codec.layout() == Some(Layout::Plain), "the layout is not remembered");
}

/// Lines carry what has no newline of its own, and JSON whatever white space it has.
fn check_lines(data: &[u8], bodies: &[&[u8]]) {
    // The reader drops blank lines and takes a CR at the end for half a newline.
    let fits = |body: &&[u8]| {
        !body.iter().any(|byte| matches!(byte, b'\n' | b'\r')) && !body.trim_ascii().is_empty()
    };
    check(&Lines::new(CAP), CAP, &bodies.iter().copied().filter(fits).collect::<Vec<_>>());

    let value = serde_json::from_slice(data)
        .unwrap_or_else(|_| serde_json::json!({ "text": String::from_utf8_lossy(data), "more": [1, {}] }));
    let pretty = format!("{value:#}\n");
    let (written, stream) = write(&Lines::new(LARGE), LARGE, &[pretty.as_bytes()]);
    assert_eq!(written.len(), 1, "a body below the cap was refused");
    let read = stream::check(&Lines::new(LARGE), &stream, LARGE);
    let lines: Vec<serde_json::Value> =
        read.frames().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let expected: serde_json::Value = serde_json::from_str(&pretty).unwrap_or_default();
    assert_eq!(lines, [expected], "JSON with line breaks is not one line with the same meaning");
}
