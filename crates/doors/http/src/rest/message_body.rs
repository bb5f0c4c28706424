//! Messages as clients see them. Pure translations, both ways.

use loggia_domain::{MessageError, MessageFormat, MessageKind, MessagePatch, SchemaMoment, WorkspaceId};
use loggia_protocol_agent_server as wire;
use wire::ProblemType;

use crate::problem::Problem;
use crate::rest::Answer;

pub(super) fn message(workspace: &WorkspaceId, open: loggia_domain::OpenMessage) -> wire::OpenMessage {
    wire::OpenMessage {
        message_id: wire::MessageId(open.id.to_string()),
        workspace_id: wire::WorkspaceId(workspace.to_string()),
        path: open.path,
        file: open.file.map(|file| file.to_string_lossy().into_owned()),
        format: wire_format(native(open.kind)),
        revision: open.revision,
        unsaved: open.unsaved,
        can_undo: open.can_undo,
        can_redo: open.can_redo,
        bytes: open.bytes,
    }
}

/// What a message of a kind is written in.
pub(super) fn native(kind: MessageKind) -> MessageFormat {
    match kind {
        MessageKind::Hl7 => MessageFormat::Hl7,
        MessageKind::Json => MessageFormat::Json,
        MessageKind::Yaml => MessageFormat::Yaml,
        MessageKind::Toml => MessageFormat::Toml,
    }
}

pub(super) fn wire_format(format: MessageFormat) -> wire::MessageFormat {
    match format {
        MessageFormat::Hl7 => wire::MessageFormat::Hl7,
        MessageFormat::Json => wire::MessageFormat::Json,
        MessageFormat::Yaml => wire::MessageFormat::Yaml,
        MessageFormat::Toml => wire::MessageFormat::Toml,
    }
}

/// The format that a body names.
pub(super) fn format_sent(pointer: &str, format: &wire::MessageFormat) -> Answer<MessageFormat> {
    known_format(format).ok_or_else(|| Problem::field(pointer, "must be `hl7`, `json`, `yaml` or `toml`"))
}

/// The format that a query names.
pub(super) fn format_named(word: &str) -> Answer<MessageFormat> {
    let format = known_format(&wire::MessageFormat::from(word.to_owned()));
    format.ok_or_else(|| Problem::bad_request("format: must be `hl7`, `json`, `yaml` or `toml`"))
}

fn known_format(format: &wire::MessageFormat) -> Option<MessageFormat> {
    Some(match format {
        wire::MessageFormat::Hl7 => MessageFormat::Hl7,
        wire::MessageFormat::Json => MessageFormat::Json,
        wire::MessageFormat::Yaml => MessageFormat::Yaml,
        wire::MessageFormat::Toml => MessageFormat::Toml,
        wire::MessageFormat::Other(_) => return None,
    })
}

pub(super) fn domain_patch(patch: wire::MessagePatch) -> MessagePatch {
    let wire::MessagePatch { path, value, remove, create } = patch;
    MessagePatch { path, value, remove, create }
}

pub(super) fn patched(workspace: &WorkspaceId, done: loggia_domain::PatchedMessage) -> wire::PatchedMessage {
    let refused = |patch: loggia_domain::RefusedPatch| wire::RefusedPatch {
        index: patch.index as u64,
        path: patch.path,
        message: patch.why,
    };
    wire::PatchedMessage {
        message: message(workspace, done.message),
        applied: done.applied as u64,
        refused: done.refused.into_iter().map(refused).collect(),
    }
}

pub(super) fn finding(finding: loggia_domain::MessageFinding) -> wire::MessageFinding {
    wire::MessageFinding {
        path: finding.path,
        severity: match finding.wrong {
            true => wire::FindingSeverity::Error,
            false => wire::FindingSeverity::Warning,
        },
        message: finding.what,
    }
}

pub(super) fn schema(schema: loggia_domain::MessageSchema) -> wire::MessageSchema {
    let fields = |(name, fields): (String, Vec<loggia_domain::SchemaField>)| {
        (name, fields.into_iter().map(field).collect())
    };
    wire::MessageSchema { segments: schema.segments.into_iter().map(fields).collect() }
}

fn field(field: loggia_domain::SchemaField) -> wire::SchemaField {
    wire::SchemaField {
        field: u16::from(field.field),
        component: field.component.map(u16::from),
        name: field.name,
        group: field.group,
        note: field.note,
        required: field.required,
        min_length: field.shortest,
        max_length: field.longest,
        pattern: field.pattern,
        data_type: field.moment.map(|moment| match moment {
            SchemaMoment::Date => wire::FieldDataType::Date,
            SchemaMoment::DateTime => wire::FieldDataType::DateTime,
        }),
        placeholder: field.placeholder,
        values: field.values,
        template: field.template,
    }
}

impl From<MessageError> for Problem {
    fn from(error: MessageError) -> Self {
        let (kind, hint) = match &error {
            MessageError::NoneOpen => (ProblemType::NotFound, Some("`POST /v1/messages` opens one")),
            MessageError::Empty => {
                (ProblemType::Conflict, Some("`PUT /v1/messages/{message_id}/text` gives it one"))
            }
            MessageError::BadText(_) | MessageError::BadPath(_) | MessageError::BadFormat(_) => {
                (ProblemType::InvalidBody, None)
            }
            MessageError::BadFile(_) => (ProblemType::InvalidBody, None),
            MessageError::NoFile => (ProblemType::Conflict, Some("save it with a `path`")),
            MessageError::Conflict(_) | MessageError::NoStep(_) => (ProblemType::Conflict, None),
        };
        Self::of(kind, error.to_string()).hint(hint.map(str::to_owned))
    }
}
