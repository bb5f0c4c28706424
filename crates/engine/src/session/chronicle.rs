//! What happens in a session, as lines of the log and as marks on the span of its turn.
//!
//! Written where events are stored, so that the log never runs ahead of the journal. Refuses to know contents: no prompt,
//! no reply, no command line and no path gets from here into a log or to a collector.

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
        self.model = model.map_or_else(|| "none".to_owned(), |model| model.0);
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
                span.record("gen_ai.usage.input_tokens", tokens_in);
                span.record("gen_ai.usage.output_tokens", tokens_out);
                span.record("outcome", outcome);
                if matches!(end, TurnEnd::Failed(_)) {
                    span.record("otel.status_code", "ERROR");
                }
            }
            EventBody::ModelChanged { model, .. } => self.model.clone_from(&model.0),
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
