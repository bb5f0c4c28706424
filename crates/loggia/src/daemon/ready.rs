//! What a daemon tells when it is ready: one line for programs, a few for people.

use std::path::PathBuf;

use serde::Serialize;

use super::listeners::Place;
use super::{Settings, detach};
use crate::color::{ASIDE, SUBJECT};
use crate::config::places::Places;
use crate::errors::Error;
use crate::output::{Printer, printable};

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) url: Option<String>,
    pub(crate) http_socket: PathBuf,
    pub(crate) rpc_socket: PathBuf,
    pub(crate) console_socket: PathBuf,
    /// Where one browser is let in, if one is to be opened.
    page: Option<String>,
    /// Where others find it, under the names that were listed for them.
    other_urls: Vec<String>,
    token_file: PathBuf,
    fingerprint: Option<String>,
    certificate: Option<PathBuf>,
    model: Option<String>,
    workspaces: Vec<PathBuf>,
    /// Where it logs from now on, if whoever started it goes.
    log_file: Option<PathBuf>,
}

/// The line for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    event: &'static str,
    url: Option<&'a str>,
    token_file: String,
    http_socket: String,
    rpc_socket: String,
    console_socket: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_fingerprint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_url: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    other_urls: &'a [String],
}

impl Summary {
    pub(crate) fn new(
        settings: &Settings,
        places: &Places,
        place: Place,
        page: Option<String>,
        workspaces: Vec<PathBuf>,
    ) -> Self {
        let Place { url, other_urls, http_socket, rpc_socket, console_socket, fingerprint, certificate } =
            place;
        Self {
            url,
            other_urls,
            http_socket,
            rpc_socket,
            console_socket,
            page,
            token_file: places.data().join("token"),
            fingerprint,
            certificate,
            model: settings.model.clone(),
            workspaces,
            log_file: settings.detached.then(|| detach::log_file(places)),
        }
    }

    /// Prints it.
    pub(crate) fn print(&self, json: bool) -> Result<(), Error> {
        let mut printer = Printer::new();
        if json {
            printer.line(self.line())?;
        } else {
            self.lines().iter().try_for_each(|line| printer.line(line))?;
        }
        printer.finish()
    }

    fn line(&self) -> String {
        let line = Line {
            event: "ready",
            url: self.url.as_deref(),
            token_file: self.token_file.display().to_string(),
            http_socket: self.http_socket.display().to_string(),
            rpc_socket: self.rpc_socket.display().to_string(),
            console_socket: self.console_socket.display().to_string(),
            tls_fingerprint: self.fingerprint.as_deref(),
            page_url: self.page.as_deref(),
            other_urls: &self.other_urls,
        };
        serde_json::to_string(&line).expect("texts can always be written")
    }

    fn lines(&self) -> Vec<String> {
        let version = env!("CARGO_PKG_VERSION");
        let mut lines = vec![format!("{SUBJECT}loggia {version}{SUBJECT:#} is ready"), String::new()];
        let mut fact = |name: &str, text: &str| {
            lines.push(format!("  {ASIDE}{name:<11}{ASIDE:#} {}", printable(text)));
        };
        if let Some(url) = &self.url {
            fact("url", url);
            self.other_urls.iter().for_each(|url| fact("for others", url));
            if let Some(page) = &self.page {
                fact("page", &format!("{page} (good once, for two minutes)"));
            }
            fact("token file", &self.token_file.display().to_string());
        }
        fact("socket", &self.http_socket.display().to_string());
        fact("rpc socket", &self.rpc_socket.display().to_string());
        fact("console", &self.console_socket.display().to_string());
        if let Some(fingerprint) = &self.fingerprint {
            fact("fingerprint", fingerprint);
        }
        fact("model", self.model.as_deref().unwrap_or("none: prompts are answered by searching"));
        if self.workspaces.is_empty() {
            fact(
                "workspace",
                "none: neither `.git` nor `.loggia` is here or above; name one with `--workspace DIR`",
            );
        }
        for root in &self.workspaces {
            fact("workspace", &root.display().to_string());
        }
        if let Some(path) = &self.log_file {
            fact("log", &path.display().to_string());
        }
        lines.push(String::new());
        lines.push(format!("try   {}", printable(&self.curl())));
        let here = if self.log_file.is_none() { ", or Ctrl-C here" } else { "" };
        lines.push(format!("stop  `loggia stop`{here}"));
        lines
    }

    /// A first request to copy.
    fn curl(&self) -> String {
        let Some(url) = &self.url else {
            return format!(
                "curl --unix-socket {} http://localhost/v1/workspaces",
                quoted(&self.http_socket)
            );
        };
        let trusted = self.certificate.as_ref();
        let trusted = trusted.map(|path| format!(" --cacert {}", quoted(path))).unwrap_or_default();
        let token = quoted(&self.token_file);
        format!("curl{trusted} -H \"Authorization: Bearer $(cat {token})\" {url}/v1/workspaces")
    }
}

/// A path as a shell reads it.
fn quoted(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
