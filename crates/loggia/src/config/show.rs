//! Settings as people and programs read them.

use serde::Serialize;

use super::keys::{self, Tightness, WorkspaceRule};
use super::layers::{Ignored, Origin, Setting};
use super::value::Value;
use crate::color::{ASIDE, SUBJECT, WARNING};
use crate::output::printable;

/// A setting as JSON shows it.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    key: &'a str,
    value: &'a Value,
    origin: &'a Origin,
    doc: &'static str,
    used_by: &'static str,
    ignored: &'a [Ignored],
    /// What `loggia model use` chose, which counts before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<&'a str>,
}

/// All settings as a JSON array.
pub(crate) fn json(settings: &[&Setting], chosen: Option<&str>) -> String {
    let shown: Vec<_> = settings
        .iter()
        .map(|setting| Shown {
            key: &setting.path,
            value: &setting.value,
            origin: &setting.origin,
            doc: setting.key.doc,
            used_by: setting.key.used_by,
            ignored: &setting.ignored,
            chosen: chosen.filter(|_| is_model(setting)),
        })
        .collect();
    serde_json::to_string_pretty(&shown).expect("texts, numbers and switches can always be written")
}

/// All settings as an aligned table; what was ignored stands below its key.
pub(crate) fn table(settings: &[&Setting], chosen: Option<&str>) -> String {
    let values: Vec<_> =
        settings.iter().map(|setting| printable(&setting.value.to_string()).into_owned()).collect();
    let key_width = settings.iter().map(|setting| setting.path.len()).max().unwrap_or(0);
    let value_width = values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (setting, value) in settings.iter().zip(&values) {
        let origin = setting.origin.to_string();
        let style = if setting.origin == Origin::Default { ASIDE } else { anstyle::Style::new() };
        lines.push(format!(
            "{SUBJECT}{:<key_width$}{SUBJECT:#}  {value:<value_width$}  {style}{}{style:#}",
            setting.path,
            printable(&origin)
        ));
        lines.extend(setting.ignored.iter().map(|ignored| format!("  {}", ignored_line(ignored))));
        lines.extend(chosen.filter(|_| is_model(setting)).map(|name| format!("  {}", chosen_line(name))));
    }
    lines.join("\n")
}

/// One setting with all there is to know about it.
pub(crate) fn one(setting: &Setting, chosen: Option<&str>) -> String {
    let key = setting.key;
    let mut lines =
        vec![format!("{SUBJECT}{}{SUBJECT:#} = {}", setting.path, printable(&setting.value.to_string()))];
    let mut fact =
        |name: &str, text: &str| lines.push(format!("  {ASIDE}{name:<10}{ASIDE:#} {}", printable(text)));
    fact("from", &setting.origin.to_string());
    fact("meaning", key.doc);
    fact("takes", &key.kind.expectation());
    fact("default", &key.default.to_string());
    if let Some(variable) = key.variable() {
        fact("variable", &variable);
    }
    fact("workspace", &key.workspace.to_string());
    fact("used by", key.used_by);
    lines.extend(setting.ignored.iter().map(|ignored| format!("  {}", ignored_line(ignored))));
    lines.extend(chosen.filter(|_| is_model(setting)).map(|name| format!("  {}", chosen_line(name))));
    lines.join("\n")
}

fn is_model(setting: &Setting) -> bool {
    setting.path == keys::MODEL_DEFAULT.path
}

fn chosen_line(name: &str) -> String {
    let told = format!(
        "{name:?} with `loggia model use`, which counts before it; `loggia model use --unset` forgets it"
    );
    format!("{WARNING}chosen{WARNING:#}     {}", printable(&told))
}

fn ignored_line(ignored: &Ignored) -> String {
    let told = format!("{} from {}: {}", ignored.value, ignored.origin, ignored.reason);
    format!("{WARNING}ignored{WARNING:#}    {}", printable(&told))
}

impl std::fmt::Display for WorkspaceRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Free => f.write_str("may set it"),
            Self::Never(reason) => write!(f, "needs trust: {reason}"),
            Self::OnlyTighter(tightness) => write!(f, "may tighten it: {tightness}"),
        }
    }
}

impl std::fmt::Display for Tightness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::EarlierWord => "an earlier choice",
            Self::Smaller => "a smaller number",
            Self::True => "to `true`",
            Self::False => "to `false`",
        })
    }
}
