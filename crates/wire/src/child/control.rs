//! What we and a keeper say to each other over their socket.
//!
//! First one byte with the program's three pipe ends attached, then the program's [`Order`], then single bytes
//! ([`INTERRUPT`], [`TERMINATE`], [`KILL`]). A keeper that shall make namespaces is told so by a byte before all that, and
//! what follows is for the keeper it starts inside them; if the order is still to come, it is told at once what to
//! [expect](Expectation). The keeper answers with lines, a [`Report`] each. Our end
//! closing is an order too: to kill everything.
//!
//! Only text and lengths here; no sockets.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use super::codec::{Reader, Writer};
use super::confine::{Confinement, Held, Level};
use super::limits::Limits;

/// Asks the program's group to end.
pub(super) const TERMINATE: u8 = b'T';
/// Does to the program's group what Ctrl-C does.
pub(super) const INTERRUPT: u8 = b'C';
/// Ends the program's group and everything below it.
pub(super) const KILL: u8 = b'K';
/// The byte the pipe ends travel with.
pub(super) const PIPES: u8 = b'P';
/// Comes first for a keeper that shall start another one in namespaces of its own, without a network.
pub(super) const ISOLATE: u8 = b'I';
/// The same with the network we have.
pub(super) const ISOLATE_ONLINE: u8 = b'i';
/// Comes before the pipes, for a keeper that waits in its namespaces: an [`Expectation`] follows.
pub(super) const EXPECT: u8 = b'E';

/// An order is the arguments and the environment of one program; Linux itself allows some 2 MiB of both.
const MAX_ORDER: usize = 16 * 1024 * 1024;

/// The program a keeper shall start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Order {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) limits: Limits,
    /// Whether the three ends are a terminal that shall be the program's own.
    pub(super) terminal: bool,
    /// With the one road to take, if it is to be held in.
    pub(super) confinement: Option<Confinement>,
}

/// How the program of an order to come will be held in, as far as one can guess.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expectation(pub(super) Confinement);

/// What a keeper tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// The program runs; its process id is its group's too.
    Started(i32, Held),
    /// It could not be started: the system's number for why, if it has one, and its words.
    Failed(Option<i32>, String),
    /// It was not started, because it cannot be held in on this road.
    Refused(String),
    /// It ended by itself, with this status.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
    /// Nothing it started is left. Comes after its end; does not come if something would not die.
    Cleared,
}

impl Order {
    /// Length and fields.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Writer::default();
        body.text(&self.program);
        body.list(&self.args, |body, argument| body.text(argument));
        body.maybe(self.cwd.as_ref(), |body, directory| body.text(directory));
        body.list(&self.environment, |body, (name, value)| {
            body.text(name);
            body.text(value);
        });
        self.limits.encode(&mut body);
        body.flag(self.terminal);
        body.maybe(self.confinement.as_ref(), |body, confinement| confinement.encode(body));
        with_length(&body.into_bytes())
    }

    /// Reads an order from a blocking stream.
    pub(super) fn read(source: &mut impl Read) -> std::io::Result<Self> {
        Self::decode(&read_body(source)?).ok_or_else(|| std::io::Error::other("order is damaged"))
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Reader::new(body);
        let order = Self {
            program: body.text()?,
            args: body.list(Reader::text)?,
            cwd: body.maybe(Reader::text)?.map(PathBuf::from),
            environment: body.list(|body| Some((body.text()?, body.text()?)))?,
            limits: Limits::decode(&mut body)?,
            terminal: body.flag()?,
            confinement: body.maybe(Confinement::decode)?,
        };
        body.is_done().then_some(order)
    }
}

impl Expectation {
    /// The byte that announces it, length and fields.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Writer::default();
        self.0.encode(&mut body);
        [vec![EXPECT], with_length(&body.into_bytes())].concat()
    }

    /// Reads what follows the byte.
    pub(super) fn read(source: &mut impl Read) -> std::io::Result<Self> {
        let body = read_body(source)?;
        let mut body = Reader::new(&body);
        let expected = Confinement::decode(&mut body).filter(|_| body.is_done());
        expected.map(Self).ok_or_else(|| std::io::Error::other("expectation is damaged"))
    }
}

fn with_length(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes(), body].concat()
}

fn read_body(source: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    source.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_ORDER {
        return Err(std::io::Error::other("order is too long"));
    }
    let mut body = vec![0; length];
    source.read_exact(&mut body)?;
    Ok(body)
}

impl Report {
    pub(super) fn to_line(&self) -> String {
        let line = match self {
            Self::Started(pid, held) => {
                format!("started {pid} {} {}", held.level.name(), held.missing.join("; "))
            }
            // Zero is nobody's number.
            Self::Failed(number, reason) => format!("failed {} {reason}", number.unwrap_or(0)),
            Self::Refused(reason) => format!("refused {reason}"),
            Self::Exited(status) => format!("exited {status}"),
            Self::Killed(signal) => format!("killed {signal}"),
            Self::Cleared => "cleared ".to_owned(),
        };
        format!("{}\n", line.replace('\n', " "))
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.trim_end_matches('\n').split_once(' ')?;
        Some(match word {
            "started" => {
                let mut parts = rest.splitn(3, ' ');
                let pid = parts.next()?.parse().ok()?;
                let level = Level::named(parts.next()?)?;
                let missing = parts.next()?.split("; ").filter(|text| !text.is_empty());
                Self::Started(pid, Held { level, missing: missing.map(str::to_owned).collect() })
            }
            "failed" => {
                let (number, reason) = rest.split_once(' ')?;
                let number = Some(number.parse().ok()?).filter(|number| *number != 0);
                Self::Failed(number, reason.to_owned())
            }
            "refused" => Self::Refused(rest.to_owned()),
            "exited" => Self::Exited(rest.parse().ok()?),
            "killed" => Self::Killed(rest.parse().ok()?),
            "cleared" => Self::Cleared,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::child::confine::{Grant, Road};

    fn full() -> Order {
        Order {
            program: "prog".into(),
            args: vec!["".into(), "a b".into(), OsString::from_vec(vec![0xff, b'\n'])],
            cwd: Some("/tmp".into()),
            environment: vec![("A".into(), "".into()), ("B".into(), "x=y".into())],
            limits: Limits {
                core: Some(0),
                memory: Some(1 << 40),
                oom_score: Some(500),
                ..Limits::default()
            },
            terminal: true,
            confinement: Some(Confinement {
                required: true,
                roads: vec![Road::Namespaces, Road::Bubblewrap("/usr/bin/bwrap".into()), Road::Landlock],
                grants: vec![Grant { path: "/usr".into(), write: false, execute: true }],
                sealed: vec!["/r/.git".into()],
                hidden: vec!["/home/keys".into()],
                temporary: vec!["/tmp".into()],
                network: true,
                unix_sockets: false,
            }),
        }
    }

    #[test]
    fn orders_survive_the_way() {
        assert_eq!(Order::read(&mut &full().encode()[..]).unwrap(), full());
        let bare = Order { program: "p".into(), ..Order::default() };
        assert_eq!(Order::read(&mut &bare.encode()[..]).unwrap(), bare);
    }

    #[test]
    fn expectations_survive_the_way_and_damaged_ones_are_refused() {
        let expectation = Expectation(full().confinement.unwrap());
        let bytes = expectation.encode();
        assert_eq!((bytes[0], Expectation::read(&mut &bytes[1..]).unwrap()), (EXPECT, expectation));
        for end in 1..bytes.len() {
            assert!(Expectation::read(&mut &bytes[1..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn damaged_orders_are_refused() {
        let bytes = full().encode();
        for end in 0..bytes.len() {
            assert!(Order::read(&mut &bytes[..end]).is_err(), "cut at {end}");
            // The same with a length that fits what is left.
            let mut shorter = (end as u32).to_be_bytes().to_vec();
            shorter.extend_from_slice(&bytes[4..(4 + end).min(bytes.len() - 1)]);
            assert!(Order::read(&mut &shorter[..]).is_err(), "cut and counted at {end}");
        }
        assert!(Order::read(&mut &[0xff; 8][..]).is_err());
    }

    #[test]
    fn reports_survive_the_way() {
        let held = |level, missing: &[&str]| Held {
            level,
            missing: missing.iter().map(|&text| text.to_owned()).collect(),
        };
        for report in [
            Report::Started(7, held(Level::None, &[])),
            Report::Started(7, held(Level::Isolated, &[])),
            Report::Started(8, held(Level::Partial, &["no signals", "no truncation"])),
            Report::Failed(Some(2), "no such file".into()),
            Report::Failed(None, "".into()),
            Report::Refused("no namespaces".into()),
            Report::Exited(3),
            Report::Killed(9),
            Report::Cleared,
        ] {
            assert_eq!(Report::parse(&report.to_line()), Some(report));
        }
        assert_eq!(Report::parse("nonsense"), None);
        assert_eq!(Report::parse("exited x"), None);
        assert_eq!(Report::parse("started 7 sideways "), None);
    }
}
