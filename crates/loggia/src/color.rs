//! Whether to colour, and with what.
//!
//! Text is always written with its styles; the streams of `anstream` take them out again where they are not
//! wanted. So no other file asks "are there colours?".

use std::ffi::OsStr;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};

use crate::{config, env_vars};

/// A word that announces a failure.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// A word that announces something to look at.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// A word that announces advice.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
/// A fault inside data.
pub(crate) const FAULT: Style = AnsiColor::Red.on_default();
/// What the line is about.
pub(crate) const SUBJECT: Style = Style::new().bold();
/// What most readers skip.
pub(crate) const ASIDE: Style = Style::new().dimmed();

/// Makes all streams of this process follow the choice.
pub(crate) fn settle(choice: ColorChoice) {
    choice.write_global();
}

/// The choice that can be known before anything is parsed or loaded, so that messages about wrong flags
/// and wrong files follow it too: the flag, else the variable.
pub(crate) fn asked_early() -> ColorChoice {
    let arguments: Vec<_> = std::env::args_os().collect();
    let asked = from_arguments(&arguments).map(OsStr::to_owned).or_else(|| {
        let variable = config::keys::UI_COLOR.variable();
        env_vars::ours()
            .into_iter()
            .find(|(name, _)| variable.as_deref().is_some_and(|variable| name == variable))
            .map(|(_, value)| value)
    });
    asked.as_deref().and_then(OsStr::to_str).map_or(ColorChoice::Auto, choice)
}

/// A checked value of `ui.color` as a choice.
pub(crate) fn choice(word: &str) -> ColorChoice {
    match word {
        "always" => ColorChoice::Always,
        "never" => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

fn from_arguments(arguments: &[impl AsRef<OsStr>]) -> Option<&OsStr> {
    let mut arguments = arguments.iter().map(AsRef::as_ref);
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            return None;
        }
        if argument == "--color" {
            return arguments.next();
        }
        if let Some(value) = argument.to_str().and_then(|text| text.strip_prefix("--color=")) {
            return Some(OsStr::new(value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_found_in_both_spellings() {
        let find = |arguments: &[&str]| from_arguments(arguments).map(|word| choice(word.to_str().unwrap()));
        assert_eq!(find(&["loggia", "--color", "never", "x"]), Some(ColorChoice::Never));
        assert_eq!(find(&["loggia", "x", "--color=always"]), Some(ColorChoice::Always));
        assert_eq!(find(&["loggia", "--", "--color=always"]), None);
        assert_eq!(find(&["loggia", "--color"]), None);
    }
}
