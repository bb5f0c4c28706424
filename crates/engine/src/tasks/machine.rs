//! The phases of a task and what leads from one to another: a table, and nothing but the table.
//!
//! Knows which trigger leads where and what it needs. Refuses to know guards, effects, agents and repositories: they
//! are asked by whoever pulls a trigger. The same table decides what is allowed and folds what happened.

use std::fmt;

/// Where a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskPhase {
    /// It is being set up.
    Starting,
    /// Between steps: somebody says what comes next.
    Idle,
    /// An agent writes a specification.
    Planning,
    /// An agent changes code.
    Implementing,
    /// An agent looks at what was changed.
    Reviewing,
    /// The work is checked and delivered.
    Finishing,
    /// In a step that a guest added.
    Step(String),
    /// An agent asked something.
    Waiting,
    /// A guard or an effect holds it back.
    Paused,
    /// Somebody cancelled what it was doing.
    Failed,
    /// Finished.
    Done,
    /// Given up.
    Abandoned,
}

impl TaskPhase {
    /// Its place in the table.
    pub fn kind(&self) -> PhaseKind {
        match self {
            Self::Starting => PhaseKind::Starting,
            Self::Idle => PhaseKind::Idle,
            Self::Planning => PhaseKind::Planning,
            Self::Implementing => PhaseKind::Implementing,
            Self::Reviewing => PhaseKind::Reviewing,
            Self::Finishing => PhaseKind::Finishing,
            Self::Step(_) => PhaseKind::Step,
            Self::Waiting => PhaseKind::Waiting,
            Self::Paused => PhaseKind::Paused,
            Self::Failed => PhaseKind::Failed,
            Self::Done => PhaseKind::Done,
            Self::Abandoned => PhaseKind::Abandoned,
        }
    }

    /// Whether nothing more will happen to the task.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Done | Self::Abandoned)
    }
}

impl fmt::Display for TaskPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(name) => f.write_str(name),
            phase => f.write_str(phase.kind().word()),
        }
    }
}

/// The phases of the table; all steps of guests are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are documented at `TaskPhase`")]
pub enum PhaseKind {
    Starting,
    Idle,
    Planning,
    Implementing,
    Reviewing,
    Finishing,
    Step,
    Waiting,
    Paused,
    Failed,
    Done,
    Abandoned,
}

impl PhaseKind {
    /// Its name for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Planning => "planning",
            Self::Implementing => "implementing",
            Self::Reviewing => "reviewing",
            Self::Finishing => "finishing",
            Self::Step => "step",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What leads from one phase to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// Somebody wants a plan.
    Plan,
    /// Somebody wants it done.
    Implement,
    /// Somebody wants it looked at.
    Review,
    /// Somebody wants it finished.
    Finish,
    /// A step that a guest added is due.
    Enter,
    /// The step is done.
    StepDone,
    /// The step failed.
    Error,
    /// The agent asks something.
    Ask,
    /// Somebody answers.
    Answer,
    /// A guard or an effect holds it back.
    Hold,
    /// Somebody goes back to a checkpoint.
    Undo,
    /// Somebody goes forth to one again.
    Redo,
    /// Somebody cancels what it does.
    Abort,
    /// After that, or when nothing holds it back any more, it may go on.
    Reset,
    /// Somebody gives it up.
    Abandon,
}

impl Trigger {
    /// Its name for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Finish => "finish",
            Self::Enter => "enter",
            Self::StepDone => "step done",
            Self::Error => "error",
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Hold => "hold",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Abort => "abort",
            Self::Reset => "reset",
            Self::Abandon => "abandon",
        }
    }
}

/// What must be there before something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// A specification.
    Specification,
    /// A checkpoint before the one it stands on.
    EarlierCheckpoint,
    /// A checkpoint after the one it stands on.
    LaterCheckpoint,
}

/// What of a task the table looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// How many specifications it has.
    pub specifications: usize,
    /// How many checkpoints are before the one it stands on.
    pub earlier: usize,
    /// How many are after it.
    pub later: usize,
}

/// Why something may not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing leads from there by that.
    #[error("a task that is {} cannot {}{}", from.word(), on.word(), hint(*from))]
    NoWay {
        /// Where it is.
        from: PhaseKind,
        /// What was wanted.
        on: Trigger,
    },
    /// Something is not there yet.
    #[error("{}", lacks(*.0))]
    Lacks(Need),
}

fn hint(from: PhaseKind) -> &'static str {
    match from {
        PhaseKind::Waiting => ": answer its question, or plan again",
        PhaseKind::Starting
        | PhaseKind::Planning
        | PhaseKind::Implementing
        | PhaseKind::Reviewing
        | PhaseKind::Finishing
        | PhaseKind::Step => ": it is in the middle of that, so let it go on first",
        PhaseKind::Done | PhaseKind::Abandoned => ": it is over",
        PhaseKind::Idle | PhaseKind::Paused | PhaseKind::Failed => "",
    }
}

fn lacks(need: Need) -> &'static str {
    match need {
        Need::Nothing => "nothing is missing",
        Need::Specification => "the task has no specification yet: plan it first",
        Need::EarlierCheckpoint => "there is no checkpoint to go back to",
        Need::LaterCheckpoint => "there is no checkpoint to go forth to",
    }
}

/// One way from a phase to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Where it is.
    pub from: PhaseKind,
    /// What happens.
    pub on: Trigger,
    /// Where that leads.
    pub to: PhaseKind,
    /// What that needs.
    pub needs: Need,
}

macro_rules! table {
    ($($($from:ident),+ on $on:ident => $to:ident needs $need:ident;)*) => {
        &[$($(Row {
            from: PhaseKind::$from,
            on: Trigger::$on,
            to: PhaseKind::$to,
            needs: Need::$need,
        },)+)*]
    };
}

/// Every way there is. What can happen anywhere ([`Trigger::Abort`], [`Trigger::Abandon`]) is looked at first.
pub const TABLE: &[Row] = table! {
    Idle, Waiting, Paused on Plan => Planning needs Nothing;
    Idle, Paused on Implement => Implementing needs Specification;
    Idle, Paused on Review => Reviewing needs Specification;
    Idle, Paused on Finish => Finishing needs Specification;
    Idle, Paused on Enter => Step needs Nothing;
    Starting, Planning, Implementing, Reviewing, Step on StepDone => Idle needs Nothing;
    Finishing on StepDone => Done needs Nothing;
    Planning, Implementing, Reviewing, Finishing, Step on Error => Idle needs Nothing;
    Planning on Ask => Waiting needs Nothing;
    Waiting on Answer => Idle needs Nothing;
    Idle, Paused, Starting, Planning, Implementing, Reviewing, Finishing, Step on Hold => Paused needs Nothing;
    Idle, Paused, Waiting, Failed, Planning, Implementing, Reviewing on Undo => Idle needs EarlierCheckpoint;
    Idle, Paused, Waiting, Failed on Redo => Idle needs LaterCheckpoint;
    Failed, Paused on Reset => Idle needs Nothing;
};

/// Where something leads; nothing if it leads nowhere.
pub fn follow(from: PhaseKind, on: Trigger) -> Option<PhaseKind> {
    row(from, on).map(|row| row.to)
}

/// Where something leads, if what it needs is there.
///
/// # Errors
/// Why it may not happen.
pub fn allowed(from: PhaseKind, on: Trigger, facts: Facts) -> Result<PhaseKind, Refusal> {
    let row = row(from, on).ok_or(Refusal::NoWay { from, on })?;
    let has = match row.needs {
        Need::Nothing => true,
        Need::Specification => facts.specifications > 0,
        Need::EarlierCheckpoint => facts.earlier > 0,
        Need::LaterCheckpoint => facts.later > 0,
    };
    if has { Ok(row.to) } else { Err(Refusal::Lacks(row.needs)) }
}

fn row(from: PhaseKind, on: Trigger) -> Option<Row> {
    let anywhere = |to| Row { from, on, to, needs: Need::Nothing };
    match (from, on) {
        (PhaseKind::Done | PhaseKind::Abandoned, _) => None,
        (_, Trigger::Abort) => Some(anywhere(PhaseKind::Failed)),
        (_, Trigger::Abandon) => Some(anywhere(PhaseKind::Abandoned)),
        _ => TABLE.iter().find(|row| row.from == from && row.on == on).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASES: [PhaseKind; 12] = [
        PhaseKind::Starting,
        PhaseKind::Idle,
        PhaseKind::Planning,
        PhaseKind::Implementing,
        PhaseKind::Reviewing,
        PhaseKind::Finishing,
        PhaseKind::Step,
        PhaseKind::Waiting,
        PhaseKind::Paused,
        PhaseKind::Failed,
        PhaseKind::Done,
        PhaseKind::Abandoned,
    ];

    const TRIGGERS: [Trigger; 15] = [
        Trigger::Plan,
        Trigger::Implement,
        Trigger::Review,
        Trigger::Finish,
        Trigger::Enter,
        Trigger::StepDone,
        Trigger::Error,
        Trigger::Ask,
        Trigger::Answer,
        Trigger::Hold,
        Trigger::Undo,
        Trigger::Redo,
        Trigger::Abort,
        Trigger::Reset,
        Trigger::Abandon,
    ];

    const ALL: Facts = Facts { specifications: 1, earlier: 1, later: 1 };

    /// What each phase does with each trigger, said a second time: `-` leads nowhere.
    const EXPECTED: &str = "
        starting      -        -            -         -         -    idle  -    -       -    paused -    -    failed -    abandoned
        idle          planning implementing reviewing finishing step -     -    -       -    paused idle idle failed -    abandoned
        planning      -        -            -         -         -    idle  idle waiting -    paused idle -    failed -    abandoned
        implementing  -        -            -         -         -    idle  idle -       -    paused idle -    failed -    abandoned
        reviewing     -        -            -         -         -    idle  idle -       -    paused idle -    failed -    abandoned
        finishing     -        -            -         -         -    done  idle -       -    paused -    -    failed -    abandoned
        step          -        -            -         -         -    idle  idle -       -    paused -    -    failed -    abandoned
        waiting       planning -            -         -         -    -     -    -       idle -      idle idle failed -    abandoned
        paused        planning implementing reviewing finishing step -     -    -       -    paused idle idle failed idle abandoned
        failed        -        -            -         -         -    -     -    -       -    -      idle idle failed idle abandoned
        done          -        -            -         -         -    -     -    -       -    -      -    -    -      -    -
        abandoned     -        -            -         -         -    -     -    -       -    -      -    -    -      -    -
    ";

    #[test]
    fn every_phase_does_with_every_trigger_what_the_table_says() {
        let rows: Vec<Vec<&str>> = EXPECTED
            .lines()
            .map(|line| line.split_whitespace().collect())
            .filter(|row: &Vec<_>| !row.is_empty())
            .collect();
        assert_eq!(rows.len(), PHASES.len());
        for (phase, row) in PHASES.iter().zip(rows) {
            assert_eq!(row[0], phase.word());
            for (trigger, expected) in TRIGGERS.iter().zip(&row[1..]) {
                let to = follow(*phase, *trigger).map_or("-", PhaseKind::word);
                assert_eq!(to, *expected, "{} on {}", phase.word(), trigger.word());
                let allowed = allowed(*phase, *trigger, ALL).map_or("-", PhaseKind::word);
                assert_eq!(allowed, *expected, "{} on {}", phase.word(), trigger.word());
            }
        }
    }

    #[test]
    fn no_row_is_there_twice() {
        for (place, row) in TABLE.iter().enumerate() {
            let again = TABLE[place + 1..].iter().find(|other| other.from == row.from && other.on == row.on);
            assert_eq!(again, None);
        }
    }

    #[test]
    fn what_is_not_there_yet_is_named() {
        let none = Facts::default();
        for (trigger, expected) in [
            (Trigger::Implement, "the task has no specification yet: plan it first"),
            (Trigger::Review, "the task has no specification yet: plan it first"),
            (Trigger::Finish, "the task has no specification yet: plan it first"),
            (Trigger::Undo, "there is no checkpoint to go back to"),
            (Trigger::Redo, "there is no checkpoint to go forth to"),
        ] {
            let refused = allowed(PhaseKind::Idle, trigger, none).unwrap_err();
            assert_eq!(refused.to_string(), expected);
        }
        let refused = allowed(PhaseKind::Waiting, Trigger::Implement, ALL).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "a task that is waiting cannot implement: answer its question, or plan again"
        );
    }
}
