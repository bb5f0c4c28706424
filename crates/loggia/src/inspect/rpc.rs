//! Checking JSON-RPC messages against a protocol's table of methods.
//!
//! A recording does not say who sent which message. A call's sender follows from its method; an answer is
//! matched with an earlier call by its id. When both sides used the same id, the oldest call whose result
//! type fits is taken, because peers answer in about the order they were asked.

use std::collections::VecDeque;

use loggia_jsonrpc::{Body, Dialect, ErrorObject, FieldError, Incoming, Kind, MethodInfo, RequestId, read};
use serde_json::value::RawValue;

use super::message::{Checked, MessageKind};
use crate::nearest::nearest;

/// How many unanswered calls are remembered. A recording of one side alone has no answers at all.
const MAX_PENDING: usize = 10_000;

/// Checks the messages of one stream.
#[derive(Debug)]
pub(crate) struct RpcChecker {
    methods: &'static [MethodInfo],
    dialect: &'static Dialect,
    pending: VecDeque<(RequestId, &'static MethodInfo)>,
}

impl RpcChecker {
    /// Begins with nothing pending.
    pub(crate) fn new(methods: &'static [MethodInfo], dialect: &'static Dialect) -> Self {
        Self { methods, dialect, pending: VecDeque::new() }
    }

    /// Checks one frame.
    pub(crate) fn frame(&mut self, frame: &[u8]) -> Vec<Checked> {
        match read(frame, self.dialect) {
            Err(error) => {
                vec![
                    Checked::new(MessageKind::Broken, frame.len())
                        .with_fault(FieldError::whole(error.to_string())),
                ]
            }
            Ok(Body::One(message)) => vec![self.message(message, frame.len())],
            Ok(Body::Batch(members)) => members
                .into_iter()
                .map(|member| self.message(Body::member(member, self.dialect), member.get().len()))
                .collect(),
        }
    }

    fn message(&mut self, message: Incoming<'_>, bytes: usize) -> Checked {
        match message {
            Incoming::Request { id, method, params } => {
                let (row, mut checked) = self.call(Kind::Request, &method, params, bytes);
                checked.id = Some(id.to_string());
                if let Some(row) = row {
                    self.remember(id, row);
                }
                checked
            }
            Incoming::Notification { method, params } => {
                self.call(Kind::Notification, &method, params, bytes).1
            }
            Incoming::Response { id, outcome } => self.answer(id.as_ref(), outcome, bytes),
            Incoming::Invalid(why) => {
                Checked::new(MessageKind::Invalid, bytes).with_fault(FieldError::whole(why.to_string()))
            }
        }
    }

    fn call(
        &self,
        kind: Kind,
        method: &str,
        params: Option<&RawValue>,
        bytes: usize,
    ) -> (Option<&'static MethodInfo>, Checked) {
        let mut checked = Checked::new(
            match kind {
                Kind::Request => MessageKind::Request,
                Kind::Notification => MessageKind::Notification,
            },
            bytes,
        );
        checked.name = Some(method.to_owned());
        let Some(row) = self.row(method, kind) else {
            checked.faults.push(self.unknown(method));
            return (None, checked);
        };
        checked.sender = Some(row.sender);
        if row.kind != kind {
            checked.faults.push(FieldError::at(
                "id",
                match kind {
                    Kind::Request => "this method is never answered, so it has no id",
                    Kind::Notification => "missing, and this method is to be answered",
                },
            ));
        }
        if let Err(fault) = self.check_params(row, params) {
            checked.faults.push(fault);
        }
        (Some(row), checked)
    }

    /// The method's row; of two rows with one name, the one of the right kind.
    fn row(&self, method: &str, kind: Kind) -> Option<&'static MethodInfo> {
        let named = || self.methods.iter().filter(|row| row.name == method);
        named().find(|row| row.kind == kind).or_else(|| named().next())
    }

    fn unknown(&self, method: &str) -> FieldError {
        match nearest(method, self.methods.iter().map(|row| row.name)) {
            Some(nearest) => {
                FieldError::at("method", format!("unknown; the nearest known one is `{nearest}`"))
            }
            None => FieldError::at("method", "unknown"),
        }
    }

    fn check_params(&self, row: &MethodInfo, params: Option<&RawValue>) -> Result<(), FieldError> {
        let text = self.dialect.params(params.map(RawValue::get))?;
        row.rewrite_params(text).map(drop).map_err(|error| error.inside("params"))
    }

    fn remember(&mut self, id: RequestId, row: &'static MethodInfo) {
        if row.kind == Kind::Request {
            if self.pending.len() == MAX_PENDING {
                self.pending.pop_front();
            }
            self.pending.push_back((id, row));
        }
    }

    fn answer(
        &mut self,
        id: Option<&RequestId>,
        outcome: Result<&RawValue, ErrorObject>,
        bytes: usize,
    ) -> Checked {
        let kind = if outcome.is_ok() { MessageKind::Result } else { MessageKind::Error };
        let mut checked = Checked::new(kind, bytes);
        checked.id = id.map(RequestId::to_string);
        let row = id.and_then(|id| self.take(id, outcome.as_ref().ok().copied()));
        match row {
            Some(row) => {
                checked.name = Some(row.name.to_owned());
                checked.sender = self.other_side(row.sender);
            }
            None if id.is_none() => checked.note = Some("answers no call in particular".to_owned()),
            None => checked.note = Some("its call is not in this recording".to_owned()),
        }
        match (outcome, row) {
            (Ok(result), Some(row)) => {
                checked
                    .faults
                    .extend(row.rewrite_result(result.get()).err().map(|error| error.inside("result")));
            }
            (Ok(_), None) => {}
            (Err(error), _) => checked.note = Some(error.to_string()),
        }
        checked
    }

    /// Takes the call an answer belongs to out of the pending ones.
    fn take(&mut self, id: &RequestId, result: Option<&RawValue>) -> Option<&'static MethodInfo> {
        let same = |asked: &RequestId| {
            asked == id || (asked.sequence().is_some() && asked.sequence() == id.sequence())
        };
        let fits = |row: &MethodInfo| result.is_none_or(|result| row.rewrite_result(result.get()).is_ok());
        let position = self
            .pending
            .iter()
            .position(|(asked, row)| same(asked) && fits(row))
            .or_else(|| self.pending.iter().position(|(asked, _)| same(asked)))?;
        self.pending.remove(position).map(|(_, row)| row)
    }

    fn other_side(&self, sender: &str) -> Option<&'static str> {
        self.methods.iter().map(|row| row.sender).find(|other| *other != sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggia_jsonrpc::{Method, NoParams, Notification};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct AddParams {
        left: i64,
    }
    struct Add;
    impl Method for Add {
        const NAME: &'static str = "add";
        type Params = AddParams;
        type Result = i64;
    }
    struct Name;
    impl Method for Name {
        const NAME: &'static str = "name";
        type Params = NoParams;
        type Result = String;
    }
    struct Told;
    impl Notification for Told {
        const NAME: &'static str = "told";
        type Params = NoParams;
    }
    const METHODS: &[MethodInfo] = &[
        MethodInfo::request::<Add>("host"),
        MethodInfo::request::<Name>("guest"),
        MethodInfo::notification::<Told>("guest"),
    ];
    const LENIENT: Dialect = Dialect { version: loggia_jsonrpc::Version::Optional, ..Dialect::STANDARD };
    const STRICT: Dialect = Dialect { absent_params: loggia_jsonrpc::AbsentParams::Refused, ..LENIENT };

    /// Checks frames and says in one line per message what was found.
    fn check_by(dialect: &'static Dialect, frames: &[&str], expected: &[&str]) {
        let mut checker = RpcChecker::new(METHODS, dialect);
        let told: Vec<_> = frames
            .iter()
            .flat_map(|frame| checker.frame(frame.as_bytes()))
            .map(|message| {
                let mut line = format!(
                    "{} {} {}",
                    message.sender.unwrap_or("?"),
                    message.kind.word(),
                    message.name.as_deref().unwrap_or("-")
                );
                line.extend(message.note.map(|note| format!(" ({note})")));
                line.extend(message.faults.iter().map(|fault| format!(" ! {fault}")));
                line
            })
            .collect();
        assert_eq!(told, expected);
    }

    fn check(frames: &[&str], expected: &[&str]) {
        check_by(&LENIENT, frames, expected);
    }

    #[test]
    fn answers_are_checked_as_the_result_of_their_call() {
        check(
            &[r#"{"id":1,"method":"add","params":{"left":1}}"#, r#"{"id":1,"result":"three"}"#],
            &["host request add", "guest result add ! result: invalid type: string \"three\", expected i64"],
        );
        check(
            &[r#"{"id":1,"method":"add","params":{"left":1}}"#, r#"{"id":1.0,"result":3}"#],
            &["host request add", "guest result add"],
        );
    }

    #[test]
    fn both_sides_may_use_the_same_id() {
        check(
            &[
                r#"{"id":1,"method":"add","params":{"left":1}}"#,
                r#"{"id":1,"method":"name"}"#,
                r#"{"id":1,"result":"Ada"}"#,
                r#"{"id":1,"result":3}"#,
            ],
            &["host request add", "guest request name", "host result name", "guest result add"],
        );
    }

    #[test]
    fn an_answer_without_its_call_is_noted_and_not_a_fault() {
        check(
            &[r#"{"id":9,"result":3}"#, r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#],
            &["? result - (its call is not in this recording)", "? error - (no (-32700))"],
        );
    }

    #[test]
    fn what_the_table_does_not_know_is_a_fault() {
        check(
            &[r#"{"id":1,"method":"adds","params":{}}"#, r#"{"method":"zzz"}"#],
            &[
                "? request adds ! method: unknown; the nearest known one is `add`",
                "? notification zzz ! method: unknown",
            ],
        );
    }

    #[test]
    fn requests_have_ids_and_notifications_have_none() {
        check(
            &[r#"{"method":"name"}"#, r#"{"id":1,"method":"told"}"#],
            &[
                "guest notification name ! id: missing, and this method is to be answered",
                "guest request told ! id: this method is never answered, so it has no id",
            ],
        );
    }

    #[test]
    fn absent_parameters_mean_what_the_dialect_says() {
        check(&[r#"{"id":1,"method":"add"}"#], &["host request add ! params: missing field `left`"]);
        check(&[r#"{"id":1,"method":"name","params":[]}"#], &["guest request name"]);
        check_by(
            &STRICT,
            &[r#"{"id":1,"method":"name"}"#],
            &["guest request name ! `params` must be an object"],
        );
    }

    #[test]
    fn batches_and_nonsense_are_told_one_by_one() {
        check(
            &[r#"[{"method":"told"},7]"#, "{", "[]"],
            &[
                "guest notification told",
                "? invalid - ! a message must be a JSON object",
                "? broken - ! Parse error: EOF while parsing an object at line 1 column 1",
                "? invalid - ! a batch must have at least one member",
            ],
        );
    }
}
