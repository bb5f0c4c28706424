//! How many colours a terminal shows.

use serde::{Deserialize, Serialize};

/// A terminal's colour depth, told once in `HELLO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ColorLevel {
    /// No escape sequences at all.
    None,
    /// Eight colours.
    #[serde(rename = "INDEXED_8")] // the casing rule puts no underscore before a digit
    Indexed8,
    /// Sixteen colours.
    #[serde(rename = "INDEXED_16")] // as above
    Indexed16,
    /// 256 colours.
    #[serde(rename = "INDEXED_256")] // as above
    Indexed256,
    /// 24 bits.
    TrueColor,
}

impl ColorLevel {
    /// Every level, from least to most.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Indexed8, Self::Indexed16, Self::Indexed256, Self::TrueColor];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Indexed8 => "INDEXED_8",
            Self::Indexed16 => "INDEXED_16",
            Self::Indexed256 => "INDEXED_256",
            Self::TrueColor => "TRUE_COLOR",
        }
    }

    /// The level of that name, in exactly that case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}
