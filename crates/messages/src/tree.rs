//! Trees: what JSON, YAML and TOML have in common, and reading and writing it in each.
//!
//! Knows nothing of HL7. Numbers stay the text they were written as, so none changes on its way through.

pub(crate) mod document;
pub(crate) mod edit;
pub(crate) mod json;
mod json_splice;
pub(crate) mod node;
pub(crate) mod path;
pub(crate) mod toml;
mod toml_splice;
pub(crate) mod yaml;
mod yaml_splice;

use loggia_domain::MessageFormat;
use thiserror::Error;

use crate::limits::{MAX_DEPTH, MAX_MESSAGE, MAX_NODES};
use crate::tree::node::Node;

/// A format of trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeFormat {
    Json,
    Yaml,
    Toml,
}

/// Why a text is no tree in its format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum TreeError {
    #[error("it is no {format}: {why}")]
    Broken { format: &'static str, why: String },
    #[error("it has {0} bytes and at most {MAX_MESSAGE} are possible")]
    TooLong(usize),
    #[error("it nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("it has more than {MAX_NODES} values")]
    TooManyNodes,
    #[error("the key `{0}` is there twice")]
    Twice(String),
    #[error("{0}")]
    NoKey(&'static str),
}

/// Why a tree cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum WriteError {
    #[error("TOML has no empty value, and there is one at `{0}`")]
    Null(String),
    #[error("a TOML document is a table, and this is {0}")]
    NoTable(&'static str),
    #[error("TOML cannot hold the number {0}")]
    Number(String),
}

impl TreeFormat {
    /// The format of that name, unless it is HL7.
    pub(crate) fn of(format: MessageFormat) -> Option<Self> {
        match format {
            MessageFormat::Hl7 => None,
            MessageFormat::Json => Some(Self::Json),
            MessageFormat::Yaml => Some(Self::Yaml),
            MessageFormat::Toml => Some(Self::Toml),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        }
    }

    /// Reads a text.
    pub(crate) fn read(self, text: &str) -> Result<Node, TreeError> {
        if text.len() > MAX_MESSAGE {
            return Err(TreeError::TooLong(text.len()));
        }
        match self {
            Self::Json => json::read(text),
            Self::Yaml => yaml::read(text),
            Self::Toml => toml::read(text),
        }
    }

    /// Writes a tree as a whole document.
    pub(crate) fn write(self, node: &Node) -> Result<String, WriteError> {
        match self {
            Self::Json => Ok(json::write(node)),
            Self::Yaml => Ok(yaml::write(node)),
            Self::Toml => toml::write(node),
        }
    }
}
