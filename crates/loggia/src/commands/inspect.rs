//! `loggia inspect [PROTOCOL] [FILE]`: checks a recorded conversation.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::cli::InspectArguments;
use crate::color::SUBJECT;
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::inspect::cut::{Cutter, Piece};
use crate::inspect::{Inspector, Protocol, ProtocolName, render};
use crate::output::Printer;

/// The name that means standard input.
const STDIN: &str = "-";

/// What came of one stream.
#[derive(Debug, Default)]
struct Tally {
    messages: u64,
    faulty: u64,
}

/// Runs the command.
pub(crate) fn run(arguments: &InspectArguments) -> Result<ExitCode, Error> {
    let mut printer = Printer::new();
    let mut faulty = 0;
    match (arguments.protocol, &arguments.file) {
        (Some(name), Some(path)) => {
            faulty += stream(name.protocol(), open(path)?, path, arguments, &mut printer)?.faulty;
        }
        (Some(name), None) => faulty += sample(name.protocol(), arguments, &mut printer)?,
        (None, _) => {
            for (position, name) in ProtocolName::ALL.into_iter().enumerate() {
                if position > 0 && !arguments.json {
                    printer.line("")?;
                }
                faulty += sample(name.protocol(), arguments, &mut printer)?;
            }
        }
    }
    printer.finish()?;
    Ok(if faulty == 0 { ExitCode::Success } else { ExitCode::Faults })
}

/// The file, or stdin for `-`.
fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    if path == Path::new(STDIN) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|source| Error::Input { path: path.to_owned(), source })?;
    Ok(Box::new(file))
}

/// Shows the conversation that is built in.
fn sample(protocol: &Protocol, arguments: &InspectArguments, printer: &mut Printer) -> Result<u64, Error> {
    if !arguments.json {
        printer.line(format_args!("{SUBJECT}{}{SUBJECT:#}: a sample conversation", protocol.name))?;
    }
    Ok(stream(protocol, protocol.sample, Path::new("sample"), arguments, printer)?.faulty)
}

fn stream(
    protocol: &Protocol,
    recording: impl Read,
    path: &Path,
    arguments: &InspectArguments,
    printer: &mut Printer,
) -> Result<Tally, Error> {
    let mut inspector = Inspector::new(protocol);
    let mut cutter = Cutter::new(recording, protocol.framing);
    let limit = arguments.limit.unwrap_or(u64::MAX);
    let mut tally = Tally::default();
    while tally.messages < limit {
        let piece = cutter.next().map_err(|source| Error::Input { path: path.to_owned(), source })?;
        let checked = match piece {
            None => break,
            Some(Piece::Frame(frame)) => inspector.frame(&frame),
            Some(Piece::Broken(error)) => vec![inspector.broken(&error)],
        };
        for message in checked.iter().take(usize::try_from(limit - tally.messages).unwrap_or(usize::MAX)) {
            tally.messages += 1;
            tally.faulty += u64::from(!message.faults.is_empty());
            printer.line(if arguments.json {
                render::json(protocol, message)
            } else {
                render::lines(protocol, message)
            })?;
        }
        // Standard input may be a conversation that is still going on.
        if path == Path::new(STDIN) {
            printer.flush()?;
        }
    }
    if !arguments.json {
        printer.line(render::summary(tally.messages, tally.faulty))?;
    }
    Ok(tally)
}
