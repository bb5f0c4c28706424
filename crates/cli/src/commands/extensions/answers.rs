//! Answers that were given beforehand, for runs that nobody watches.

use std::path::PathBuf;

use loggia_protocol_agent_server::{DialogKind, DialogRequest};

use super::dialogs::Answer;

/// An answer to a dialog of some kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// To a question.
    Confirm(bool),
    /// A file to choose, or a place for one; nothing cancels.
    File(Option<PathBuf>),
    /// A directory to choose; nothing cancels.
    Directory(Option<PathBuf>),
}

/// Which kind a prepared answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Confirm,
    File,
    Directory,
}

/// Answers in their order. The last one of a kind stays.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers(Vec<Prepared>);

impl Answers {
    pub(super) fn new(answers: Vec<Prepared>, yes: bool) -> Self {
        let yes = yes.then_some(Prepared::Confirm(true));
        Self(answers.into_iter().chain(yes).collect())
    }

    /// Whether somebody gave any.
    pub(super) fn are_there(&self) -> bool {
        !self.0.is_empty()
    }

    /// The answer to a dialog. One that nobody thought of is cancelled.
    pub(super) fn to(&mut self, dialog: &DialogRequest) -> Answer {
        let kind = match dialog.kind {
            DialogKind::Message => return Answer::Seen,
            DialogKind::Confirm => Kind::Confirm,
            DialogKind::OpenFile | DialogKind::OpenFiles | DialogKind::SaveFile => Kind::File,
            DialogKind::SelectDirectory => Kind::Directory,
            // One of a later version.
            _ => return Answer::Cancelled,
        };
        match self.next(kind) {
            Some(Prepared::Confirm(yes)) => Answer::Confirmed(yes),
            Some(Prepared::File(Some(path)) | Prepared::Directory(Some(path))) => Answer::Chosen(vec![path]),
            Some(Prepared::File(None) | Prepared::Directory(None)) | None => Answer::Cancelled,
        }
    }

    fn next(&mut self, kind: Kind) -> Option<Prepared> {
        let fits = |answer: &Prepared| {
            let of = match answer {
                Prepared::Confirm(_) => Kind::Confirm,
                Prepared::File(_) => Kind::File,
                Prepared::Directory(_) => Kind::Directory,
            };
            of == kind
        };
        let place = self.0.iter().position(fits)?;
        let is_last = self.0.iter().filter(|answer| fits(answer)).count() == 1;
        if is_last { self.0.get(place).cloned() } else { Some(self.0.remove(place)) }
    }
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::{DialogId, WorkspaceId};

    use super::*;

    fn dialog(kind: DialogKind) -> DialogRequest {
        DialogRequest {
            dialog_id: DialogId("dlg_1".to_owned()),
            workspace_id: WorkspaceId("ws_1".to_owned()),
            extension: "e".to_owned(),
            kind,
            title: None,
            message: None,
            level: None,
            buttons: None,
            start_path: None,
            suggested_name: None,
            filters: Vec::new(),
        }
    }

    #[test]
    fn each_answers_one_dialog_of_its_kind_and_the_last_of_a_kind_the_rest() {
        let file = |name: &str| Prepared::File(Some(name.into()));
        let mut answers = Answers::new(vec![file("a"), Prepared::Confirm(false), file("b")], true);
        let told: Vec<String> = [
            DialogKind::OpenFile,
            DialogKind::Confirm,
            DialogKind::Message,
            DialogKind::SaveFile,
            DialogKind::Confirm,
            DialogKind::OpenFiles,
            DialogKind::Confirm,
            DialogKind::SelectDirectory,
        ]
        .into_iter()
        .map(|kind| format!("{:?}", answers.to(&dialog(kind))))
        .collect();
        let expected = [
            "Chosen([\"a\"])",
            "Confirmed(false)",
            "Seen",
            "Chosen([\"b\"])",
            "Confirmed(true)",
            "Chosen([\"b\"])",
            "Confirmed(true)",
            "Cancelled",
        ];
        assert_eq!(told, expected);
        assert!(!Answers::new(Vec::new(), false).are_there() && Answers::new(Vec::new(), true).are_there());
    }
}
