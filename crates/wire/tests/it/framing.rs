//! Each codec, rule by rule: bytes in, one line per frame or fault out.

use std::fmt::Write as _;

use bytes::BytesMut;
use flate2::Compression;
use flate2::write::GzEncoder;
use loggia_wire::framing::{Codec, ContentLength, FrameError, Inbound, Layout, LengthPrefixed, Lines};
use tokio_util::codec::{Decoder, Encoder};

/// Feeds the bytes at once and tells what came out, up to the first fatal fault.
fn read_all<C: Codec>(codec: &mut C, bytes: &[u8]) -> String {
    let mut log = String::new();
    let mut source = BytesMut::from(bytes);
    let mut at_end = false;
    loop {
        let step = if at_end { codec.decode_eof(&mut source) } else { codec.decode(&mut source) };
        match step {
            Ok(Some(Inbound::Frame(frame))) => {
                writeln!(log, "frame {}", String::from_utf8_lossy(&frame)).unwrap();
            }
            Ok(Some(Inbound::Refused(error))) => writeln!(log, "refused: {error}").unwrap(),
            Ok(None) if at_end => return log + "end",
            Ok(None) => at_end = true,
            Err(error) => return log + &format!("fatal: {error}"),
        }
    }
}

fn content_length(bytes: &str) -> String {
    read_all(&mut ContentLength::new(100), bytes.as_bytes())
}

fn lines(bytes: &[u8]) -> String {
    read_all(&mut Lines::new(10), bytes)
}

fn prefixed(parts: &[&[u8]]) -> String {
    read_all(&mut LengthPrefixed::plain(10), &parts.concat())
}

fn written<C: Codec>(mut codec: C, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut target = BytesMut::from(&b"before"[..]);
    codec.encode(body, &mut target)?;
    Ok(target.strip_prefix(&b"before"[..]).unwrap().to_vec())
}

#[test]
fn content_length_reads_header_and_body() {
    assert_eq!(content_length("Content-Length: 2\r\n\r\n{}"), "frame {}\nend");
    assert_eq!(
        content_length("Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\nnull"),
        "frame {}\nframe null\nend"
    );
}

#[test]
fn content_length_counts_bytes_not_characters() {
    assert_eq!(content_length("Content-Length: 4\r\n\r\n\"é\""), "frame \"é\"\nend");
}

#[test]
fn content_length_tolerates_other_headers_any_case_and_any_line_end() {
    assert_eq!(
        content_length("Content-Type: application/json\r\nCONTENT-length:2\r\nX: y\r\n\r\n{}"),
        "frame {}\nend"
    );
    assert_eq!(content_length("Content-Length: 2\n\n{}"), "frame {}\nend");
    assert_eq!(content_length("Content-Length: 2\r\r\n\r\r\n{}"), "frame {}\nend");
    assert_eq!(content_length("\r\n\nContent-Length: 2\r\n\r\n{}\n\r\n"), "frame {}\nend");
    assert_eq!(content_length("Content-Length: 2\r\ncontent-length: 2\r\n\r\n{}"), "frame {}\nend");
}

#[test]
fn content_length_faults_are_fatal_and_say_which() {
    assert_eq!(content_length("X: y\r\n\r\n{}"), "fatal: `Content-Length` header is missing");
    assert_eq!(
        content_length("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        "fatal: `Content-Length` is given twice, as 2 and as 3"
    );
    assert_eq!(content_length("Content-Length: -1\r\n\r\n"), "fatal: `Content-Length` is negative: `-1`");
    for text in ["two", "", "+2", "0x2", "2 3", "1.0", "-"] {
        assert_eq!(
            content_length(&format!("Content-Length: {text}\r\n\r\n")),
            format!("fatal: `Content-Length` is not a number: `{text}`")
        );
    }
    assert_eq!(
        content_length("Content-Length: 101\r\n\r\n"),
        "fatal: frame of 101 bytes is over the limit of 100"
    );
    assert_eq!(
        content_length("Content-Length: 99999999999999999999999\r\n\r\n"),
        "fatal: frame of 18446744073709551615 bytes is over the limit of 100"
    );
}

#[test]
fn content_length_ends_cleanly_only_between_frames() {
    assert_eq!(content_length(""), "end");
    assert_eq!(content_length("Content-Len"), "fatal: stream ended inside a header");
    assert_eq!(content_length("Content-Length: 2\r\n"), "fatal: stream ended inside a header");
    assert_eq!(
        content_length("Content-Length: 5\r\n\r\n{}"),
        "fatal: stream ended 3 bytes before the frame did"
    );
}

#[test]
fn content_length_header_block_is_bounded() {
    let endless_line = "X".repeat(9000);
    assert_eq!(content_length(&endless_line), "fatal: header is over the limit of 8192 bytes");
    let endless_lines = "X: y\r\n".repeat(2000);
    assert_eq!(content_length(&endless_lines), "fatal: header is over the limit of 8192 bytes");
}

#[test]
fn content_length_is_written_exactly_with_nothing_after_the_body() {
    assert_eq!(written(ContentLength::new(100), b"{}").unwrap(), b"Content-Length: 2\r\n\r\n{}");
    assert_eq!(
        written(ContentLength::new(100), &[b' '; 100]).unwrap().len(),
        100 + "Content-Length: 100\r\n\r\n".len()
    );
    assert!(matches!(
        written(ContentLength::new(100), &[b' '; 101]),
        Err(FrameError::TooLarge { declared: 101, limit: 100 })
    ));
}

/// The specification's own sample declares 52 bytes for a body of 58; this is the sample with the right number.
#[test]
fn content_length_matches_the_corrected_hermes_sample() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let bytes = written(ContentLength::new(100), body.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), format!("Content-Length: 58\r\n\r\n{body}"));
}

#[test]
fn a_wrong_length_breaks_the_frame_after_it() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let log = content_length(&format!("Content-Length: 52\r\n\r\n{body}Content-Length: 2\r\n\r\n{{}}"));
    assert!(log.ends_with("fatal: `Content-Length` header is missing"), "{log}");
}

#[test]
fn lines_tolerate_crlf_blank_lines_and_a_missing_last_newline() {
    assert_eq!(lines(b"{}\n[]\r\n\n  \r\n\t\n1"), "frame {}\nframe []\nframe 1\nend");
    assert_eq!(lines(b""), "end");
    assert_eq!(lines(b"\n\n"), "end");
    assert_eq!(lines(b"a\r"), "frame a\nend");
}

#[test]
fn an_over_long_line_is_reported_once_and_skipped() {
    let refusal = "refused: line is over the limit of 10 bytes";
    assert_eq!(lines(b"12345678901\n{}\n"), format!("{refusal}\nframe {{}}\nend"));
    let long = vec![b'x'; 1_000_000];
    assert_eq!(lines(&[&long[..], b"\n{}\n"].concat()), format!("{refusal}\nframe {{}}\nend"));
    assert_eq!(lines(&long), format!("{refusal}\nend"));
}

#[test]
fn an_over_long_line_is_not_kept_while_it_is_skipped() {
    let mut codec = Lines::new(1000);
    let mut source = BytesMut::new();
    let mut refusals = 0;
    for _ in 0..10_000 {
        source.extend_from_slice(&[b'x'; 1000]);
        if codec.decode(&mut source).unwrap().is_some() {
            refusals += 1;
        }
        assert!(source.len() <= 2000);
        assert!(source.capacity() <= 8192, "the buffer grew to {}", source.capacity());
    }
    assert_eq!(refusals, 1);
    source.extend_from_slice(b"\n{}\n");
    assert!(matches!(codec.decode(&mut source), Ok(Some(Inbound::Frame(frame))) if frame == "{}"));
}

#[test]
fn a_line_at_the_cap_may_end_in_crlf() {
    assert_eq!(lines(b"1234567890\r\n"), "frame 1234567890\nend");
    assert_eq!(lines(b"1234567890\n"), "frame 1234567890\nend");
}

#[test]
fn lines_are_written_as_one_line_whatever_the_json_looked_like() {
    assert_eq!(written(Lines::new(100), b"{}").unwrap(), b"{}\n");
    assert_eq!(written(Lines::new(100), b"{\n \"a\":\r\n1}").unwrap(), b"{  \"a\":\r 1}\n");
    assert!(matches!(written(Lines::new(1), b"{}"), Err(FrameError::TooLarge { declared: 2, limit: 1 })));
}

#[test]
fn length_prefixed_reads_frames() {
    assert_eq!(
        prefixed(&[&2i32.to_be_bytes(), b"{}", &4i32.to_be_bytes(), b"null"]),
        "frame {}\nframe null\nend"
    );
}

#[test]
fn length_prefixed_refuses_zero_negative_and_over_limit_before_the_body() {
    assert_eq!(prefixed(&[&0i32.to_be_bytes()]), "fatal: frame length 0 is not positive");
    assert_eq!(prefixed(&[&(-1i32).to_be_bytes()]), "fatal: frame length -1 is not positive");
    assert_eq!(prefixed(&[&i32::MIN.to_be_bytes()]), "fatal: frame length -2147483648 is not positive");
    assert_eq!(prefixed(&[&11i32.to_be_bytes()]), "fatal: frame of 11 bytes is over the limit of 10");
    assert_eq!(prefixed(&[&10i32.to_be_bytes(), b"1234567890"]), "frame 1234567890\nend");
}

#[test]
fn length_prefixed_ends_cleanly_inside_the_prefix_and_not_inside_the_body() {
    for bytes in 0..4 {
        assert_eq!(prefixed(&[&2i32.to_be_bytes()[..bytes]]), "end");
    }
    assert_eq!(prefixed(&[&2i32.to_be_bytes()]), "fatal: stream ended 2 bytes before the frame did");
    assert_eq!(prefixed(&[&2i32.to_be_bytes(), b"{"]), "fatal: stream ended 1 bytes before the frame did");
}

#[test]
fn length_prefixed_writes_the_published_ping_vectors() {
    let ping = br#"{"type":"PING","requestId":"1","data":{}}"#;
    let plain = written(LengthPrefixed::plain(1 << 20), ping).unwrap();
    assert_eq!(plain, [&[0, 0, 0, 0x29][..], ping].concat());
    let tagged = written(LengthPrefixed::tagged(1 << 20, 4 << 20), ping).unwrap();
    assert_eq!(tagged, [&[0, 0, 0, 0x2a, 0][..], ping].concat());
}

#[test]
fn length_prefixed_refuses_to_write_what_nobody_may_read() {
    assert!(matches!(written(LengthPrefixed::plain(10), b""), Err(FrameError::NotPositive { declared: 0 })));
    assert!(matches!(
        written(LengthPrefixed::plain(10), &[b'x'; 11]),
        Err(FrameError::TooLarge { declared: 11, .. })
    ));
    assert!(matches!(
        written(LengthPrefixed::tagged(10, 40), &[b'x'; 11]),
        Err(FrameError::TooLarge { declared: 11, limit: 10 })
    ));
    assert!(matches!(
        written(LengthPrefixed::tagged(10, 40).compress_from(1), &[b'x'; 41]),
        Err(FrameError::TooLarge { declared: 41, limit: 40 })
    ));
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    std::io::Write::write_all(&mut encoder, body).unwrap();
    encoder.finish().unwrap()
}

fn tagged_frame(tag: u8, stored: &[u8]) -> Vec<u8> {
    [&(stored.len() as i32 + 1).to_be_bytes()[..], &[tag], stored].concat()
}

#[test]
fn tagged_frames_are_inflated_up_to_their_own_cap() {
    let mut codec = LengthPrefixed::tagged(200, 1000);
    let bytes =
        [tagged_frame(0, b"{}"), tagged_frame(1, &gzip(b"[1]")), tagged_frame(1, &gzip(&[b'x'; 1000]))]
            .concat();
    assert_eq!(
        read_all(&mut codec, &bytes),
        format!("frame {{}}\nframe [1]\nframe {}\nend", "x".repeat(1000))
    );
    let bomb = tagged_frame(1, &gzip(&[b'x'; 1001]));
    assert_eq!(
        read_all(&mut codec, &bomb),
        "fatal: compressed frame is over the limit of 1000 bytes once inflated"
    );
}

#[test]
fn tagged_frames_with_unknown_compression_or_damage_are_fatal() {
    let mut codec = LengthPrefixed::tagged(100, 100);
    assert_eq!(read_all(&mut codec, &tagged_frame(2, b"{}")), "fatal: compression 2 is unknown");
    let mut codec = LengthPrefixed::tagged(100, 100);
    assert_eq!(
        read_all(&mut codec, &tagged_frame(1, b"not gzip at all")),
        "fatal: compressed frame is damaged"
    );
    let mut codec = LengthPrefixed::tagged(100, 100);
    assert_eq!(read_all(&mut codec, &tagged_frame(0, b"")), "frame \nend");
    let mut codec = LengthPrefixed::tagged(10, 100);
    assert_eq!(
        read_all(&mut codec, &tagged_frame(0, &[b'x'; 11])),
        "fatal: frame of 12 bytes is over the limit of 11"
    );
}

#[test]
fn large_tagged_frames_are_compressed_and_small_ones_are_not() {
    let mut codec = LengthPrefixed::tagged(1 << 20, 4 << 20).compress_from(1024);
    let mut target = BytesMut::new();
    codec.encode(&[b'a'; 1023], &mut target).unwrap();
    assert_eq!(target[4], 0);
    target.clear();
    codec.encode(&[b'a'; 2048], &mut target).unwrap();
    assert_eq!(target[4], 1);
    assert!(target.len() < 200);
    assert_eq!(read_all(&mut codec, &target), format!("frame {}\nend", "a".repeat(2048)));
}

#[test]
fn a_body_written_in_its_place_makes_the_same_frame_or_leaves_nothing() {
    let codecs = [
        LengthPrefixed::plain(100),
        LengthPrefixed::tagged(100, 3000),
        LengthPrefixed::tagged(100, 3000).compress_from(50),
    ];
    for (codec, length) in
        codecs.iter().flat_map(|codec| [0, 1, 49, 50, 100, 101, 2000, 3001].map(|n| (codec, n)))
    {
        let body = vec![b'a'; length];
        let (mut copied, mut placed) = (BytesMut::from("before"), BytesMut::from("before"));
        let expected = codec.clone().encode(&body, &mut copied).map_err(|error| error.to_string());
        let done = codec.clone().encode_with(&mut placed, |target| {
            target.extend_from_slice(&body);
            Ok(())
        });
        assert_eq!(
            (done.map_err(|error| error.to_string()), placed),
            (expected, copied),
            "{codec:?} {length}"
        );
    }
    let mut target = BytesMut::from("before");
    let failed = LengthPrefixed::plain(100).encode_with(&mut target, |target| {
        target.extend_from_slice(b"half");
        Err(FrameError::NotPositive { declared: 7 })
    });
    assert!(failed.is_err() && target == "before");
}

#[test]
fn the_first_frame_shows_the_layout_and_answers_follow_it() {
    for (first, layout) in [
        ([&2i32.to_be_bytes()[..], b"{}"].concat(), Layout::Plain),
        ([&3i32.to_be_bytes()[..], b" {}"].concat(), Layout::Plain),
        ([&5i32.to_be_bytes()[..], b"\xEF\xBB\xBF{}"].concat(), Layout::Plain),
        (tagged_frame(0, b"{}"), Layout::Tagged),
        (tagged_frame(1, &gzip(b"{}")), Layout::Tagged),
    ] {
        let mut codec = LengthPrefixed::detect(100, 400);
        assert_eq!(codec.layout(), None);
        let mut source = BytesMut::from(&first[..]);
        assert!(matches!(codec.decode(&mut source), Ok(Some(Inbound::Frame(_)))));
        assert_eq!(codec.layout(), Some(layout));
        let mut target = BytesMut::new();
        codec.encode(b"{}", &mut target).unwrap();
        assert_eq!(target.len(), if layout == Layout::Plain { 6 } else { 7 });
    }
    let mut codec = LengthPrefixed::detect(100, 400);
    let strange = [&2i32.to_be_bytes()[..], b"xx"].concat();
    assert_eq!(
        read_all(&mut codec, &strange),
        "fatal: first byte 0x78 of the first frame belongs to no known layout"
    );
    let mut codec = LengthPrefixed::detect(3, 400);
    let over = [&4i32.to_be_bytes()[..], b"{  }"].concat();
    assert_eq!(read_all(&mut codec, &over), "fatal: frame of 4 bytes is over the limit of 3");
}

#[test]
fn a_large_declaration_alone_allocates_little() {
    let mut source = BytesMut::new();
    source.extend_from_slice(b"Content-Length: 1000000000\r\n\r\n{");
    let mut codec = ContentLength::new(2_000_000_000);
    assert!(codec.decode(&mut source).unwrap().is_none());
    assert!(source.capacity() < 200_000, "{}", source.capacity());

    let mut source = BytesMut::new();
    source.extend_from_slice(&1_000_000_000i32.to_be_bytes());
    source.extend_from_slice(b"{");
    let mut codec = LengthPrefixed::plain(2_000_000_000);
    assert!(codec.decode(&mut source).unwrap().is_none());
    assert!(source.capacity() < 200_000, "{}", source.capacity());
}
