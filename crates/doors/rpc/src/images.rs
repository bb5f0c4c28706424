//! Images that come with a prompt: judged, undone from base64, kept.
//!
//! Looking at them is pure. One that no provider would take must not get into a conversation: every later request of its
//! session would carry it, and fail.
//!
//! What always holds: whatever is wrong with an image is told, and keeps neither the text nor other images out.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use loggia_domain::{Image, Timestamp};
use loggia_engine::{Engine, MAX_IMAGE_NAME, MAX_IMAGES, MAX_IMAGES_BYTES};
use loggia_protocol_autohand::{ErrorParams, ImageAttachment, codes};

use crate::tell::moment::moment;

/// Clients leave the padding out, or do not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What each kind of image begins with.
const BEGINNINGS: &[(&str, &[u8])] = &[
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
];

/// An image that can be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Usable {
    /// Its place in the prompt, counted from 1.
    number: usize,
    media_type: &'static str,
    name: Option<String>,
    bytes: Vec<u8>,
}

/// Which images can be shown, and what the user must know of the others.
pub(crate) fn look(
    images: &[ImageAttachment],
    model_sees: bool,
    now: Timestamp,
) -> (Vec<Usable>, Vec<ErrorParams>) {
    let (mut usable, mut errors) = (Vec::new(), Vec::new());
    let (mut sound, mut room) = (0, MAX_IMAGES_BYTES);
    for (place, image) in images.iter().take(MAX_IMAGES).enumerate() {
        let number = place + 1;
        let looked = image.check().map_err(|fault| fault.to_string());
        let looked = match looked {
            // Nobody will look at it, so nobody has to make sense of it.
            Ok(()) if !model_sees => Ok(None),
            Ok(()) => open(number, image, &mut room).map(Some),
            Err(fault) => Err(fault),
        };
        match looked {
            Ok(image) => {
                sound += 1;
                usable.extend(image);
            }
            Err(why) => {
                errors.push(error(codes::INVALID_PARAMS, format!("image {number} was left out: {why}"), now));
            }
        }
    }
    if images.len() > MAX_IMAGES {
        let why = format!("only the first {MAX_IMAGES} of {} images are looked at", images.len());
        errors.push(error(codes::INVALID_PARAMS, why, now));
    }
    if sound > 0 && !model_sees {
        let why = "the model cannot look at images; the text is worked on without them".to_owned();
        errors.push(error(codes::EXECUTION_ERROR, why, now));
    }
    (usable, errors)
}

/// Keeps images where the session finds them again.
pub(crate) async fn keep(
    engine: &Engine,
    images: Vec<Usable>,
    now: Timestamp,
) -> (Vec<Image>, Vec<ErrorParams>) {
    let (mut kept, mut errors) = (Vec::new(), Vec::new());
    for Usable { number, media_type, name, bytes } in images {
        match engine.keep_image(media_type, name, bytes).await {
            Ok(image) => kept.push(image),
            Err(fault) => {
                let why = format!("image {number} was left out: {fault}");
                errors.push(error(codes::EXECUTION_ERROR, why, now));
            }
        }
    }
    (kept, errors)
}

fn open(number: usize, image: &ImageAttachment, room: &mut u64) -> Result<Usable, String> {
    let digits: Vec<u8> = image.payload().bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = BASE64.decode(digits).map_err(|fault| format!("its data is not base64 ({fault})"))?;
    // What it is counts, not what it is called: providers compare the two.
    let media_type = kind(&bytes).ok_or("its data is no png, jpeg, gif or webp image")?;
    *room = room
        .checked_sub(bytes.len() as u64)
        .ok_or_else(|| format!("the images of one prompt have at most {MAX_IMAGES_BYTES} bytes together"))?;
    let name = image.filename.as_deref().and_then(name);
    Ok(Usable { number, media_type, name, bytes })
}

/// What an image is, by its first bytes.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    BEGINNINGS.iter().find(|(_, beginning)| bytes.starts_with(beginning)).map(|(kind, _)| *kind)
}

/// A name as it can stand in brackets on one line.
fn name(given: &str) -> Option<String> {
    let mut name: String = given.chars().filter(|char| !char.is_control() && !"[]".contains(*char)).collect();
    name.truncate(name.floor_char_boundary(MAX_IMAGE_NAME));
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn error(code: i64, message: String, now: Timestamp) -> ErrorParams {
    ErrorParams { code, message, recoverable: true, error_type: None, timestamp: moment(now) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(data: impl AsRef<[u8]>, mime_type: &str) -> ImageAttachment {
        ImageAttachment { data: BASE64.encode(data), mime_type: mime_type.to_owned(), filename: None }
    }

    fn png() -> ImageAttachment {
        attached(b"\x89PNG\r\n\x1a\nrest", "image/png")
    }

    fn told(images: &[ImageAttachment], sees: bool) -> (Vec<&'static str>, Vec<(i64, String)>) {
        let (usable, errors) = look(images, sees, Timestamp(0));
        assert!(errors.iter().all(|error| error.recoverable));
        let kinds = usable.iter().map(|image| image.media_type).collect();
        (kinds, errors.into_iter().map(|error| (error.code, error.message)).collect())
    }

    #[test]
    fn images_are_known_by_what_they_hold() {
        let images = [
            png(),
            attached(b"\xff\xd8\xff\xe0", "image/png"),
            attached(b"GIF89a", "image/gif"),
            attached(b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ];
        let kinds = vec!["image/png", "image/jpeg", "image/gif", "image/webp"];
        assert_eq!(told(&images, true), (kinds, Vec::new()));
    }

    #[test]
    fn data_may_be_wrapped_prefixed_and_without_padding() {
        let plain = png();
        let (head, tail) = plain.data.trim_end_matches('=').split_at(6);
        for data in [format!("{head}\r\n{tail}"), format!("data:image/png;base64,{}", plain.data)] {
            let image = ImageAttachment { data, ..plain.clone() };
            assert_eq!(told(&[image], true), (vec!["image/png"], Vec::new()));
        }
    }

    #[test]
    fn what_no_model_could_look_at_is_left_out_and_told_one_by_one() {
        let broken = ImageAttachment { data: "%%%".to_owned(), ..png() };
        let images = [attached(b"BM", "image/bmp"), broken, attached(b"hello", "image/png"), png()];
        let (kinds, errors) = told(&images, true);
        assert_eq!(kinds, ["image/png"]);
        let places: Vec<&str> = errors.iter().map(|(_, why)| why.split(" was").next().unwrap()).collect();
        assert_eq!(places, ["image 1", "image 2", "image 3"]);
        assert!(errors.iter().all(|(code, _)| *code == codes::INVALID_PARAMS), "{errors:?}");
    }

    #[test]
    fn a_model_that_cannot_look_is_told_of_once() {
        let (kinds, errors) = told(&[png(), attached(b"BM", "image/bmp"), png()], false);
        assert!(kinds.is_empty());
        let codes: Vec<i64> = errors.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, [codes::INVALID_PARAMS, codes::EXECUTION_ERROR]);
        assert!(told(&[attached(b"BM", "image/bmp")], false).1.len() == 1, "nothing is left to be shown");
    }

    #[test]
    fn only_so_many_are_taken() {
        let images = vec![png(); MAX_IMAGES + 5];
        let (kinds, errors) = told(&images, true);
        assert_eq!((kinds.len(), errors.len()), (MAX_IMAGES, 1));
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.resize(10 << 20, 0);
        let large = vec![attached(bytes, "image/png"); 4];
        let (kinds, errors) = told(&large, true);
        assert_eq!((kinds.len(), errors.len()), (3, 1));
        assert!(errors[0].1.contains("together"), "{errors:?}");
    }

    #[test]
    fn names_stand_in_brackets_on_one_line() {
        assert_eq!(name("a\n]shot[ 1.png").as_deref(), Some("ashot 1.png"));
        assert_eq!(name("\u{7}[]"), None);
        assert_eq!(name(&"ä".repeat(200)).unwrap().len(), MAX_IMAGE_NAME);
    }
}
