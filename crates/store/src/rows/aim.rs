//! What an instruction is for and about, as part of its row.
//!
//! Knows what is stored of it. Refuses to know what is looked up for it.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{Aim, AimedFile, Purpose, Spot};
use serde::{Deserialize, Serialize};

use crate::rows::parts::{Str, Text, list, unlist};

/// What an instruction is for and about.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredAim<'a> {
    purpose: Text<Purpose>,
    files: Vec<StoredFile<'a>>,
    has_output: bool,
}

impl<'a> From<&'a Aim> for StoredAim<'a> {
    fn from(aim: &'a Aim) -> Self {
        let Aim { purpose, files, has_output } = aim;
        Self { purpose: Text(*purpose), files: list(files), has_output: *has_output }
    }
}

impl From<StoredAim<'_>> for Aim {
    fn from(row: StoredAim<'_>) -> Self {
        let StoredAim { purpose, files, has_output } = row;
        Self { purpose: purpose.0, files: unlist(files), has_output }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredFile<'a> {
    path: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spot: Option<StoredSpot>,
}

impl<'a> From<&'a AimedFile> for StoredFile<'a> {
    fn from(file: &'a AimedFile) -> Self {
        let AimedFile { path, spot } = file;
        Self { path: path.into(), spot: spot.map(Into::into) }
    }
}

impl From<StoredFile<'_>> for AimedFile {
    fn from(row: StoredFile<'_>) -> Self {
        let StoredFile { path, spot } = row;
        Self { path: path.into(), spot: spot.map(Into::into) }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredSpot {
    Selected { first: u32, last: u32 },
    Named { line: u32 },
    Cursor { line: u32 },
    Visible { first: u32, last: u32 },
}

impl From<Spot> for StoredSpot {
    fn from(spot: Spot) -> Self {
        match spot {
            Spot::Selected { first, last } => Self::Selected { first, last },
            Spot::Named { line } => Self::Named { line },
            Spot::Cursor { line } => Self::Cursor { line },
            Spot::Visible { first, last } => Self::Visible { first, last },
        }
    }
}

impl From<StoredSpot> for Spot {
    fn from(row: StoredSpot) -> Self {
        match row {
            StoredSpot::Selected { first, last } => Self::Selected { first, last },
            StoredSpot::Named { line } => Self::Named { line },
            StoredSpot::Cursor { line } => Self::Cursor { line },
            StoredSpot::Visible { first, last } => Self::Visible { first, last },
        }
    }
}
