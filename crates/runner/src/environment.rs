//! Which variables a command finds.
//!
//! A list of what is passed on, not of what is held back: keys have too many names. A variable named by the policy
//! is passed on whatever its name.
//!
//! The command's own variables may not change how programs are found and loaded, `PATH` included. The policy judged
//! a command by its line, and `cargo test` with another `PATH` is another command. Whoever needs it writes it into
//! the line, where it is seen: `PATH=… cargo test`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use loggia_domain::RunError;

/// Variables that say who and where one is, and in which language.
const PASSED_ON: &[&str] = &["PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL"];
/// One for each kind of text, time and number.
const PASSED_ON_BEGINNING: &[&str] = &["LC_"];

/// Where a system's programs are, if nobody told us.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that change what a shell runs or what a program loads.
const REFUSED: &[&str] =
    &["PATH", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "GCONV_PATH", "GLIBC_TUNABLES"];
const REFUSED_BEGINNING: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_"];

type Variables = Vec<(OsString, OsString)>;

/// What a command finds: of `ours` what is passed on, its home and temporary directory, and its own.
pub(crate) fn of_command(
    ours: &[(OsString, OsString)],
    inherited: &[String],
    own: &[(String, String)],
    home: &Path,
    temporary: &Path,
) -> Result<Variables, RunError> {
    let mut variables = Variables::new();
    set(&mut variables, "PATH".as_ref(), USUAL_PATH.as_ref());
    for (name, value) in ours.iter().filter(|(name, _)| is_passed_on(name)) {
        set(&mut variables, name, value);
    }
    // Nobody looks at a picture here.
    set(&mut variables, "TERM".as_ref(), "dumb".as_ref());
    set(&mut variables, "HOME".as_ref(), home.as_ref());
    set(&mut variables, "TMPDIR".as_ref(), temporary.as_ref());
    for (name, value) in
        ours.iter().filter(|(name, _)| inherited.iter().any(|wanted| name == wanted.as_str()))
    {
        set(&mut variables, name, value);
    }
    for (name, value) in own {
        if let Some(fault) = fault(name, value) {
            return Err(RunError::NotStarted(format!("variable `{}` {fault}", name.escape_debug())));
        }
        set(&mut variables, name.as_ref(), value.as_ref());
    }
    Ok(variables)
}

fn is_passed_on(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_listed(name, PASSED_ON, PASSED_ON_BEGINNING))
}

fn is_listed(name: &str, names: &[&str], beginnings: &[&str]) -> bool {
    names.contains(&name) || beginnings.iter().any(|beginning| name.starts_with(beginning))
}

fn fault(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        Some("is not one the system can hold")
    } else if is_listed(name, REFUSED, REFUSED_BEGINNING) {
        Some("changes what programs are run or loaded; set it in the command line")
    } else {
        None
    }
}

fn set(variables: &mut Variables, name: &OsStr, value: &OsStr) {
    match variables.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => value.clone_into(known),
        None => variables.push((name.to_owned(), value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables as `NAME=value` words.
    fn check(ours: &str, inherited: &[&str], own: &[(&str, &str)]) -> Result<String, String> {
        let pair = |word: &str| {
            let (name, value) = word.split_once('=').unwrap();
            (name.into(), value.into())
        };
        let ours: Variables = ours.split_whitespace().map(pair).collect();
        let inherited: Vec<String> = inherited.iter().map(|&name| name.to_owned()).collect();
        let own: Vec<(String, String)> =
            own.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let variables = of_command(&ours, &inherited, &own, "/h".as_ref(), "/t".as_ref())
            .map_err(|error| error.to_string())?;
        let words = variables.iter().map(|(name, value)| format!("{}={}", name.display(), value.display()));
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    const BASE: &str = "PATH=/usr/local/bin:/usr/bin:/bin TERM=dumb HOME=/h TMPDIR=/t";

    #[test]
    fn only_listed_variables_are_passed_on() {
        let ours = "PATH=/p LC_ALL=C TZ=UTC HOME=/home/me LD_PRELOAD=x.so GITHUB_TOKEN=t SSH_AUTH_SOCK=/s TERM=xterm";
        assert_eq!(check(ours, &[], &[]).unwrap(), "PATH=/p LC_ALL=C TZ=UTC TERM=dumb HOME=/h TMPDIR=/t");
    }

    #[test]
    fn the_policy_may_name_any() {
        let ours = "GITHUB_TOKEN=t LD_PRELOAD=x.so HOME=/home/me";
        let expected = "PATH=/usr/local/bin:/usr/bin:/bin TERM=dumb HOME=/home/me TMPDIR=/t GITHUB_TOKEN=t LD_PRELOAD=x.so";
        assert_eq!(check(ours, &["GITHUB_TOKEN", "LD_PRELOAD", "HOME", "ABSENT"], &[]).unwrap(), expected);
    }

    #[test]
    fn a_command_may_set_its_own() {
        assert_eq!(
            check("", &[], &[("CI", "1"), ("TERM", "x")]).unwrap(),
            format!("{BASE} CI=1").replace("dumb", "x")
        );
    }

    #[test]
    fn a_command_may_not_change_what_is_loaded() {
        for name in ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "DYLD_X"] {
            let error = check("", &[], &[(name, "x")]).unwrap_err();
            assert!(error.contains(name) && error.contains("set it in the command line"), "{error}");
        }
    }

    #[test]
    fn what_no_environment_can_hold_is_refused() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")] {
            assert!(check("", &[], &[(name, value)]).is_err(), "{name:?}={value:?}");
        }
    }
}
