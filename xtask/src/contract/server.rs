//! The product, running in a directory of its own.

use std::fs::{DirBuilder, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use serde_json::Value;

use crate::shell;

/// A model that answers every prompt in the same way.
const SCRIPT: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"Done.\" }]\n";

/// How long the server may take to end: its doors drain in five seconds.
const END: Duration = Duration::from_secs(15);

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);

/// A running server. It ends with this value.
pub(super) struct Server {
    child: Child,
    log: PathBuf,
    /// Where it is, without a slash at the end.
    pub(super) url: String,
    /// A token that allows everything.
    pub(super) token: String,
}

impl Server {
    /// Starts one with everything it keeps below `place`.
    pub(super) fn start(place: &Path) -> anyhow::Result<Self> {
        shell::run(&mut shell::cargo(["build", "--locked", "--package", "loggia"]))?;
        let project = place.join("project");
        // The record of requests and the token are in there: nobody else looks in.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&project);
        made.with_context(|| format!("cannot make `{}`", project.display()))?;
        let script = place.join("script.toml");
        std::fs::write(&script, SCRIPT).context("cannot write the script")?;
        // Not by a flag: a model that a server was started with cannot be changed, and that is to be asked for, too.
        let config = place.join("config");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&config);
        made.with_context(|| format!("cannot make `{}`", config.display()))?;
        let model = format!("[model]\ndefault = {:?}\n", format!("scripted:{}", script.display()));
        std::fs::write(config.join("config.toml"), model).context("cannot write the configuration")?;
        let log = place.join("server.log");

        // Cargo becomes the program it runs, so that ending the child ends the server.
        let mut command = shell::cargo(["run", "--quiet", "--locked", "--package", "loggia", "--", "serve"]);
        command.args(["--addr", "127.0.0.1:0", "--json"]).arg("--workspace").arg(&project);
        // The server makes the other two itself, closed to everybody else.
        for name in ["data", "config", "runtime"] {
            command.env(format!("LOGGIA_{}_DIR", name.to_uppercase()), place.join(name));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(&log).context("cannot make the log")?);
        let mut child = command.spawn().context("cannot start the server")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("the server has no output")?;
        // From here on the child is ended whatever happens.
        let mut server = Self { child, log, url: String::new(), token: String::new() };
        BufReader::new(stdout).read_line(&mut line).context("cannot read the server's first line")?;
        (server.url, server.token) = server.ready(&line)?;
        Ok(server)
    }

    /// Where the server is and its token, by its ready line.
    fn ready(&self, line: &str) -> anyhow::Result<(String, String)> {
        let missing = || anyhow!("the server did not become ready, see {}", self.log.display());
        let ready: Value = serde_json::from_str(line).map_err(|_| missing())?;
        let url = ready["url"].as_str().ok_or_else(missing)?.trim_end_matches('/').to_owned();
        let file = ready["token_file"].as_str().ok_or_else(missing)?;
        let token = std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
        Ok((url, token.trim().to_owned()))
    }

    /// What the server logs.
    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    /// Asks for something that must go well, and gives the answer.
    pub(super) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let address = self.url.strip_prefix("http://").context("the server does not speak plain HTTP")?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        let exchange = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(ANSWER))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = exchange().with_context(|| format!("{method} {path}"))?;
        read_answer(&answer).with_context(|| format!("{method} {path}"))
    }

    /// Fails if the server has ended, does not answer, or no longer knows our token: then the requests before this one
    /// were refused at the door, and found nothing.
    pub(super) fn check_alive(&mut self) -> anyhow::Result<()> {
        if let Some(status) = self.child.try_wait().context("cannot look after the server")? {
            bail!("the server ended by itself ({status}), see {}", self.log.display());
        }
        self.ask("GET", "/v1/tokens", None).map(drop)
    }

    /// Ends the server as its clients do.
    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        self.ask("POST", "/v1/stop", None)?;
        let begin = Instant::now();
        while begin.elapsed() < END {
            if let Some(status) = self.child.try_wait().context("cannot look after the server")? {
                if status.success() {
                    return Ok(());
                }
                bail!("the server ended badly ({status}), see {}", self.log.display());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("the server did not stop within {} s", END.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; there is nobody left to tell about anything else.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of a good answer; null for one without.
fn read_answer(answer: &str) -> anyhow::Result<Value> {
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer breaks off")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    if !status.starts_with('2') {
        bail!("answered {status}: {body}");
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(body).with_context(|| format!("the answer is not JSON: {body}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_answer_gives_its_body() {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}";
        assert_eq!(read_answer(answer).unwrap()["a"], 1);
        assert_eq!(read_answer("HTTP/1.1 202 Accepted\r\nx: y\r\n\r\n").unwrap(), Value::Null);
    }

    #[test]
    fn a_bad_answer_is_an_error_with_its_text() {
        let error = read_answer("HTTP/1.1 404 Not Found\r\nx: y\r\n\r\n{}").unwrap_err();
        assert_eq!(error.to_string(), "answered 404: {}");
        assert!(read_answer("HTTP/1.1 200 OK\r\n").is_err());
    }
}
