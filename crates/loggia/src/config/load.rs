//! From the outside to layers: files, variables and flags become checked assignments.
//!
//! What is not known or does not fit is an error here, with its place, so that later steps meet only
//! values that make sense.

mod entries;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use loggia_jsonrpc::Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Place};
use super::keys::{self, Key};
use super::layers::{Assignment, Layer, Origin};
use super::trust::Trust;
use super::value::{Value, ValueType, millionths};
use crate::cli::GlobalFlags;
use crate::env_vars;
use crate::nearest::nearest;

/// No sensible configuration comes near this; a workspace must not make us read without end.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The user's file as a layer; an absent file is an empty layer.
pub(crate) fn user_file(path: &Path) -> Result<Layer, ConfigError> {
    let origin = |line| Origin::UserFile { path: path.to_owned(), line };
    Ok(Layer::trusted(file(path, origin)?))
}

/// The workspace's file as a layer; an absent file is an empty layer.
pub(crate) fn workspace_file(path: &Path, trust: Trust) -> Result<Layer, ConfigError> {
    let origin = |line| Origin::WorkspaceFile { path: path.to_owned(), line };
    Ok(Layer { assignments: file(path, origin)?, trust })
}

/// The `LOGGIA_*` variables as a layer.
pub(crate) fn variables(variables: &[(OsString, OsString)]) -> Result<Layer, ConfigError> {
    let mut assignments = Vec::new();
    for (name, value) in variables {
        let name = name.to_string_lossy();
        if let Some(key) = env_vars::key_of(&name) {
            let value = value.to_string_lossy();
            let value = read_text(key, &value, &name)?;
            let origin = Origin::Variable { name: name.into_owned() };
            assignments.push(Assignment { key, path: key.path.into(), value, origin });
        } else if env_vars::OTHERS.iter().all(|variable| variable.name != name) {
            let known = env_vars::known_names();
            let nearest = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(ConfigError::UnknownVariable { name: name.into_owned(), nearest });
        }
    }
    // The key's own variable is stronger than an alias: it goes on top.
    assignments.sort_by_key(|assignment| match &assignment.origin {
        Origin::Variable { name } => assignment.key.variable().as_ref() == Some(name),
        _ => false,
    });
    Ok(Layer::trusted(assignments))
}

/// A flag that sets one key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnFlag<'a> {
    pub(crate) key: &'static Key,
    /// As it is typed.
    pub(crate) name: &'static str,
    /// What was given, if it was.
    pub(crate) text: Option<&'a str>,
}

/// The flags as a layer. A flag of its own, be it of every command or of the one that runs, is stronger than `--set`:
/// it goes on top.
pub(crate) fn flags(flags: &GlobalFlags, of_command: &[OwnFlag<'_>]) -> Result<Layer, ConfigError> {
    let mut assignments = Vec::new();
    for (path, text) in &flags.set {
        let key = keys::find(path).ok_or_else(|| ConfigError::UnknownKeyInFlag {
            key: path.clone(),
            nearest: nearest(path, keys::names()),
        })?;
        let value = read_text(key, text, "--set")?;
        let origin = Origin::Flag { name: "--set".to_owned() };
        assignments.push(Assignment { key, path: path.clone().into(), value, origin });
    }
    let own = |key, name, text| OwnFlag { key, name, text };
    let of_all = [
        own(&keys::UI_COLOR, "--color", flags.color.as_deref()),
        own(&keys::LOG_FORMAT, "--log-format", flags.log_format.as_deref()),
        own(&keys::LOG_LEVEL, "--log-level", flags.log_level.as_deref()),
        own(&keys::LOG_LEVEL, "--quiet", flags.quiet.then_some("error")),
        own(&keys::LOG_LEVEL, "--verbose", verbosity(flags.verbose)),
    ];
    for &OwnFlag { key, name, text } in of_all.iter().chain(of_command) {
        if let Some(text) = text {
            let value = read_text(key, text, name)?;
            let origin = Origin::Flag { name: name.to_owned() };
            assignments.push(Assignment { key, path: key.path.into(), value, origin });
        }
    }
    Ok(Layer::trusted(assignments))
}

fn verbosity(count: u8) -> Option<&'static str> {
    match count {
        0 => None,
        1 => Some("debug"),
        _ => Some("trace"),
    }
}

fn read_text(key: &Key, text: &str, place: &str) -> Result<Value, ConfigError> {
    key.kind.read(text).ok_or_else(|| ConfigError::WrongValue {
        key: key.path.to_owned(),
        found: format!("`{text}`"),
        place: place.to_owned(),
        expected: key.kind.expectation(),
    })
}

/// The text of a file, or `None` when there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    match read_regular(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

/// Reads a regular file only: opening a pipe would wait for ever.
fn read_regular(path: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {MAX_FILE_BYTES} bytes"),
        ));
    }
    Ok(text)
}

fn file(path: &Path, origin: impl Fn(usize) -> Origin) -> Result<Vec<Assignment>, ConfigError> {
    match read(path)? {
        Some(text) => parse(path, &text, origin),
        None => Ok(Vec::new()),
    }
}

fn parse(path: &Path, text: &str, origin: impl Fn(usize) -> Origin) -> Result<Vec<Assignment>, ConfigError> {
    let table = DeTable::parse(text).map_err(|error| ConfigError::syntax(path, text, &error))?;
    let mut walk = Walk { path, text, origin, assignments: Vec::new(), first_error: None };
    walk.table("", table.get_ref());
    match walk.first_error {
        Some((_, error)) => Err(error),
        None => Ok(walk.assignments),
    }
}

/// A walk over a parsed file. Tables come sorted by name; errors are told in the file's order all the same.
struct Walk<'a, F> {
    path: &'a Path,
    text: &'a str,
    origin: F,
    assignments: Vec<Assignment>,
    first_error: Option<(usize, ConfigError)>,
}

impl<F: Fn(usize) -> Origin> Walk<'_, F> {
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = join(section, name.get_ref());
            match (keys::find(&path), value.get_ref()) {
                (Some(key), _) if key.kind == ValueType::Entries => self.entries(key, value),
                (Some(key), _) => self.assign(key, path, name, value),
                (None, DeValue::Table(inner)) if keys::is_section(&path) || !inner.is_empty() => {
                    self.table(&path, inner);
                }
                (None, found) if keys::is_section(&path) => self.not_a_section(path, value, found),
                (None, _) => self.unknown(path, name),
            }
        }
    }

    fn assign(
        &mut self,
        key: &'static Key,
        path: String,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) {
        let place = self.place(value.span().start);
        match read_value(key, value.get_ref()) {
            Some(value) => {
                let line = self.place(name.span().start).line;
                let origin = (self.origin)(line);
                self.assignments.push(Assignment { key, path: path.into(), value, origin });
            }
            None => self.fault(
                value.span().start,
                ConfigError::WrongValue {
                    key: path,
                    found: describe(value.get_ref()),
                    place: place.to_string(),
                    expected: key.kind.expectation(),
                },
            ),
        }
    }

    fn not_a_section(&mut self, path: String, value: &Spanned<DeValue<'_>>, found: &DeValue<'_>) {
        let start = value.span().start;
        let place = self.place(start).to_string();
        let expected = format!("a table, as in `[{path}]`");
        self.fault(start, ConfigError::WrongValue { key: path, found: describe(found), place, expected });
    }

    fn unknown(&mut self, key: String, name: &Spanned<std::borrow::Cow<'_, str>>) {
        let start = name.span().start;
        let nearest = nearest(&key, keys::names());
        let place = self.place(start);
        self.fault(start, ConfigError::UnknownKey { key, place, nearest });
    }

    fn place(&self, offset: usize) -> Place {
        Place::of(self.path, self.text, offset)
    }

    fn fault(&mut self, offset: usize, error: ConfigError) {
        if self.first_error.as_ref().is_none_or(|(first, _)| offset < *first) {
            self.first_error = Some((offset, error));
        }
    }
}

/// A dotted path. A part that has a dot itself stays quoted, so that it meets no key.
fn join(section: &str, name: &str) -> String {
    let name = if name.contains('.') { format!("{name:?}") } else { name.to_owned() };
    if section.is_empty() { name } else { format!("{section}.{name}") }
}

/// The value as the key takes it, if it does.
fn read_value(key: &Key, value: &DeValue<'_>) -> Option<Value> {
    let read = match key.kind {
        ValueType::Names | ValueType::Directories => names(value),
        ValueType::Object | ValueType::Texts | ValueType::Variables => {
            json(value).map(|object| Value::Object(Json(object)))
        }
        _ => plain(value),
    };
    read.and_then(|value| key.kind.check(value))
}

/// The value as ours, if we have such a type.
fn plain(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::Text(text.to_string().into())),
        DeValue::Integer(integer) => {
            u64::from_str_radix(integer.as_str(), integer.radix()).ok().map(Value::Count)
        }
        DeValue::Boolean(switch) => Some(Value::Switch(*switch)),
        DeValue::Float(float) => millionths(float.as_str()).map(Value::Decimal),
        _ => None,
    }
}

/// Names, in a list or in one text.
fn names(value: &DeValue<'_>) -> Option<Value> {
    let DeValue::Array(list) = value else { return plain(value) };
    let name = |one: &Spanned<DeValue<'_>>| match one.get_ref() {
        DeValue::String(text) if !text.contains(',') => Some(text.to_string()),
        _ => None,
    };
    let names: Option<Vec<String>> = list.iter().map(name).collect();
    names.map(|names| Value::Text(names.join(",").into()))
}

/// The value as JSON has it. A number that JSON has not is nothing, a date is its text.
fn json(value: &DeValue<'_>) -> Option<serde_json::Value> {
    Some(match value {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok()?.into(),
        DeValue::Float(float) => serde_json::Number::from_f64(float.as_str().parse().ok()?)?.into(),
        DeValue::Boolean(switch) => (*switch).into(),
        DeValue::Datetime(moment) => moment.to_string().into(),
        DeValue::Array(list) => {
            list.iter().map(|one| json(one.get_ref())).collect::<Option<Vec<_>>>()?.into()
        }
        DeValue::Table(table) => {
            let pair = |(name, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
                Some((name.get_ref().to_string(), json(value.get_ref())?))
            };
            table.iter().map(pair).collect::<Option<serde_json::Map<_, _>>>()?.into()
        }
    })
}

/// The value in a few words, for messages.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("`{text:?}`"),
        DeValue::Integer(integer) => format!("`{integer}`"),
        DeValue::Float(float) => format!("`{float}`"),
        DeValue::Boolean(switch) => format!("`{switch}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::Error;

    /// Parses a file and says in one line what it sets, or what is wrong and the hint.
    fn check(text: &str, expected: &str) {
        let path = Path::new("f.toml");
        let told = match parse(path, text, |line| Origin::UserFile { path: path.to_owned(), line }) {
            Ok(assignments) => {
                let told = assignments.iter().map(|set| format!("{}={} {}", set.path, set.value, set.origin));
                told.collect::<Vec<_>>().join(", ")
            }
            Err(error) => {
                let error = Error::from(error);
                format!("{error} | {}", error.hint().unwrap_or_default())
            }
        };
        assert_eq!(told, expected, "for {text}");
    }

    #[test]
    fn keys_are_read_in_every_spelling_of_toml() {
        check("[server]\naddr = \"a:1\"", "server.addr=\"a:1\" f.toml:2");
        check("server.addr = \"a:1\"", "server.addr=\"a:1\" f.toml:1");
        check("server = { addr = \"a:1\" }", "server.addr=\"a:1\" f.toml:1");
        check("[policy]\nmax_steps = 0x10", "policy.max_steps=16 f.toml:2");
        check("[policy]\nmax_steps = 1_000", "policy.max_steps=1000 f.toml:2");
        check("[models.corp]\nkind = \"ollama\"", "models.corp.kind=\"ollama\" f.toml:2");
        check(
            "[catalogue.\"ollama:qwen2.5:7b\"]\ninput_price = 0.5\noutput_price = 2",
            "catalogue.\"ollama:qwen2.5:7b\".input_price=0.5 f.toml:2, \
             catalogue.\"ollama:qwen2.5:7b\".output_price=2 f.toml:3",
        );
        check("[server]\n", "");
        check("", "");
    }

    #[test]
    fn plugins_are_named_in_a_list_and_have_tables_of_their_own() {
        check("[plugins]\nenabled = [\"jira\", \"link\"]", "plugins.enabled=\"jira,link\" f.toml:2");
        check("[plugins]\nenabled = \"jira\"", "plugins.enabled=\"jira\" f.toml:2");
        check(
            "[plugins.config.jira]\nboards = [1, -2]\nnested = { deep = 1.5, on = true }\nurl = \"u\"",
            "plugins.config.jira={\"boards\":[1,-2],\"nested\":{\"deep\":1.5,\"on\":true},\"url\":\"u\"} f.toml:1",
        );
        check(
            "[plugins]\nenabled = [1]",
            "`plugins.enabled` cannot be a list (in `f.toml:2:11`) | expected names, as a list or separated by commas, such as `jira,link`",
        );
        check(
            "[plugins]\nconfig.jira = 7",
            "`plugins.config.jira` cannot be `7` (in `f.toml:2:15`) | expected a table; with `--set`, an object in JSON such as `{\"url\": \"https://…\"}`",
        );
    }

    #[test]
    fn unknown_keys_are_told_with_their_place_and_the_nearest_key() {
        check("[server]\nadr = 1", "unknown key `server.adr` in `f.toml:2:1` | did you mean `server.addr`?");
        check("[sever]\naddr = 1", "unknown key `sever.addr` in `f.toml:2:1` | did you mean `server.addr`?");
        check("[banana]\n", "unknown key `banana` in `f.toml:1:2` | `loggia config show` lists all keys");
        check(
            "\"server.addr\" = 1",
            "unknown key `\"server.addr\"` in `f.toml:1:1` | did you mean `server.addr`?",
        );
    }

    #[test]
    fn the_first_fault_of_the_file_is_told() {
        check(
            "[server]\nzzz = 1\n[log]\nlevell = 2",
            "unknown key `server.zzz` in `f.toml:2:1` | `loggia config show` lists all keys",
        );
    }

    #[test]
    fn values_that_do_not_fit_are_told_with_what_would() {
        check(
            "log.level = \"loud\"",
            "`log.level` cannot be `\"loud\"` (in `f.toml:1:13`) | expected one of `off`, `error`, `warn`, `info`, `debug`, `trace`",
        );
        check(
            "[policy]\nmax_steps = -1",
            "`policy.max_steps` cannot be `-1` (in `f.toml:2:13`) | expected a whole number, zero or more",
        );
        check(
            "[sandbox]\nrequired = [true]",
            "`sandbox.required` cannot be a list (in `f.toml:2:12`) | expected `true` or `false`",
        );
        check("server = 7", "`server` cannot be `7` (in `f.toml:1:10`) | expected a table, as in `[server]`");
        check(
            "server.addr.x = 7",
            "`server.addr` cannot be a table (in `f.toml:1:8`) | expected an address such as `127.0.0.1:3199`",
        );
    }

    #[test]
    fn lists_of_tables_are_read_table_by_table() {
        check(
            "[[extensions]]\npath = \"a b\"\nenv = { X = \"1\" }\n\n[[extensions]]\npath = \"c\"\nargs = [\"-v\"]\nenabled = false",
            "extensions={\"env\":{\"X\":\"1\"},\"path\":\"a b\"} f.toml:1, \
             extensions={\"args\":[\"-v\"],\"enabled\":false,\"path\":\"c\"} f.toml:5",
        );
        check("extensions = [{ path = \"a\" }]", "extensions={\"path\":\"a\"} f.toml:1");
        check("extensions = []", "");
    }

    #[test]
    fn every_mistake_in_a_list_of_tables_has_its_place() {
        check(
            "[[extensions]]\npath = \"a\"\npth = 1",
            "unknown key `extensions.pth` in `f.toml:3:1` | did you mean `path`?",
        );
        check(
            "[[extensions]]\npath = \"a\"\nxyzzy = 1",
            "unknown key `extensions.xyzzy` in `f.toml:3:1` | each `[[extensions]]` takes `name`, `path`, `args`, `env`, `cwd`, `enabled`",
        );
        check(
            "[[extensions]]\nname = \"a\"",
            "`extensions.path` cannot be left out (in `f.toml:1:1`) | expected `path` in each `[[extensions]]`",
        );
        check(
            "[[extensions]]\npath = \" \"",
            "`extensions.path` cannot be `\" \"` (in `f.toml:2:8`) | expected text",
        );
        check(
            "[[extensions]]\npath = \"a\"\nargs = \"-v\"",
            "`extensions.args` cannot be `\"-v\"` (in `f.toml:3:8`) | expected a list of texts, such as `[\"--verbose\"]`",
        );
        check(
            "[[extensions]]\npath = \"a\"\nenv = { A = 1 }",
            "`extensions.env` cannot be a table (in `f.toml:3:7`) | expected a table of texts, such as `{ LEVEL = \"high\" }`",
        );
        let tables = "expected tables in a file, as in `[[extensions]]`";
        check(
            "[extensions]\npath = \"a\"",
            &format!("`extensions` cannot be a table (in `f.toml:1:1`) | {tables}"),
        );
        check("extensions = [1]", &format!("`extensions` cannot be `1` (in `f.toml:1:15`) | {tables}"));
        check(
            "[[extension]]\npath = \"a\"",
            "unknown key `extension` in `f.toml:1:3` | did you mean `extensions`?",
        );
    }

    #[test]
    fn what_is_not_toml_is_told_with_its_place() {
        let error = parse(Path::new("f.toml"), "[server]\naddr = \n", |_| Origin::Default).unwrap_err();
        assert!(error.to_string().starts_with("`f.toml:2:"), "{error}");
    }

    #[test]
    fn only_regular_files_of_sane_size_are_read() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(read(&directory.path().join("absent/file")), Ok(None)));
        assert!(read(directory.path()).is_err());
        let big = directory.path().join("big");
        File::create(&big).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
        assert!(read(&big).is_err());
        File::create(&big).unwrap().set_len(MAX_FILE_BYTES).unwrap();
        assert!(matches!(read(&big), Ok(Some(_))));
    }

    #[test]
    fn variables_are_checked_and_the_full_name_beats_the_alias() {
        let set = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            variables(&pairs)
        };
        let layer = set(&[("LOGGIA_MODEL_DEFAULT", "a:full"), ("LOGGIA_MODEL", "b:alias")]).unwrap();
        assert_eq!(layer.assignments.last().unwrap().value.to_string(), "\"a:full\"");
        assert!(set(&[("LOGGIA_CONFIG_DIR", "/x")]).unwrap().assignments.is_empty());
        let error = set(&[("LOGGIA_SERVER_ADR", "x")]).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `LOGGIA_SERVER_ADDR`?");
        let error = set(&[("LOGGIA_SANDBOX_REQUIRED", "yes")]).unwrap_err();
        assert_eq!(error.to_string(), "`sandbox.required` cannot be `yes` (in `LOGGIA_SANDBOX_REQUIRED`)");
    }
}
