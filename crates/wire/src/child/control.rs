//! What we and a keeper say to each other over their socket.
//!
//! First one byte with the program's three pipe ends attached, then the program's [`Order`], then single bytes
//! ([`TERMINATE`], [`KILL`]). The keeper answers with lines, a [`Report`] each. Our end closing is an order too: to
//! kill everything.
//!
//! Only text and lengths here; no sockets. Strings travel as raw bytes, since paths and variables need not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Asks the program's group to end.
pub(super) const TERMINATE: u8 = b'T';
/// Ends the program's group and everything below it.
pub(super) const KILL: u8 = b'K';
/// The byte the pipe ends travel with.
pub(super) const PIPES: u8 = b'P';

/// An order is the arguments and the environment of one program; Linux itself allows some 2 MiB of both.
const MAX_ORDER: usize = 16 * 1024 * 1024;

/// The program a keeper shall start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Order {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
}

/// What a keeper tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// The program runs; its process id is its group's too.
    Started(i32),
    /// It could not be started.
    Failed(String),
    /// It ended by itself, with this status.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
}

impl Order {
    /// Length and fields, each field with its own length.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut fields: Vec<&OsStr> = vec![&self.program];
        fields.push(self.cwd.as_ref().map_or(OsStr::new(""), |path| path.as_os_str()));
        fields.extend(self.args.iter().map(OsString::as_os_str));
        let mut body = Vec::new();
        body.extend_from_slice(&(self.args.len() as u32).to_be_bytes());
        for (name, value) in &self.environment {
            fields.extend([name.as_os_str(), value.as_os_str()]);
        }
        for field in fields {
            body.extend_from_slice(&(field.len() as u32).to_be_bytes());
            body.extend_from_slice(field.as_bytes());
        }
        let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
        bytes.append(&mut body);
        bytes
    }

    /// Reads an order from a blocking stream.
    pub(super) fn read(source: &mut impl std::io::Read) -> std::io::Result<Self> {
        let mut length = [0; 4];
        source.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_ORDER {
            return Err(std::io::Error::other("order is too long"));
        }
        let mut body = vec![0; length];
        source.read_exact(&mut body)?;
        Self::decode(&body).ok_or_else(|| std::io::Error::other("order is damaged"))
    }

    fn decode(mut body: &[u8]) -> Option<Self> {
        let args = take_number(&mut body)? as usize;
        let program = take_text(&mut body)?;
        let cwd = take_text(&mut body).map(|text| (!text.is_empty()).then(|| PathBuf::from(text)))?;
        let args = (0..args).map(|_| take_text(&mut body)).collect::<Option<Vec<_>>>()?;
        let mut environment = Vec::new();
        while !body.is_empty() {
            environment.push((take_text(&mut body)?, take_text(&mut body)?));
        }
        Some(Self { program, args, cwd, environment })
    }
}

fn take_number(body: &mut &[u8]) -> Option<u32> {
    let (number, rest) = body.split_first_chunk::<4>()?;
    *body = rest;
    Some(u32::from_be_bytes(*number))
}

fn take_text(body: &mut &[u8]) -> Option<OsString> {
    let length = take_number(body)? as usize;
    let (text, rest) = body.split_at_checked(length)?;
    *body = rest;
    Some(OsString::from_vec(text.to_vec()))
}

impl Report {
    pub(super) fn to_line(&self) -> String {
        match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::Failed(reason) => format!("failed {}\n", reason.replace('\n', " ")),
            Self::Exited(status) => format!("exited {status}\n"),
            Self::Killed(signal) => format!("killed {signal}\n"),
        }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.trim_end_matches('\n').split_once(' ')?;
        Some(match word {
            "started" => Self::Started(rest.parse().ok()?),
            "failed" => Self::Failed(rest.to_owned()),
            "exited" => Self::Exited(rest.parse().ok()?),
            "killed" => Self::Killed(rest.parse().ok()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_way() {
        let order = Order {
            program: "prog".into(),
            args: vec!["".into(), "a b".into(), OsString::from_vec(vec![0xff, b'\n'])],
            cwd: Some("/tmp".into()),
            environment: vec![("A".into(), "".into()), ("B".into(), "x=y".into())],
        };
        assert_eq!(Order::read(&mut &order.encode()[..]).unwrap(), order);
        let bare = Order { program: "p".into(), ..Order::default() };
        assert_eq!(Order::read(&mut &bare.encode()[..]).unwrap(), bare);
    }

    #[test]
    fn damaged_orders_are_refused() {
        let order = Order { program: "prog".into(), args: vec!["x".into()], ..Order::default() };
        let bytes = order.encode();
        for end in 0..bytes.len() {
            assert!(Order::read(&mut &bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(Order::read(&mut &[0xff; 8][..]).is_err());
    }

    #[test]
    fn reports_survive_the_way() {
        for report in
            [Report::Started(7), Report::Failed("no such file".into()), Report::Exited(3), Report::Killed(9)]
        {
            assert_eq!(Report::parse(&report.to_line()), Some(report));
        }
        assert_eq!(Report::parse("nonsense"), None);
        assert_eq!(Report::parse("exited x"), None);
    }
}
