//! A run of an agent, cut into replies.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Stream, StreamExt};
use loggia_domain::{
    AgentPart, AgentRun, AgentStream, AssistantMessage, CallId, CallResults, GuestCall, JsonText, ModelError,
    ModelErrorKind, ReplyPart, ToolOutcome, ToolSpec, Usage,
};
use serde_json::{Map, Value};

use crate::secrets::Masker;
use crate::session::{Said, State};
use crate::turn::context::told;
use crate::turn::guest::changes::Changes;
use crate::turn::guest::{failure, question};

/// How much is told of what an agent's own tool said: it is for people to look at, and the agent has it already.
const MAX_OWN_RESULT: usize = 4 << 10;

/// An agent at work.
pub(in crate::turn) struct Run {
    pub(super) agent: String,
    parts: AgentStream,
    results: Box<dyn CallResults>,
    /// Tools that take a reason.
    reasoned: HashSet<String>,
    /// The call whose result it waits for: our name of it, once it has one, and the agent's.
    waits: Option<(Option<CallId>, String)>,
    changes: Changes,
    /// What it asked people.
    questions: Vec<String>,
    is_over: bool,
}

impl Run {
    pub(super) fn new(agent: &str, run: AgentRun, tools: &[ToolSpec]) -> Self {
        let AgentRun { parts, results } = run;
        let reasoned = tools.iter().filter(|tool| takes_reason(tool)).map(|tool| tool.name.clone()).collect();
        Self {
            agent: agent.to_owned(),
            parts,
            results,
            reasoned,
            waits: None,
            changes: Changes::default(),
            questions: Vec::new(),
            is_over: false,
        }
    }

    /// Hands over what came of the call it waits for.
    pub(super) fn answer(&mut self, state: &State, masker: &Masker) {
        let Some((Some(call), theirs)) = self.waits.take() else { return };
        let result = masker.mask(&result_of(state, call)).into_owned();
        // If it is gone, the run says so itself; if it only does not want to know, it goes on without.
        if let Err(error) = self.results.give(&theirs, result) {
            tracing::warn!(agent = self.agent, %error, "an agent does not take the result of its call");
        }
    }

    /// What it says until it wants a tool called, or to its end.
    pub(super) fn segment(&mut self) -> Segment<'_> {
        Segment { run: self, used: None, is_over: false }
    }

    /// What follows a reply that was heard: the run goes on when its call is answered; or it is over, and the reply
    /// gets the call that makes the changes.
    pub(super) fn after(mut self, message: &mut AssistantMessage) -> Option<Self> {
        if self.is_over {
            message.calls.extend(self.changes.into_call());
            return None;
        }
        if let Some((ours, _)) = &mut self.waits {
            *ours = message.calls.last().map(|call| call.id);
        }
        Some(self)
    }

    /// What is to be told of a part; nothing if it is only noted. `used` is what the reply has used so far.
    fn take(&mut self, part: AgentPart, used: &mut Option<Usage>) -> Result<Option<ReplyPart>, ModelError> {
        Ok(Some(match part {
            AgentPart::Text(text) => ReplyPart::Text(text),
            AgentPart::Thought(text) => ReplyPart::Thought(text),
            AgentPart::File(path, content) => {
                let added = self.changes.add(path, content);
                return added
                    .map(|()| None)
                    .map_err(|message| ModelError::new(ModelErrorKind::Permanent, message));
            }
            AgentPart::Call(call) => self.call(call),
            AgentPart::OwnCall { id, result } => ReplyPart::Thought(aside(&format!(
                "its own tool call `{id}` came to: {}",
                shortened(&result, MAX_OWN_RESULT)
            ))),
            AgentPart::Usage(usage) => {
                let sum = used.map_or(usage, |before| before.plus(usage));
                *used = Some(sum);
                ReplyPart::Usage(sum)
            }
            AgentPart::Note(text) => ReplyPart::Thought(aside(&text)),
        }))
    }

    fn call(&mut self, call: GuestCall) -> ReplyPart {
        let GuestCall { id, tool, arguments, purpose } = call;
        if tool == question::ASK_PERSON {
            self.questions.extend(question::in_words(&arguments));
        }
        let arguments = match purpose.filter(|_| self.reasoned.contains(&tool)) {
            Some(purpose) => with_reason(arguments, purpose),
            None => arguments,
        };
        self.waits = Some((None, id.clone()));
        ReplyPart::Call { provider_id: Some(id), tool, arguments }
    }
}

/// One reply of a run.
pub(in crate::turn) struct Segment<'a> {
    run: &'a mut Run,
    used: Option<Usage>,
    is_over: bool,
}

impl Stream for Segment<'_> {
    type Item = Result<ReplyPart, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.is_over {
            let this = &mut *self;
            match ready!(this.run.parts.poll_next_unpin(context)) {
                Some(Ok(part)) => match this.run.take(part, &mut this.used) {
                    Ok(Some(part)) => {
                        this.is_over = matches!(part, ReplyPart::Call { .. });
                        return Poll::Ready(Some(Ok(part)));
                    }
                    Ok(None) => {}
                    Err(error) => return Poll::Ready(Some(Err(error))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(failure(&error)))),
                None => {
                    this.is_over = true;
                    this.run.is_over = true;
                    let asked = std::mem::take(&mut this.run.questions);
                    if !asked.is_empty() {
                        return Poll::Ready(Some(Ok(ReplyPart::Text(question::at_the_end(&asked)))));
                    }
                }
            }
        }
        Poll::Ready(None)
    }
}

/// What an agent is told of its call.
fn result_of(state: &State, call: CallId) -> String {
    let items = state.history.items();
    let is_answer = |said: &Said| matches!(said, Said::Tool { call: answered, .. } if answered.id == call);
    let Some(place) = items.iter().rposition(|item| is_answer(&item.said)) else {
        return told(&ToolOutcome::Cancelled).0;
    };
    let mut text = match &items[place].said {
        Said::Tool { outcome: ToolOutcome::Failed { message }, .. } => format!("The call failed: {message}"),
        Said::Tool { outcome, .. } => told(outcome).0,
        _ => String::new(),
    };
    // What else there is to know about it was said with it.
    let seq = items[place].seq;
    for item in items[place + 1..].iter().take_while(|item| item.seq == seq) {
        if let Said::Notice(notice) = &item.said {
            text.push_str("\n\n");
            text.push_str(notice);
        }
    }
    text
}

/// What is shown beside the answer, on lines of its own.
fn aside(text: &str) -> String {
    format!("[{text}]\n")
}

pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.floor_char_boundary(most) {
        end if end < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

fn takes_reason(tool: &ToolSpec) -> bool {
    let schema = serde_json::from_str::<Value>(&tool.parameters.0).unwrap_or_default();
    schema["properties"].get("reason").is_some()
}

/// Arguments with what the agent says the call is for, unless they say it themselves.
fn with_reason(arguments: JsonText, purpose: String) -> JsonText {
    match serde_json::from_str::<Map<String, Value>>(&arguments.0) {
        Ok(mut fields) if !fields.contains_key("reason") => {
            fields.insert("reason".to_owned(), Value::String(purpose));
            JsonText(Value::Object(fields).to_string())
        }
        _ => arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_is_for_becomes_its_reason_unless_it_has_one() {
        let check = |arguments: &str, expected: &str| {
            let given = with_reason(JsonText(arguments.to_owned()), "to see".to_owned());
            assert_eq!(given.0, expected);
        };
        check(r#"{"path":"a"}"#, r#"{"path":"a","reason":"to see"}"#);
        check(r#"{"reason":"mine"}"#, r#"{"reason":"mine"}"#);
        check("not json", "not json");
        check("[1]", "[1]");
    }
}
