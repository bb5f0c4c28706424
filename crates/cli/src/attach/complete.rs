//! What the word at the cursor may become, as the server says.
//!
//! The editor asks and goes on; the answer is picked up when it is there. What always holds: an answer is used for the line
//! and the place it was asked for, and for no other; somebody who types on is never kept waiting.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loggia_endermux_io::Client;
use loggia_endermux_io::words::{Parsed, Reading};
use loggia_protocol_endermux::CandidateInfo;
use reedline::{Completer, CompletionResult, CompletionStatus, Span, Suggestion, Suggestions};
use tokio::sync::watch;

use super::lines::one_line;

/// How long an answer may take; then there is none. It is two requests, each of which has five seconds.
const LIMIT: Duration = Duration::from_secs(10);

/// How many are offered: a menu of more helps nobody.
const MAX_CANDIDATES: usize = 500;

/// A line and a place in it.
type Place = (String, usize);

/// Where questions and answers lie.
#[derive(Debug, Default)]
pub(super) struct Desk {
    asked: watch::Sender<Option<Place>>,
    answer: Mutex<Option<(Place, Suggestions)>>,
}

impl Desk {
    /// Forgets what was answered: the same line may now become something else.
    pub(super) fn forget(&self) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Answers, for as long as it is polled. Only the newest question counts.
    pub(super) async fn serve(&self, client: watch::Receiver<Option<Client>>) {
        let mut asked = self.asked.subscribe();
        while asked.changed().await.is_ok() {
            let Some(place) = asked.borrow_and_update().clone() else { continue };
            let now = client.borrow().clone();
            let answered = async {
                let client = now?;
                Some(suggestions(&client, &place).await)
            };
            let found = tokio::time::timeout(LIMIT, answered).await.ok().flatten().unwrap_or_default();
            let answer = Some((place, found.into()));
            *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        }
    }

    fn answer_to(&self, place: &Place) -> Option<Suggestions> {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.as_ref().filter(|(answered, _)| answered == place).map(|(_, found)| Arc::clone(found))
    }
}

/// The editor's side.
pub(super) struct Remote {
    desk: Arc<Desk>,
    waiting: Option<Place>,
}

impl Remote {
    pub(super) fn new(desk: &Arc<Desk>) -> Self {
        Self { desk: Arc::clone(desk), waiting: None }
    }
}

impl Completer for Remote {
    fn complete(&mut self, line: &str, at: usize) -> CompletionResult {
        let place = (line.to_owned(), at);
        if let Some(found) = self.desk.answer_to(&place) {
            return CompletionResult::fresh(found);
        }
        self.desk.asked.send_replace(Some(place.clone()));
        self.waiting = Some(place);
        CompletionResult::Pending
    }

    fn poll_completion(&mut self) -> CompletionStatus {
        let Some(waiting) = &self.waiting else { return CompletionStatus::Idle };
        if self.desk.answer_to(waiting).is_none() {
            return CompletionStatus::Pending;
        }
        self.waiting = None;
        CompletionStatus::Ready
    }
}

/// Asks for the words first: a server may want to be asked about another line than the one that was typed.
async fn suggestions(client: &Client, (line, at): &Place) -> Vec<Suggestion> {
    // Whatever went wrong, there is nothing to offer; a person at a line does not want to read why.
    let read = client.parse(line, *at).await.unwrap_or_else(|_| Reading::by_spaces(line, *at));
    let span = span(line, *at, &read.parsed);
    let candidates = client.complete(&read.line, read.at).await.unwrap_or_default();
    let candidates = candidates.into_iter().take(MAX_CANDIDATES);
    candidates.filter_map(|candidate| suggestion(candidate, span)).collect()
}

/// What is replaced: the whole word. A server that names a word which is not there is not believed.
fn span(line: &str, at: usize, parsed: &Parsed) -> Span {
    let is_there = |parsed: &Parsed| {
        let start = at.checked_sub(parsed.word_cursor)?;
        let end = start + parsed.word().len();
        (line.get(start..end)? == parsed.word()).then(|| Span::new(start, end))
    };
    let there = is_there(parsed).or_else(|| is_there(&Parsed::by_spaces(line, at)));
    there.unwrap_or_else(|| Span::new(at, at))
}

fn suggestion(candidate: CandidateInfo, span: Span) -> Option<Suggestion> {
    let CandidateInfo { value, display, description } = candidate;
    // What is put into the line is text: nothing that drives the terminal, and no second line.
    if value.is_empty() || value.chars().any(char::is_control) {
        return None;
    }
    let display = one_line(&display);
    let display_override = (!display.is_empty() && display != value).then_some(display);
    let description = description.map(|text| one_line(&text)).filter(|text| !text.is_empty());
    Some(Suggestion { value, display_override, description, span, ..Suggestion::default() })
}

#[cfg(test)]
mod tests {
    use loggia_endermux_io::Event;
    use loggia_endermux_io::client::Options;
    use loggia_protocol_endermux::{ColorLevel, Epoch};
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    use super::*;

    /// The line with what is replaced in brackets.
    fn replaced(line: &str, at: usize, parsed: &Parsed) -> String {
        let span = span(line, at, parsed);
        format!("{}[{}]{}", &line[..span.start], &line[span.start..span.end], &line[span.end..])
    }

    #[test]
    fn the_whole_word_is_replaced_also_right_of_the_cursor() {
        let by_spaces = |line: &str, at| replaced(line, at, &Parsed::by_spaces(line, at));
        assert_eq!(by_spaces("say he", 6), "say [he]");
        assert_eq!(by_spaces("say hello you", 6), "say [hello] you");
        assert_eq!(by_spaces("say ", 4), "say []");
        assert_eq!(by_spaces("sag 😀é", 10), "sag [😀é]");
    }

    #[test]
    fn a_word_that_is_not_there_is_not_believed() {
        let odd = |word: &str, word_cursor| Parsed { words: vec![word.to_owned()], index: 0, word_cursor };
        assert_eq!(replaced("say he", 6, &odd("other", 5)), "say [he]");
        assert_eq!(replaced("é", 2, &odd("x", 1)), "[é]");
        assert_eq!(replaced("he", 2, &odd("very long", 9)), "[he]");
        assert_eq!(replaced("a b c", 5, &odd("b c", 3)), "a [b c]");
    }

    /// A server that reads lines as if a slash stood before them, and offers what it was asked about.
    async fn rewrites(listener: UnixListener) {
        let (mut stream, _) = listener.accept().await.unwrap();
        while let Ok(length) = stream.read_u32().await {
            let mut body = vec![0; length as usize];
            stream.read_exact(&mut body).await.unwrap();
            let asked: Value = serde_json::from_slice(&body).unwrap();
            let (command, cursor) = (asked["data"]["command"].as_str(), &asked["data"]["cursor"]);
            let mut says = Vec::new();
            let mut say = |kind: &str, data: Value| {
                says.push(json!({"type": kind, "requestId": asked["requestId"], "data": data}));
            };
            match asked["type"].as_str().unwrap() {
                "HELLO" => {
                    let selected = json!({"command_execute": 1, "log_forward": 1, "interactivity_status": 1,
                        "completion": 1, "parse": 1});
                    say("WELCOME", json!({"transportEpoch": 15, "selectedCapabilities": selected}));
                    say("INTERACTIVITY_STATUS", json!({"available": true}));
                }
                "PARSE_REQUEST" => {
                    let line = format!("/{}", command.unwrap());
                    let cursor = cursor.as_i64().unwrap() + 1;
                    let words = json!({"word": "al", "wordCursor": 2, "wordIndex": 0, "words": ["al"],
                        "line": line, "cursor": cursor});
                    say("PARSE_RESPONSE", words);
                }
                _ => {
                    let value = format!("{} at {cursor}", command.unwrap());
                    say("COMPLETION_RESPONSE", json!({"candidates": [{"value": value, "display": value}]}));
                }
            }
            for message in says {
                let text = message.to_string();
                stream.write_u32(u32::try_from(text.len()).unwrap()).await.unwrap();
                stream.write_all(text.as_bytes()).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn completed_is_the_line_that_the_server_made_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("console.sock");
        let serving = tokio::spawn(rewrites(UnixListener::bind(&socket).unwrap()));
        let options = Options { epochs: vec![Epoch::Fifteen], ..Options::new(ColorLevel::None) };
        let (client, mut events) = Client::connect(&socket, &options).await.unwrap();
        assert!(matches!(events.next().await, Some(Event::Interactivity(true))));
        let line = "say 😀 al".to_owned();
        let found = suggestions(&client, &(line.clone(), line.len())).await;
        let found: Vec<(&str, &str)> =
            found.iter().map(|made| (made.value.as_str(), &line[made.span.start..made.span.end])).collect();
        // What is replaced is what was typed.
        assert_eq!(found, [("/say 😀 al at 10", "al")]);
        drop((client, events));
        serving.await.unwrap();
    }

    #[test]
    fn what_is_offered_is_one_line_of_text() {
        let candidate = |value: &str, display: &str, description: Option<&str>| {
            let description = description.map(str::to_owned);
            let found = CandidateInfo { value: value.to_owned(), display: display.to_owned(), description };
            suggestion(found, Span::new(0, 0))
                .map(|made| (made.value.clone(), made.display_value().to_owned(), made.description))
        };
        let of = |value: &str, display: &str, text: Option<&str>| {
            Some((value.to_owned(), display.to_owned(), text.map(str::to_owned)))
        };
        assert_eq!(candidate("a b", "a b", None), of("a b", "a b", None));
        assert_eq!(
            candidate("a", "\u{1b}[31mA\u{1b}[2J", Some("what\nit is")),
            of("a", "A", Some("what it is"))
        );
        assert_eq!(candidate("a\u{1b}[2J", "a", None), None);
        assert_eq!(candidate("", "a", None), None);
    }
}
