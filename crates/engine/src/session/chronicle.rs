//! What happens in a session, as lines of the log and as marks on the span of its turn.
//!
//! Written where events are stored, so that the log never runs ahead of the journal. Refuses to know contents: no prompt,
//! no reply, no command line and no path gets from here into a log or to a collector.

use std::borrow::Cow;

use loggia_domain::{
    Actor as Who, ApprovalScope, CommandExit, Event, EventBody, ModelName, Question, Risk, SessionId,
    Timestamp, TurnEnd, TurnFailure, TurnId,
};
use tracing::field::Empty;
use tracing::{Span, info, info_span};

/// The turn under way, as the log sees it.
#[derive(Debug)]
pub(super) struct Chronicle {
    session: SessionId,
    /// When it began; nothing if that was before the session was loaded.
    began: Option<Timestamp>,
    /// The model it was begun with, or was given since.
    model: String,
    span: Span,
}

impl Chronicle {
    pub(super) fn new(session: SessionId) -> Self {
        Self { session, began: None, model: String::new(), span: Span::none() }
    }

    /// The span of a turn whose task begins.
    pub(super) fn begin_turn(&mut self, turn: Option<TurnId>, model: Option<ModelName>) -> Span {
        self.began.get_or_insert_with(Timestamp::now);
        self.model = model.map_or_else(|| "none".to_owned(), |model| model_word(&model).into_owned());
        self.span = info_span!(
            parent: None,
            "turn",
            session.id = %self.session,
            turn.id = turn.map(tracing::field::display),
            gen_ai.request.model = self.model,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            outcome = Empty,
            otel.status_code = Empty,
        );
        self.span.clone()
    }

    /// Tells of a stored event.
    pub(super) fn note(&mut self, event: &Event) {
        let session = self.session;
        match &event.body {
            EventBody::TurnStarted { by, .. } => {
                self.began = Some(event.at);
                info!(%session, by = name(by), "turn started");
            }
            EventBody::TurnContinued { by } => {
                self.began = Some(event.at);
                info!(%session, by = name(by), "turn continued");
            }
            EventBody::TurnEnded { end, usage, by } => {
                let ms = event.at.0.saturating_sub(self.began.take().unwrap_or(event.at).0);
                let (outcome, by) = (outcome(end), by.as_ref().map(name));
                let (tokens_in, tokens_out) = (usage.input, usage.output);
                info!(%session, outcome, by, ms, model = self.model, tokens_in, tokens_out, "turn ended");
                let span = std::mem::replace(&mut self.span, Span::none());
                span.record("gen_ai.usage.input_tokens", number(tokens_in));
                span.record("gen_ai.usage.output_tokens", number(tokens_out));
                span.record("outcome", outcome);
                if matches!(end, TurnEnd::Failed(_)) {
                    span.record("otel.status_code", "ERROR");
                }
            }
            EventBody::ModelChanged { model, .. } => self.model = model_word(model).into_owned(),
            EventBody::ApprovalAsked { question, risk, .. } => {
                info!(%session, about = about(question), risk = risk_word(*risk), "approval asked");
            }
            EventBody::ApprovalDecided { answer, by, .. } => {
                info!(%session, answer = scope_word(&answer.scope), by = name(by), "approval decided");
            }
            EventBody::ToolEnded { command: Some(command), milliseconds, .. } => {
                let (exit, ms) = (exit(command.exit), *milliseconds);
                info!(%session, exit, ms, "command ended");
            }
            EventBody::SessionClosed { by } => info!(%session, by = name(by), "session closed"),
            _ => {}
        }
    }
}

/// Whom an event names.
pub(crate) fn name(who: &Who) -> &str {
    match who {
        Who::Client { name, .. } => name,
        Who::Policy => "the policy",
        Who::Engine => "the engine",
    }
}

/// A model's name; of one that is a file only with the file's name.
pub(crate) fn model_word(model: &ModelName) -> Cow<'_, str> {
    let (provider, rest) = model.0.split_at(model.0.find(':').map_or(0, |colon| colon + 1));
    let is_file = provider == "scripted:" || rest.starts_with('/');
    match rest.rsplit_once('/') {
        Some((_, file)) if is_file => Cow::Owned(format!("{provider}{file}")),
        _ => Cow::Borrowed(&model.0),
    }
}

/// A number as collectors take it: one without a sign would reach them as a text.
pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// How much was allowed, in a word.
pub(crate) fn scope_word(scope: &ApprovalScope) -> &'static str {
    match scope {
        ApprovalScope::All => "allowed",
        ApprovalScope::None => "refused",
        ApprovalScope::Patches(_) | ApprovalScope::Hunks(_) => "allowed in part",
    }
}

fn outcome(end: &TurnEnd) -> &'static str {
    match end {
        TurnEnd::Done => "done",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Interrupted => "interrupted",
        TurnEnd::StepLimit => "step limit",
        TurnEnd::BudgetLimit => "budget limit",
        TurnEnd::Failed(TurnFailure::Model { .. }) => "failed: the model",
        TurnEnd::Failed(_) => "failed",
    }
}

fn about(question: &Question) -> &str {
    match question {
        Question::Patches { .. } => "changes of files",
        Question::Command { .. } => "a command",
        Question::Tool { tool, .. } => tool,
    }
}

fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

fn exit(exit: CommandExit) -> String {
    match exit {
        CommandExit::Code(code) => code.to_string(),
        CommandExit::Signal(signal) => format!("signal {signal}"),
        CommandExit::TimedOut => "timed out".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_a_file_is_told_without_its_path() {
        for (name, expected) in [
            ("scripted:/home/ada/secret/demo.toml", "scripted:demo.toml"),
            ("scripted:secret/demo.toml", "scripted:demo.toml"),
            ("scripted:demo", "scripted:demo"),
            ("local:/models/small.gguf", "local:small.gguf"),
            ("router:maker/model-2", "router:maker/model-2"),
            ("model", "model"),
            ("/models/small.gguf", "small.gguf"),
        ] {
            assert_eq!(model_word(&ModelName(name.to_owned())), expected);
        }
    }
}
