//! Scripts as they are played, read from how people write them.
//!
//! Knows the fields of a script and what they mean. Refuses to know how a reply is played.
//! Invariant: whatever was written is in the script that is read, or the script is refused.

use std::time::Duration;

use loggia_domain::{JsonText, ModelName, ReplyPart, Usage};
use serde::Deserialize;

use crate::scripted::fields::{Fields, ScriptError};

/// A window that no test fills by accident.
const CONTEXT_TOKENS: u64 = 200_000;

/// What a model will say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub(super) context_tokens: u64,
    /// Whether the model can look at images.
    pub(super) images: bool,
    /// Whether the model thinks, and can be told how much.
    pub(super) thinks: bool,
    pub(super) replies: Vec<Reply>,
}

/// One reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) expect: Option<String>,
    /// How many requests it serves.
    pub(super) repeat: u64,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Option<Usage>,
}

/// One thing that happens in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Say(ReplyPart),
    Tokens { count: u64, text: String },
    Wait(Duration),
    Hang,
    Fail { kind: ErrorKind, message: String, retry_after: Option<Duration> },
}

/// What kind of error a script lets happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorKind {
    Transient,
    TooLong,
    Permanent,
}

/// How `repeat` is written.
#[derive(Deserialize)]
#[serde(untagged, expecting = "it is a number, or true for without end")]
enum Repeat {
    Times(u64),
    Always(bool),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut fields = Fields::parse(text, "a script")?;
        let context_tokens = fields.take("context_tokens")?.unwrap_or(CONTEXT_TOKENS);
        let images = fields.take("images")?.unwrap_or(false);
        let thinks = fields.take("thinks")?.unwrap_or(false);
        let replies = fields.tables("reply", "a reply")?.into_iter().map(reply).collect::<Result<_, _>>()?;
        fields.finish()?;
        Ok(Self { context_tokens, images, thinks, replies })
    }
}

fn reply(mut fields: Fields<'_>) -> Result<Reply, ScriptError> {
    let expect = fields.take("expect")?;
    let repeat = match fields.take("repeat")? {
        None => 1,
        Some(Repeat::Always(true)) => u64::MAX,
        Some(Repeat::Times(times)) if times > 0 => times,
        Some(_) => return Err(fields.fault("a reply that is never given does not belong in a script")),
    };
    let delay = fields.take("delay_ms")?.map(|time| Part::Wait(Duration::from_millis(time)));
    let parts = fields.tables("parts", "a part")?.into_iter().map(part);
    let parts = delay.into_iter().map(Ok).chain(parts).collect::<Result<_, _>>()?;
    let usage = fields.table("usage", "the usage")?.map(usage).transpose()?;
    fields.finish()?;
    Ok(Reply { expect, repeat, parts, usage })
}

fn part(mut fields: Fields<'_>) -> Result<Part, ScriptError> {
    let said = [
        fields.take("text")?.map(|text| Part::Say(ReplyPart::Text(text))),
        fields.take("thought")?.map(|text| Part::Say(ReplyPart::Thought(text))),
        fields.table("call", "a call")?.map(call).transpose()?,
        fields.table("tokens", "a part of tokens")?.map(tokens).transpose()?,
        fields.take("wait_ms")?.map(|time| Part::Wait(Duration::from_millis(time))),
        fields.take("hang")?.filter(|hang| *hang).map(|_| Part::Hang),
        fields.table("error", "an error")?.map(error).transpose()?,
        fields.table("switched", "a switch")?.map(switched).transpose()?,
    ];
    let mut said = said.into_iter().flatten();
    let (first, second) = (said.next(), said.next());
    let one_thing = fields.fault(
        "a part is one of `text`, `thought`, `call`, `tokens`, `wait_ms`, `hang = true`, `error` and `switched`",
    );
    fields.finish()?;
    match (first, second) {
        (Some(part), None) => Ok(part),
        _ => Err(one_thing),
    }
}

fn call(mut fields: Fields<'_>) -> Result<Part, ScriptError> {
    let provider_id = fields.take("id")?;
    let tool = fields.need("tool")?;
    let arguments: Option<toml::Table> = fields.take("arguments")?;
    let arguments = match (arguments, fields.take("raw_arguments")?) {
        (Some(table), None) => json_object(table).map_err(|reason| fields.fault(&reason))?.to_string(),
        (None, Some(raw)) => raw,
        (None, None) => "{}".to_owned(),
        (Some(_), Some(_)) => {
            return Err(fields.fault("a call has `arguments` or `raw_arguments`, not both"));
        }
    };
    fields.finish()?;
    Ok(Part::Say(ReplyPart::Call { provider_id, tool, arguments: JsonText(arguments) }))
}

fn tokens(mut fields: Fields<'_>) -> Result<Part, ScriptError> {
    let (count, text) = (fields.need("count")?, fields.need("text")?);
    fields.finish()?;
    Ok(Part::Tokens { count, text })
}

fn error(mut fields: Fields<'_>) -> Result<Part, ScriptError> {
    let (kind, message) = (fields.need("kind")?, fields.need("message")?);
    let retry_after = fields.take("retry_after_ms")?.map(Duration::from_millis);
    if retry_after.is_some() && kind != ErrorKind::Transient {
        return Err(fields.fault("only a transient error has `retry_after_ms`"));
    }
    fields.finish()?;
    Ok(Part::Fail { kind, message, retry_after })
}

fn switched(mut fields: Fields<'_>) -> Result<Part, ScriptError> {
    let (from, to) = (ModelName(fields.need("from")?), ModelName(fields.need("to")?));
    let reason = fields.need("reason")?;
    fields.finish()?;
    Ok(Part::Say(ReplyPart::Switched { from, to, reason }))
}

fn usage(mut fields: Fields<'_>) -> Result<Usage, ScriptError> {
    let usage = Usage {
        input: fields.take("input")?.unwrap_or_default(),
        cached: fields.take("cached")?.unwrap_or_default(),
        output: fields.take("output")?.unwrap_or_default(),
        micro_dollars: fields.take("micro_dollars")?,
    };
    fields.finish()?;
    Ok(usage)
}

fn json_object(table: toml::Table) -> Result<serde_json::Value, String> {
    table.into_iter().map(|(name, value)| Ok((name, json(value)?))).collect()
}

/// The same value in JSON. A date becomes its text.
fn json(value: toml::Value) -> Result<serde_json::Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => {
            let number = serde_json::Number::from_f64(number);
            number.ok_or("JSON has no such number as `nan` or `inf`")?.into()
        }
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => json_object(table)?,
    })
}
