//! Values of keys: their types, how they are read from text, how they are compared and shown.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use loggia_jsonrpc::Json;
use serde::Serialize;

/// What a limit takes besides a number. Zero is a limit like any other: nothing at all.
pub(crate) const NO_LIMIT: &str = "none";

/// A value of some key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    /// Any text.
    Text(Cow<'static, str>),
    /// A whole number, zero or more.
    Count(u64),
    /// A number with a fraction, in millionths.
    Decimal(#[serde(serialize_with = "as_number")] u64),
    /// Yes or no.
    Switch(bool),
    /// A table that belongs to somebody else.
    Object(Json),
}

/// Shown as TOML would write it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Count(count) => count.fmt(f),
            Self::Decimal(millionths) => f.write_str(&decimal(*millionths)),
            Self::Switch(switch) => switch.fmt(f),
            Self::Object(Json(object)) => object.fmt(f),
        }
    }
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Any text.
    Text,
    /// A host and a port.
    Address,
    /// Names and addresses of hosts, separated by commas, or nothing.
    Hosts,
    /// The address of a web server, or nothing.
    Url,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A whole number, zero or more.
    Count,
    /// The same, or `none`: without limit.
    Limit,
    /// `true` or `false`.
    Switch,
    /// Some of these words, separated by commas, or `none`.
    Words(&'static [&'static str]),
    /// A number, zero or more, with at most six digits after the point.
    Price,
    /// Names, as a list or separated by commas, or nothing.
    Names,
    /// A file or a directory by its absolute path, or nothing.
    Path,
    /// Directories by their absolute paths, as a list or separated by commas, or nothing.
    Directories,
    /// A table of somebody else's making; `null` where there is none.
    Object,
    /// A list of texts.
    Texts,
    /// A table of texts; `null` where there is none.
    Variables,
    /// Tables with fields of ours, of which a file has any number.
    Entries,
}

impl ValueType {
    /// What is expected, for messages: "expected …".
    pub(crate) fn expectation(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Address => "an address such as `127.0.0.1:3199`".to_owned(),
            Self::Hosts => {
                "names or addresses of hosts, separated by commas, such as `desk.local,192.168.1.20`"
                    .to_owned()
            }
            Self::Url => "an address such as `http://localhost:4318`".to_owned(),
            Self::Choice(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Count => "a whole number, zero or more".to_owned(),
            Self::Limit => format!("a whole number, zero or more, or `{NO_LIMIT}`"),
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Words(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("some of {}, separated by commas, or `{NO_LIMIT}`", words.join(", "))
            }
            Self::Path => "an absolute path, such as `/srv/models`".to_owned(),
            Self::Directories => {
                "absolute paths, as a list or separated by commas, such as `/srv/messages`".to_owned()
            }
            Self::Names => "names, as a list or separated by commas, such as `jira,link`".to_owned(),
            Self::Object => {
                "a table; with `--set`, an object in JSON such as `{\"url\": \"https://…\"}`".to_owned()
            }
            Self::Texts => "a list of texts, such as `[\"--verbose\"]`".to_owned(),
            Self::Variables => "a table of texts, such as `{ LEVEL = \"high\" }`".to_owned(),
            Self::Entries => "tables in a file, as in `[[extensions]]`".to_owned(),
            Self::Price => {
                format!(
                    "a number such as `0.25`, from 0 to {MAX_PRICE}, with at most six digits after the point"
                )
            }
        }
    }

    /// Reads a value as a variable or `--set` gives it; `None` when it does not fit.
    pub(crate) fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Text
            | Self::Address
            | Self::Hosts
            | Self::Url
            | Self::Choice(_)
            | Self::Words(_)
            | Self::Path
            | Self::Directories
            | Self::Names => self.check(Value::Text(Cow::Owned(text.to_owned()))),
            Self::Object => {
                let object = serde_json::from_str(text).ok().map(|value| Value::Object(Json(value)));
                object
                    .filter(|object| *object != Value::Object(Json::default()))
                    .and_then(|value| self.check(value))
            }
            // Only a file has these.
            Self::Texts | Self::Variables | Self::Entries => None,
            Self::Limit if text == NO_LIMIT => Some(Value::Text(Cow::Borrowed(NO_LIMIT))),
            Self::Count | Self::Limit => text.parse().ok().map(Value::Count),
            Self::Switch => text.parse().ok().map(Value::Switch),
            Self::Price => millionths(text).map(Value::Decimal).and_then(|value| self.check(value)),
        }
    }

    /// Lets a value pass if it fits.
    pub(crate) fn check(self, value: Value) -> Option<Value> {
        let fits = match (self, &value) {
            (Self::Text, Value::Text(_))
            | (Self::Count | Self::Limit, Value::Count(_))
            | (Self::Switch, Value::Switch(_)) => true,
            (Self::Price, Value::Count(whole)) => *whole <= MAX_PRICE,
            (Self::Price, Value::Decimal(price)) => *price <= MAX_PRICE * MILLION,
            (Self::Limit, Value::Text(text)) => text == NO_LIMIT,
            (Self::Choice(words), Value::Text(text)) => words.contains(&text.as_ref()),
            (Self::Words(words), Value::Text(text)) => {
                text == NO_LIMIT || text.split(',').all(|word| words.contains(&word.trim()))
            }
            (Self::Address, Value::Text(text)) => is_address(text),
            (Self::Hosts, Value::Text(text)) => {
                text.split(',').map(str::trim).all(|name| name.is_empty() || is_host(name))
            }
            (Self::Url, Value::Text(text)) => text.is_empty() || is_url(text),
            (Self::Path, Value::Text(text)) => text.is_empty() || Path::new(text.as_ref()).is_absolute(),
            (Self::Directories, Value::Text(text)) => {
                let absolute = |path: &str| is_listed_name(path) && Path::new(path.trim()).is_absolute();
                text.is_empty() || text.split(',').all(absolute)
            }
            (Self::Names, Value::Text(text)) => text.is_empty() || text.split(',').all(is_listed_name),
            (Self::Object, Value::Object(Json(object))) => object.is_object() || object.is_null(),
            (Self::Texts, Value::Object(Json(list))) => {
                list.as_array().is_some_and(|list| list.iter().all(serde_json::Value::is_string))
            }
            (Self::Variables, Value::Object(Json(table))) => match table.as_object() {
                Some(table) => table.iter().all(|(name, value)| is_variable(name) && value.is_string()),
                None => table.is_null(),
            },
            (Self::Entries, Value::Object(Json(entry))) => entry.is_object() || entry.is_array(),
            _ => false,
        };
        fits.then_some(value)
    }
}

/// The highest price of a million tokens, in US dollars: far above every model's, and its millionths can be added up.
const MAX_PRICE: u64 = 1_000_000;

/// How many millionths there are in one.
const MILLION: u64 = 1_000_000;

/// A number as people write it, in millionths: exact, or not at all.
pub(crate) fn millionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(MILLION)?.checked_add(fraction)
}

fn decimal(millionths: u64) -> String {
    let fraction = format!("{:06}", millionths % MILLION);
    match fraction.trim_end_matches('0') {
        "" => format!("{}.0", millionths / MILLION),
        fraction => format!("{}.{fraction}", millionths / MILLION),
    }
}

fn as_number<S: serde::Serializer>(millionths: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    // Prices are far below what a float tells apart.
    serializer.serialize_f64(*millionths as f64 / MILLION as f64)
}

/// What a variable of the environment can be called.
fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// One of a list that commas separate.
fn is_listed_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// `HOST:PORT`, where the host may be an IPv6 address in brackets. Whether the host exists is not asked.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host_fits = match bare {
        Some(bare) => bare.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_')),
    };
    host_fits && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// A name as browsers send it, or an address. One in brackets is an IPv6 address.
fn is_host(text: &str) -> bool {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let is_v6 = bare.unwrap_or(text).parse::<std::net::Ipv6Addr>().is_ok();
    is_v6 || text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// `http` or `https`, and a host. A name and a password in it would end up in logs.
fn is_url(text: &str) -> bool {
    let Ok(uri) = text.parse::<hyper::Uri>() else { return false };
    let has_host = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    matches!(uri.scheme_str(), Some("http" | "https")) && has_host && uri.query().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: ValueType, text: &str, expected: &str) {
        let read = kind.read(text).map_or("does not fit".to_owned(), |value| value.to_string());
        assert_eq!(read, expected, "for {text:?} as {kind:?}");
    }

    #[test]
    fn texts_are_read_by_type() {
        check(ValueType::Text, "a \"b\"", r#""a \"b\"""#);
        check(ValueType::Count, "030", "30");
        check(ValueType::Count, "-1", "does not fit");
        check(ValueType::Count, "1.5", "does not fit");
        check(ValueType::Count, "none", "does not fit");
        check(ValueType::Limit, "030", "30");
        check(ValueType::Limit, "none", "\"none\"");
        check(ValueType::Limit, "many", "does not fit");
        check(ValueType::Switch, "true", "true");
        check(ValueType::Switch, "yes", "does not fit");
        check(ValueType::Choice(&["a", "b"]), "b", "\"b\"");
        check(ValueType::Choice(&["a", "b"]), "c", "does not fit");
    }

    #[test]
    fn prices_and_words_are_exact_or_refused() {
        for (text, expected) in [
            ("0.25", "0.25"),
            ("3", "3.0"),
            ("0.000001", "0.000001"),
            ("10.50", "10.5"),
            ("1000000", "1000000.0"),
        ] {
            check(ValueType::Price, text, expected);
        }
        for bad in ["", "-1", ".5", "1.", "1e3", "0.0000001", "1,5", "99999999999999999999", "1000000.000001"]
        {
            check(ValueType::Price, bad, "does not fit");
        }
        let kind = ValueType::Words(&["tools", "images"]);
        for good in ["tools", "images, tools", "none"] {
            check(kind, good, &format!("{good:?}"));
        }
        for bad in ["", "tool", "tools,", "tools none"] {
            check(kind, bad, "does not fit");
        }
    }

    #[test]
    fn names_and_tables_are_what_they_say() {
        for good in ["", "jira", "jira, my.plugin,link"] {
            check(ValueType::Names, good, &format!("{good:?}"));
        }
        for bad in ["jira,", ",", " ", "a,,b", "a\nb"] {
            check(ValueType::Names, bad, "does not fit");
        }
        for good in ["", "/srv/messages, /home/me/x y"] {
            check(ValueType::Directories, good, &format!("{good:?}"));
        }
        for bad in ["messages", "/srv,", "/srv,x", "~/x"] {
            check(ValueType::Directories, bad, "does not fit");
        }
        for (text, expected) in [("", "\"\""), ("/srv/a, b", "\"/srv/a, b\""), ("srv", "does not fit")] {
            check(ValueType::Path, text, expected);
        }
        check(ValueType::Object, "{\"a\": [1, {}]}", "{\"a\":[1,{}]}");
        for bad in ["", "null", "[]", "1", "{", "a = 1"] {
            check(ValueType::Object, bad, "does not fit");
        }
    }

    #[test]
    fn lists_and_tables_of_texts_hold_nothing_else() {
        let fits = |kind: ValueType, json: serde_json::Value| kind.check(Value::Object(Json(json))).is_some();
        assert!(
            fits(ValueType::Texts, serde_json::json!([])) && fits(ValueType::Texts, serde_json::json!(["a"]))
        );
        assert!(
            !fits(ValueType::Texts, serde_json::json!([1])) && !fits(ValueType::Texts, serde_json::json!({}))
        );
        assert!(fits(ValueType::Variables, serde_json::json!({ "A": "" })));
        for wrong in
            [serde_json::json!({ "A": 1 }), serde_json::json!({ "A=B": "" }), serde_json::json!(["A"])]
        {
            assert!(!fits(ValueType::Variables, wrong));
        }
        for kind in [ValueType::Texts, ValueType::Variables, ValueType::Entries] {
            check(kind, "[]", "does not fit");
        }
    }

    #[test]
    fn urls_are_those_of_web_servers() {
        for good in ["", "http://localhost:4318", "https://collector.example/otlp"] {
            check(ValueType::Url, good, &format!("{good:?}"));
        }
        for bad in ["localhost:4318", "ftp://host", "http://", "http://a:b@host", "http://host/?key=1"] {
            check(ValueType::Url, bad, "does not fit");
        }
    }

    #[test]
    fn hosts_are_what_a_browser_can_ask_for() {
        for good in ["", "desk.local", "desk, 192.168.1.20 ,[fd00::1],fd00::1", "my_desk-2.example."] {
            check(ValueType::Hosts, good, &format!("{good:?}"));
        }
        for bad in [
            "[\"desk.local\"]",
            "\"desk\"",
            "'desk'",
            "desk local",
            "https://desk.local",
            "desk.local:3199",
            "desk.local/page",
            "[desk]",
            "ok,*",
        ] {
            check(ValueType::Hosts, bad, "does not fit");
        }
    }

    #[test]
    fn addresses_are_a_host_and_a_port() {
        for good in ["127.0.0.1:3199", "localhost:0", "[::1]:65535", "my-host.example:80"] {
            check(ValueType::Address, good, &format!("{good:?}"));
        }
        for bad in
            ["127.0.0.1", ":80", "::1:80", "[::g]:1", "host:65536", "host:+1", "host:", "a b:1", "http://h:1"]
        {
            check(ValueType::Address, bad, "does not fit");
        }
    }
}
