//! Random secrets, and what is kept of them.
//!
//! A token is `loggia_` and 64 hexadecimal digits: the prefix lets people and scanners see what they have found. Only its
//! SHA-256 is kept; with 256 random bits there is nothing to try out, so a slow hash would only slow us down.

use std::io;

use loggia_domain::ContentHash;
use loggia_protocol_agent_server::PAIRING_CODE_LENGTH;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What every token begins with.
pub(crate) const TOKEN_PREFIX: &str = "loggia_";

/// Random bytes in a token.
const TOKEN_BYTES: usize = 32;

/// Letters and digits of pairing codes, without those that are taken for each other. 32 of them, five bits each.
const CODE_ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// The SHA-256 of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SecretHash([u8; 32]);

impl SecretHash {
    /// Of this secret.
    pub(crate) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Whether two are the same, in the same time wherever they differ.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// As it is written down.
    pub(crate) fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// From what was written down.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        // A hash of the same kind, so it is read in the same way.
        ContentHash::from_hex(text).map(|ContentHash(bytes)| Self(bytes))
    }
}

/// A new token.
///
/// # Errors
/// If the system gives no random bytes.
pub(crate) fn new_token() -> io::Result<String> {
    Ok(format!("{TOKEN_PREFIX}{}", hex(&random::<TOKEN_BYTES>()?)))
}

/// Whether a text has a token's form.
pub(crate) fn is_token(text: &str) -> bool {
    let digits = text.strip_prefix(TOKEN_PREFIX);
    digits.is_some_and(|digits| {
        digits.len() == 2 * TOKEN_BYTES && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// A new code for a page: as long as a token, since it may stand in the history of a browser.
///
/// # Errors
/// If the system gives no random bytes.
pub(crate) fn new_page_code() -> io::Result<String> {
    Ok(hex(&random::<TOKEN_BYTES>()?))
}

/// Whether a text has the form of a code for a page; those that people type are far shorter.
pub(crate) fn is_page_code(text: &str) -> bool {
    text.len() == 2 * TOKEN_BYTES
}

/// A new pairing code.
///
/// # Errors
/// If the system gives no random bytes.
pub(crate) fn new_code() -> io::Result<String> {
    let letter = |byte: u8| char::from(CODE_ALPHABET[usize::from(byte) % CODE_ALPHABET.len()]);
    Ok(random::<PAIRING_CODE_LENGTH>()?.into_iter().map(letter).collect())
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_have_one_form() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert_ne!(one, other);
        assert!(is_token(&one) && one.len() == 71);
        for text in ["", "loggia_", &one[..70], &one[7..], "loggia_zz"] {
            assert!(!is_token(text), "{text}");
        }
    }

    #[test]
    fn a_hash_is_read_back() {
        let hash = SecretHash::of("abc");
        assert_eq!(hash.to_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(SecretHash::from_hex(&hash.to_hex()).unwrap().is(&hash));
        assert!(!SecretHash::of("abd").is(&hash));
        assert_eq!(SecretHash::from_hex("ba78"), None);
        assert_eq!(SecretHash::from_hex(&"g".repeat(64)), None);
    }

    #[test]
    fn codes_can_be_read_aloud() {
        let code = new_code().unwrap();
        assert_eq!(code.len(), PAIRING_CODE_LENGTH);
        assert!(code.bytes().all(|letter| CODE_ALPHABET.contains(&letter)), "{code}");
    }
}
