//! Questions as people see them, and how they were answered.

use super::super::question::{Decision, Question};
use super::View;
use crate::CliError;
use crate::paint::{BAD, GOOD, Paint, SUBJECT, width_of};

impl View<'_> {
    /// Asks.
    pub(in crate::ask) fn ask(&mut self, question: &Question, shows: bool) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        if shows {
            let mut text = self.put(question);
            if question.is_walked() {
                text.push_str(&question.hunk(paint));
            }
            self.insist(&text)?;
        }
        self.show_keys(question)
    }

    /// Shows everything a question is about.
    pub(in crate::ask) fn show(&mut self, question: &Question) -> Result<(), CliError> {
        let text = question.details(self.terminal.paint_err(), true);
        self.insist(&text)?;
        self.show_keys(question)
    }

    /// Shows the hunk that is asked about, after what was said to the one before.
    pub(in crate::ask) fn show_hunk(
        &mut self,
        question: &Question,
        taken: Option<bool>,
    ) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let said = match taken {
            Some(true) => format!("  {}\n", paint.text(GOOD, "taken")),
            Some(false) => format!("  {}\n", paint.text(BAD, "left")),
            None => String::new(),
        };
        self.insist(&format!("{said}{}", question.hunk(paint)))?;
        self.show_keys(question)
    }

    /// A question, with what it is about.
    fn put(&self, question: &Question) -> String {
        let paint = self.terminal.paint_err();
        let title = self.terminal.folded(&format!("{}\n", question.title(paint)));
        format!("{}{title}", question.details(paint, false))
    }

    /// A question that nobody here answers.
    pub(in crate::ask) fn asked_elsewhere(&mut self, question: &Question) -> Result<(), CliError> {
        let text = self.put(question);
        self.insist(&text)?;
        self.live.set("Waiting for an answer from another client");
        Ok(())
    }

    /// What was answered; a question that was not shown before is named.
    pub(in crate::ask) fn decided(
        &mut self,
        question: Option<&Question>,
        decision: &Decision,
        why: &str,
    ) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let style = if decision.approved { GOOD } else { BAD };
        let words = self.terminal.folded(&format!("  {}{why}\n", paint.text(style, decision.words())));
        match question {
            Some(question) => self.around(&format!("{}{words}", self.put(question))),
            None => self.insist(&words),
        }
    }

    /// Somebody else's decision counts.
    pub(in crate::ask) fn decided_by(
        &mut self,
        name: &str,
        approved: bool,
        in_part: bool,
    ) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let word = match (approved, in_part) {
            (true, false) => paint.text(GOOD, "yes"),
            (true, true) => paint.text(GOOD, "yes, to a part of it"),
            (false, _) => paint.text(BAD, "no"),
        };
        self.insist(&self.terminal.folded(&format!("  {} said {word}\n", paint.foreign(SUBJECT, name))))
    }

    /// Takes the keys away: nobody waits for them any more.
    pub(in crate::ask) fn unask(&mut self) -> Result<(), CliError> {
        self.wipe()
    }

    fn show_keys(&mut self, question: &Question) -> Result<(), CliError> {
        let plain = question.keys(Paint { color: false });
        let keys = in_rows(&question.keys(self.terminal.paint_err()), &plain, self.terminal.width());
        self.terminal.err(&format!("  {keys} ")).map_err(CliError::Output)?;
        self.keys = Some(keys);
        Ok(())
    }
}

/// Keys in rows for which the window is wide enough: a row that the terminal folds cannot be wiped.
fn in_rows(keys: &str, plain: &str, width: usize) -> String {
    let (mut rows, mut taken) = (String::new(), 0);
    for (key, columns) in keys.split("  ").zip(plain.split("  ").map(width_of)) {
        // The indent and the gap, and a column for the cursor.
        let fits = 2 + taken + 2 + columns < width;
        match taken {
            0 => {}
            _ if fits => rows.push_str("  "),
            _ => rows.push_str("\n  "),
        }
        taken = if taken > 0 && fits { taken + 2 + columns } else { columns };
        rows.push_str(key);
    }
    rows
}
