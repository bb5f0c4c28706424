//! Exit codes: one table, from which the program leaves and the reference page is made.

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
        meaning: "Done. Also when the reader of our output went away early, as `head -1` does.",
    },
    Row {
        code: ExitCode::Failure,
        number: 1,
        meaning: "Something broke that should not have: the output could not be written, or Loggia has a bug.",
    },
    Row {
        code: ExitCode::Usage,
        number: 2,
        meaning: "Wrong usage: an unknown command, flag or key name, or no command at all.",
    },
    Row {
        code: ExitCode::Configuration,
        number: 3,
        meaning: "Wrong configuration: a file, a `LOGGIA_*` variable or `--set` has an unknown key or a value that does not fit.",
    },
    Row {
        code: ExitCode::Faults,
        number: 4,
        meaning: "The work was done and found faults in the data: `loggia inspect` met a message that does not follow its protocol.",
    },
    Row {
        code: ExitCode::Unavailable,
        number: 5,
        meaning: "Something outside could not be read or reached, such as an input file.",
    },
];

impl ExitCode {
    /// The number the shell sees.
    pub(crate) fn number(self) -> u8 {
        TABLE.iter().find(|row| row.code == self).map_or(1, |row| row.number)
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
            ErrorKind::Unavailable => Self::Unavailable,
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
        ];
        let rows: Vec<_> = TABLE.iter().map(|row| row.code).collect();
        assert_eq!(rows, all);
        let numbers: Vec<_> = all.map(ExitCode::number).into();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    }
}
