//! Numbers and texts one after the other: how an order is written down.
//!
//! Texts are raw bytes with their length before them, since paths and variables need not be UTF-8. Knows nothing
//! of what the fields mean. A field that is cut short is never read as a shorter one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Fields being written.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.number(flag.into());
    }

    pub(super) fn text(&mut self, text: impl AsRef<OsStr>) {
        let bytes = text.as_ref().as_bytes();
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// How many there are, then each.
    pub(super) fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }

    /// Whether there is one, then the one.
    pub(super) fn maybe<T>(&mut self, item: Option<&T>, each: impl FnOnce(&mut Self, &T)) {
        self.flag(item.is_some());
        if let Some(item) = item {
            each(self, item);
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Fields being read; nothing as soon as one is damaged.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_be_bytes(*number))
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(super) fn text(&mut self) -> Option<OsString> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(OsString::from_vec(text.to_vec()))
    }

    pub(super) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        // Collected one by one: a length that lies fails at the end of the bytes, before it costs memory.
        let mut items = Vec::new();
        for _ in 0..self.number()? {
            items.push(each(self)?);
        }
        Some(items)
    }

    pub(super) fn maybe<T>(&mut self, each: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { each(self).map(Some) } else { Some(None) }
    }

    /// Whether everything has been read.
    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}
