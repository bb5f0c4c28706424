//! Where a server is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use loggia_protocol_agent_server::DEFAULT_PORT;

/// Where a server is, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// Plain HTTP: on this machine, or where everybody on the way is trusted.
    Tcp {
        /// A name or an address; an IPv6 address without brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// HTTP over TLS. The certificate is known by its fingerprint, so no authority has to vouch for it.
    Tls {
        /// A name or an address; an IPv6 address without brackets.
        host: String,
        /// The port.
        port: u16,
        /// The only certificate that is accepted.
        certificate: Fingerprint,
    },
    /// A Unix socket of the same user; needs no token.
    Unix(PathBuf),
}

/// Why a text does not say where a server is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAServer {
    /// It begins with none of the known schemes.
    #[error(
        "`{0}` is no address of a server; write `http://HOST:PORT`, `https://HOST:PORT#FINGERPRINT` or `unix:PATH`"
    )]
    Scheme(String),
    /// The host or the port cannot be read.
    #[error("`{0}` has no host, or a port that is not a number up to 65535")]
    Authority(String),
    /// There is more than a host and a port.
    #[error("`{0}` has a path; only the host and the port belong here")]
    Path(String),
    /// TLS without a certificate to expect.
    #[error("`{0}` needs the certificate's fingerprint after a `#`; the server shows it when it starts")]
    NoFingerprint(String),
    /// The fingerprint is not one.
    #[error("`{0}` is no fingerprint; it has 64 hexadecimal digits, with or without colons between each two")]
    Fingerprint(String),
}

impl Server {
    /// Reads `http://HOST:PORT`, `https://HOST:PORT#FINGERPRINT` or `unix:PATH`. Without a port it is the usual one.
    ///
    /// # Errors
    /// When the text is none of these.
    pub fn parse(text: &str) -> Result<Self, NotAServer> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        if let Some(rest) = text.strip_prefix("http://") {
            let (host, port) = authority(rest)?;
            return Ok(Self::Tcp { host, port });
        }
        let Some(rest) = text.strip_prefix("https://") else {
            return Err(NotAServer::Scheme(text.to_owned()));
        };
        let Some((rest, print)) = rest.split_once('#') else {
            return Err(NotAServer::NoFingerprint(text.to_owned()));
        };
        let (host, port) = authority(rest)?;
        Ok(Self::Tls { host, port, certificate: print.parse()? })
    }

    /// The beginning of every address asked of this server; it decides the `Host` header.
    pub(crate) fn base(&self) -> String {
        match self {
            Self::Tcp { host, port } => format!("http://{}:{port}", bracketed(host)),
            Self::Tls { host, port, .. } => format!("https://{}:{port}", bracketed(host)),
            // The path says nothing to a server; this name is one it always answers to.
            Self::Unix(_) => "http://localhost".to_owned(),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp { .. } => f.write_str(&self.base()),
            Self::Tls { certificate, .. } => write!(f, "{}#{certificate}", self.base()),
        }
    }
}

impl FromStr for Server {
    type Err = NotAServer;

    fn from_str(text: &str) -> Result<Self, NotAServer> {
        Self::parse(text)
    }
}

/// The SHA-256 of a certificate as it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl FromStr for Fingerprint {
    type Err = NotAServer;

    fn from_str(text: &str) -> Result<Self, NotAServer> {
        let wrong = || NotAServer::Fingerprint(text.to_owned());
        let bare = text.strip_prefix("sha256:").unwrap_or(text);
        let mut digits = bare.chars().filter(|char| *char != ':');
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let mut digit = || digits.next().and_then(|char| char.to_digit(16)).ok_or_else(wrong);
            *byte = u8::try_from(digit()? * 16 + digit()?).map_err(|_| wrong())?;
        }
        if digits.next().is_some() { Err(wrong()) } else { Ok(Self(bytes)) }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// `HOST`, `HOST:PORT` or `[IPv6]:PORT`, with an optional slash after it as browsers write it.
fn authority(text: &str) -> Result<(String, u16), NotAServer> {
    let wrong = || NotAServer::Authority(text.to_owned());
    let bare = text.strip_suffix('/').unwrap_or(text);
    if bare.contains(['/', '?', '#']) {
        return Err(NotAServer::Path(text.to_owned()));
    }
    let (host, port) = match bare.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
            (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':').ok_or_else(wrong)?) })
        }
        None => match bare.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (bare, None),
        },
    };
    let port = port.map_or(Ok(DEFAULT_PORT), |port| port.parse().map_err(|_| wrong()))?;
    // Anything else would end up in a header.
    let plain = |char: char| char.is_ascii_alphanumeric() || "-._:%".contains(char);
    if host.is_empty() || !host.chars().all(plain) { Err(wrong()) } else { Ok((host.to_owned(), port)) }
}

/// An IPv6 address needs brackets before a port.
fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINT: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    #[test]
    fn an_address_is_read_and_written_back() {
        for text in ["http://127.0.0.1:3199", "http://[::1]:80", "unix:/run/loggia/http.sock"] {
            assert_eq!(Server::parse(text).unwrap().to_string(), text);
        }
        let tls = format!("https://desk.local:3199#{PRINT}");
        assert_eq!(Server::parse(&tls).unwrap().to_string(), tls);
    }

    #[test]
    fn what_is_left_out_is_the_usual() {
        assert_eq!(Server::parse("http://localhost/").unwrap().to_string(), "http://localhost:3199");
        assert_eq!(Server::parse("unix:///run/s").unwrap().to_string(), "unix:/run/s");
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_to_write() {
        let error = |text: &str| Server::parse(text).unwrap_err();
        assert!(matches!(error("localhost:3199"), NotAServer::Scheme(_)));
        assert!(matches!(error("https://desk:1"), NotAServer::NoFingerprint(_)));
        assert!(matches!(error("https://desk:1#abcd"), NotAServer::Fingerprint(_)));
        assert!(matches!(error("http://desk/v1"), NotAServer::Path(_)));
        for text in ["http://", "http://desk:70000", "http://[::1", "http://a b", "http://a\r\nb"] {
            assert!(matches!(error(text), NotAServer::Authority(_)), "{text}");
        }
    }

    #[test]
    fn a_fingerprint_is_read_as_people_and_programs_write_it() {
        let plain: Fingerprint = PRINT.parse().unwrap();
        let colons: Vec<String> = PRINT
            .to_uppercase()
            .as_bytes()
            .chunks(2)
            .map(|two| String::from_utf8_lossy(two).into())
            .collect();
        assert_eq!(colons.join(":").parse::<Fingerprint>().unwrap(), plain);
        assert_eq!(format!("sha256:{PRINT}").parse::<Fingerprint>().unwrap(), plain);
        assert!(format!("{PRINT}00").parse::<Fingerprint>().is_err());
    }
}
