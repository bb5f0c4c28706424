//! What holds for every codec, for any messages and any cutting of the stream.

use bytes::BytesMut;
use loggia_wire::framing::{Codec, ContentLength, Inbound, LengthPrefixed, Lines};
use proptest::prelude::*;

const CAP: usize = 64;

/// Feeds the pieces one after another; frames, refusals and the end as comparable values.
fn read_pieces<C: Codec>(mut codec: C, pieces: &[&[u8]]) -> Vec<Result<Vec<u8>, String>> {
    let mut out = Vec::new();
    let mut source = BytesMut::new();
    let mut take = |step: Result<Option<Inbound>, _>| match step {
        Ok(Some(Inbound::Frame(frame))) => {
            out.push(Ok(frame.to_vec()));
            true
        }
        Ok(Some(Inbound::Refused(error))) => {
            out.push(Err(format!("refused: {error}")));
            true
        }
        Ok(None) => false,
        Err::<_, loggia_wire::framing::FrameError>(error) => {
            out.push(Err(format!("fatal: {error}")));
            false
        }
    };
    for piece in pieces {
        source.extend_from_slice(piece);
        while take(codec.decode(&mut source)) {}
    }
    while take(codec.decode_eof(&mut source)) {}
    // After a fatal fault a stream is closed; what a codec would say to more bytes does not count.
    if let Some(fatal) = out.iter().position(|item| matches!(item, Err(text) if text.starts_with("fatal"))) {
        out.truncate(fatal + 1);
        // How much was missing depends on when the end was noticed only for truncation, which is last anyway.
    }
    out
}

fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn encode_all<C: Codec>(mut codec: C, bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut target = BytesMut::new();
    for body in bodies {
        codec.encode(body, &mut target).unwrap();
    }
    target.to_vec()
}

/// Bodies that are not blank and hold no line breaks, so that every framing keeps them as they are.
fn bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = any::<u8>().prop_filter("line breaks end lines", |byte| !matches!(byte, b'\n' | b'\r'));
    let body = prop::collection::vec(byte, 0..CAP).prop_map(|mut body| {
        body.insert(0, b'{');
        body
    });
    prop::collection::vec(body, 0..12)
}

/// Every reading gets a codec of its own: what one learns of its stream is not true of another.
fn check_split<C: Codec>(codec: impl Fn() -> C, bytes: &[u8], cuts: &[prop::sample::Index]) {
    let whole = read_pieces(codec(), &[bytes]);
    let pieces = read_pieces(codec(), &cut(bytes, cuts));
    assert_eq!(whole, pieces);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(whole, read_pieces(codec(), &single));
}

fn codecs_check(check: &dyn Fn(usize, &[Vec<u8>])) -> impl Fn(&[Vec<u8>]) {
    move |bodies| (0..5).for_each(|which| check(which, bodies))
}

/// Calls a generic check with each of the codecs.
macro_rules! each_codec {
    ($which:expr, |$codec:ident| $body:expr) => {
        match $which {
            0 => {
                let $codec = ContentLength::new(CAP);
                $body
            }
            1 => {
                let $codec = Lines::new(CAP);
                $body
            }
            2 => {
                let $codec = LengthPrefixed::plain(CAP);
                $body
            }
            3 => {
                let $codec = LengthPrefixed::tagged(CAP, CAP * 4);
                $body
            }
            _ => {
                let $codec = LengthPrefixed::tagged(CAP * 2, CAP * 4).compress_from(20);
                $body
            }
        }
    };
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(bodies in bodies()) {
        codecs_check(&|which, bodies| each_codec!(which, |codec| {
            let bytes = encode_all(codec.clone(), bodies);
            let expected: Vec<_> = bodies.iter().cloned().map(Ok).collect();
            assert_eq!(read_pieces(codec, &[&bytes]), expected);
        }))(&bodies);
    }

    #[test]
    fn any_split_gives_the_same_frames(bodies in bodies(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        codecs_check(&|which, bodies| each_codec!(which, |codec| {
            let bytes = encode_all(codec.clone(), bodies);
            check_split(|| codec.clone(), &bytes, &cuts);
        }))(&bodies);
    }

    #[test]
    fn any_split_of_any_bytes_gives_the_same_outcome(
        bytes in prop::collection::vec(prop_oneof![
            3 => any::<u8>().prop_map(|byte| vec![byte]),
            2 => Just(b"Content-Length: ".to_vec()),
            2 => Just(b"\r\n\r\n".to_vec()),
            1 => Just(b"\n".to_vec()),
            1 => (0i32..80).prop_map(|length| length.to_be_bytes().to_vec()),
            1 => (0u32..80).prop_map(|length| length.to_string().into_bytes()),
            1 => prop::collection::vec(any::<u8>(), 60..70),
        ], 0..30).prop_map(|parts| parts.concat()),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        (0..5).for_each(|which| each_codec!(which, |codec| check_split(|| codec.clone(), &bytes, &cuts)));
        check_split(|| LengthPrefixed::detect(CAP, CAP * 4), &bytes, &cuts);
    }
}

#[test]
fn sizes_at_the_cap_are_taken_and_one_more_is_not() {
    for which in 0..4 {
        for size in [CAP - 1, CAP, CAP + 1] {
            let body = vec![b'{'; size];
            each_codec!(which, |codec| {
                let fits = size <= CAP;
                let mut writer = codec.clone();
                let mut target = BytesMut::new();
                let encoded = tokio_util::codec::Encoder::encode(&mut writer, &body[..], &mut target);
                assert_eq!(encoded.is_ok(), fits, "writing {size} with codec {which}");
                assert!(fits || target.is_empty(), "a refused frame leaves bytes behind");
                // The same frame from somebody with a larger cap.
                let bytes = match which {
                    0 => encode_all(ContentLength::new(CAP * 2), std::slice::from_ref(&body)),
                    1 => encode_all(Lines::new(CAP * 2), std::slice::from_ref(&body)),
                    2 => encode_all(LengthPrefixed::plain(CAP * 2), std::slice::from_ref(&body)),
                    _ => encode_all(LengthPrefixed::tagged(CAP * 2, CAP * 4), std::slice::from_ref(&body)),
                };
                let read = read_pieces(codec, &[&bytes]);
                assert_eq!(
                    read.first() == Some(&Ok(body.clone())),
                    fits,
                    "reading {size} with codec {which}: {read:?}"
                );
            });
        }
    }
}
