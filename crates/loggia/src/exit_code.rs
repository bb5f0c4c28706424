//! Exit codes: one table, from which the program leaves and the reference page is made.

use loggia_cli::Outcome;

use crate::errors::ErrorKind;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Done.
    Success,
    /// Something broke that should not have.
    Failure,
    /// The command line does not make sense.
    Usage,
    /// A configuration file, variable or `--set` does not make sense.
    Configuration,
    /// The work was done, and the data has faults.
    Faults,
    /// Something outside could not be read or reached.
    Unavailable,
    /// The turn ended, and something the agent wanted was refused.
    Refused,
    /// The turn was cancelled.
    Cancelled,
    /// The model failed.
    Model,
    /// The turn was cut off.
    Unfinished,
    /// As something ended that has numbers of its own, a command on a console or a program that was wrapped; not in the
    /// table.
    Program(u8),
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// Which ending.
    pub(crate) code: ExitCode,
    /// The number the shell sees.
    pub(crate) number: u8,
    /// The meaning, for the reference page.
    pub(crate) meaning: &'static str,
}

/// All endings, by number.
pub(crate) const TABLE: &[Row] = &[
    Row {
        code: ExitCode::Success,
        number: 0,
        meaning: "Done. Also when without a model the answer came from searching, when of a change only some hunks were taken, and when the reader of our output went away early, as `head -1` does.",
    },
    Row {
        code: ExitCode::Failure,
        number: 1,
        meaning: "Something broke that should not have: the output could not be written, a second signal ended the server at once, or Loggia has a bug.",
    },
    Row {
        code: ExitCode::Usage,
        number: 2,
        meaning: "Wrong usage: an unknown command, flag or key name, no command at all, a message's file that is not there, or an address that would be open to other machines without encryption.",
    },
    Row {
        code: ExitCode::Configuration,
        number: 3,
        meaning: "Wrong configuration: a file, a `LOGGIA_*` variable or `--set` has an unknown key or a value that does not fit; or a model, a certificate or a workspace that is named cannot be used.",
    },
    Row {
        code: ExitCode::Faults,
        number: 4,
        meaning: "The work was done and found faults in the data: `loggia inspect` met a message that does not follow its protocol, `loggia plugin check` or `loggia ext check` found something that hosts cannot work with, an extension did not start, ended in the middle of a command or did not get to it, one told of an error so that `loggia ext run --save` did not save, a path led nowhere in a message, a change of it did not apply, `loggia message validate` found something doubtful, or `loggia doctor` found something that does not work.",
    },
    Row {
        code: ExitCode::Unavailable,
        number: 5,
        meaning: "Something outside could not be read, reached or had: an input file, a server that does not run or does not answer, an address or a store that another process has, a session in which a turn is under way, a console whose connection was lost.",
    },
    Row {
        code: ExitCode::Refused,
        number: 6,
        meaning: "Refused: the turn of `loggia ask` ended, but something the agent wanted was refused, by somebody or by the policy; `loggia policy check` met something that is denied; a message was to be opened or saved where the policy lets nobody; an extension was to be started or run that may not be; an answer of `--answer` did not count; you said no to what would have been done; or the server of a console does not let `loggia attach` in.",
    },
    Row {
        code: ExitCode::Cancelled,
        number: 7,
        meaning: "Cancelled: by Ctrl-C or by another client, a turn as well as a build of the code index or `loggia index pull`. `loggia index watch` always ends so. What `loggia ext run` began goes on.",
    },
    Row {
        code: ExitCode::Model,
        number: 8,
        meaning: "The model failed or cannot be reached; `loggia model test` also if there is none.",
    },
    Row {
        code: ExitCode::Unfinished,
        number: 9,
        meaning: "`loggia ask`: the turn did not come to its end: it used all it may, or it was cut off by the end of the server. It can be continued with `--continue`. `loggia ext run`: the extension was still busy when the time was up.",
    },
];

impl ExitCode {
    /// The number the shell sees.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Program(status) => status,
            _ => TABLE.iter().find(|row| row.code == self).map_or(1, |row| row.number),
        }
    }

    /// As a command on a console ended that did not end well. A status that no shell knows is a failure.
    pub(crate) fn of_command(status: i32) -> Self {
        match u8::try_from(status) {
            Ok(status @ 1..) => Self::Program(status),
            _ => Self::Failure,
        }
    }

    /// The ending a number stands for; one that stands for none is a failure.
    pub(crate) fn of_number(number: i32) -> Self {
        TABLE.iter().find(|row| i32::from(row.number) == number).map_or(Self::Failure, |row| row.code)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

impl From<ErrorKind> for ExitCode {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::ClosedOutput => Self::Success,
            ErrorKind::Internal => Self::Failure,
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Configuration => Self::Configuration,
            ErrorKind::Faults => Self::Faults,
            ErrorKind::Unavailable => Self::Unavailable,
            ErrorKind::Refused => Self::Refused,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Success,
            Outcome::Refused => Self::Refused,
            Outcome::Cancelled | Outcome::Left => Self::Cancelled,
            Outcome::Faulty => Self::Faults,
            Outcome::ModelFailed => Self::Model,
            Outcome::LimitReached | Outcome::Interrupted => Self::Unfinished,
            // What else there will be went wrong in a way that we cannot tell.
            _ => Self::Failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_one_row_and_its_own_number() {
        let all = [
            ExitCode::Success,
            ExitCode::Failure,
            ExitCode::Usage,
            ExitCode::Configuration,
            ExitCode::Faults,
            ExitCode::Unavailable,
            ExitCode::Refused,
            ExitCode::Cancelled,
            ExitCode::Model,
            ExitCode::Unfinished,
        ];
        let rows: Vec<_> = TABLE.iter().map(|row| row.code).collect();
        assert_eq!(rows, all);
        let numbers: Vec<_> = all.map(ExitCode::number).into();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(all.map(|code| ExitCode::of_number(code.number().into())), all);
        assert_eq!(ExitCode::of_number(137), ExitCode::Failure);
        assert_eq!(
            [3, 255, 256, -1, 0].map(|status| ExitCode::of_command(status).number()),
            [3, 255, 1, 1, 1]
        );
    }
}
