//! Chromium, driven through ChromeDriver: the WebDriver protocol, of which a handful of commands is enough.

#![expect(clippy::disallowed_methods, reason = "the driver is ended with the chore")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};

use super::http;

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(40);

/// A browser window. It is closed with this value.
pub(super) struct Browser {
    driver: Child,
    address: String,
    session: String,
}

impl Browser {
    /// Starts the driver and a window.
    pub(super) fn start(program: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().map_err(|error| {
            anyhow!(
                "cannot start `{program}`: {error}\nhint: this chore needs Chromium and its driver; on Debian, \
                 `apt-get install chromium chromium-driver`"
            )
        })?;
        let stdout = driver.stdout.take().context("the driver has no output")?;
        let mut browser = Self { driver, address: String::new(), session: String::new() };
        browser.address = format!("127.0.0.1:{}", port(BufReader::new(stdout))?);
        let mut arguments =
            vec!["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB"];
        if is_root() {
            // Chromium does not run as root otherwise.
            arguments.push("--no-sandbox");
        }
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        }}});
        let made = http::ask(&browser.address, "POST", "/session", Some(&wanted));
        let made =
            made.context("the driver cannot start Chromium; is it installed, in the driver's version?")?;
        browser.session =
            made["value"]["sessionId"].as_str().context("the driver gives no session")?.to_owned();
        Ok(browser)
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let path = format!("/session/{}/{path}", self.session);
        Ok(http::ask(&self.address, method, &path, body.as_ref())?["value"].take())
    }

    pub(super) fn go(&self, url: &str) -> anyhow::Result<()> {
        self.ask("POST", "url", Some(json!({ "url": url }))).map(drop)
    }

    pub(super) fn reload(&self) -> anyhow::Result<()> {
        self.ask("POST", "refresh", Some(json!({}))).map(drop)
    }

    /// What a script's `return` gives.
    pub(super) fn script(&self, script: &str) -> anyhow::Result<Value> {
        self.ask("POST", "execute/sync", Some(json!({ "script": script, "args": [] })))
    }

    /// Waits until an expression is true, or anything but nothing.
    pub(super) fn until(&self, expression: &str) -> anyhow::Result<Value> {
        let begin = Instant::now();
        loop {
            let value = self.script(&format!("return {expression};"))?;
            if !matches!(value, Value::Null | Value::Bool(false)) && value != "" && value != 0 {
                return Ok(value);
            }
            if begin.elapsed() > PATIENCE {
                bail!("`{expression}` did not become true");
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits for an element and clicks on it as a person does: only what can be seen can be hit.
    pub(super) fn click(&self, xpath: &str) -> anyhow::Result<()> {
        let element = self.find(xpath)?;
        self.ask("POST", &format!("element/{element}/click"), Some(json!({})))
            .map(drop)
            .context(xpath.to_owned())
    }

    /// Waits for an element and types into it.
    pub(super) fn type_into(&self, xpath: &str, text: &str) -> anyhow::Result<()> {
        let element = self.find(xpath)?;
        self.ask("POST", &format!("element/{element}/value"), Some(json!({ "text": text }))).map(drop)
    }

    fn find(&self, xpath: &str) -> anyhow::Result<String> {
        let begin = Instant::now();
        loop {
            let found = self.ask("POST", "elements", Some(json!({ "using": "xpath", "value": xpath })))?;
            let first = found.get(0).and_then(Value::as_object).and_then(|names| names.values().next());
            if let Some(id) = first.and_then(Value::as_str) {
                return Ok(id.to_owned());
            }
            if begin.elapsed() > PATIENCE {
                bail!("there is no `{xpath}` on the page");
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Makes the window so wide, in a colour scheme.
    pub(super) fn look(&self, width: u32, height: u32, scheme: &str) -> anyhow::Result<()> {
        let narrow = width < 600;
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 2, "mobile": narrow});
        self.devtools("Emulation.setDeviceMetricsOverride", &size)?;
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &media)
    }

    /// Runs a script in every page before its own.
    pub(super) fn inject(&self, source: &str) -> anyhow::Result<()> {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": source }))
    }

    fn devtools(&self, command: &str, parameters: &Value) -> anyhow::Result<()> {
        let body = json!({ "cmd": command, "params": parameters });
        self.ask("POST", "goog/cdp/execute", Some(body)).map(drop)
    }

    pub(super) fn forget_cookies(&self) -> anyhow::Result<()> {
        self.ask("DELETE", "cookie", None).map(drop)
    }

    pub(super) fn screenshot(&self, path: &Path) -> anyhow::Result<()> {
        let picture = self.ask("GET", "screenshot", None)?;
        let bytes = base64(picture.as_str().context("there is no picture")?)?;
        std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// Fails if the page complained: an error of a script, or something its policy forbids.
    pub(super) fn check_complaints(&self) -> anyhow::Result<()> {
        let log = self.ask("POST", "se/log", Some(json!({ "type": "browser" })))?;
        let severe = log.as_array().into_iter().flatten().filter(|entry| entry["level"] == "SEVERE");
        // An answer that says no is told as one, and expected where a code is wrong or a cookie gone; and so is none
        // from a server that was killed.
        let is_answer = |text: &str| {
            text.contains("the server responded with a status of 4") || text.contains("net::ERR_CONNECTION_")
        };
        let texts: Vec<_> =
            severe.filter_map(|entry| entry["message"].as_str()).filter(|text| !is_answer(text)).collect();
        if !texts.is_empty() {
            bail!("the page complains: {}", texts.join("\n"));
        }
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The window first: a driver that is killed leaves it behind. Nobody is left to hear of a failure.
        if !self.session.is_empty() {
            let _ = http::ask(&self.address, "DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port in `… was started successfully on port 40123.`
fn port(lines: impl BufRead) -> anyhow::Result<u16> {
    for line in lines.lines() {
        let line = line?;
        let digits = line.rsplit("on port ").next().filter(|_| line.contains("on port "));
        if let Some(port) =
            digits.and_then(|rest| rest.trim_end_matches('.').parse().ok()).filter(|port| *port != 0)
        {
            return Ok(port);
        }
    }
    bail!("the driver does not say where it listens")
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Pictures come as text.
fn base64(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => bail!("`{}` is no letter of base64", letter.escape_ascii()),
        };
        held = held << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).unwrap_or_default());
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_from_its_text() {
        assert_eq!(base64("aGVsbG8=").unwrap(), b"hello");
        assert_eq!(base64("/+8A").unwrap(), [0xff, 0xef, 0]);
        assert!(base64("a b").is_err());
    }

    #[test]
    fn the_drivers_port_is_in_one_of_its_first_lines() {
        let said = "Starting ChromeDriver 1 on port 0\nOnly local.\nChromeDriver was started successfully on port 40123.\n";
        assert_eq!(port(said.as_bytes()).unwrap(), 40123);
        assert!(port("no\n".as_bytes()).is_err());
    }
}
