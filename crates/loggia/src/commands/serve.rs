//! `loggia serve`: runs the server here, or starts one that stays.

use std::ffi::OsString;
use std::time::Duration;

use loggia_console::Journal;

use crate::cli::{GlobalFlags, ServeArguments, TlsKind};
use crate::config::places::Places;
use crate::config::{Config, OwnFlag, keys};
use crate::daemon::{self, Settings, TlsChoice, detach};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::telemetry::Telemetry;

/// What becomes of whoever started us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starter {
    /// It waits for our end.
    Stays,
    /// It goes when we are ready.
    Goes,
}

/// The flags that set a key of the configuration.
pub(crate) fn own_flags(arguments: &ServeArguments) -> [OwnFlag<'_>; 2] {
    [
        OwnFlag { key: &keys::SERVER_ADDR, name: "--addr", text: arguments.addr.as_deref() },
        OwnFlag { key: &keys::MODEL_DEFAULT, name: "--model", text: arguments.model.as_deref() },
    ]
}

/// Runs the command.
pub(crate) fn run(
    config: &Config,
    flags: &GlobalFlags,
    arguments: &ServeArguments,
    starter: Starter,
    telemetry: Option<Telemetry>,
    journal: Journal,
) -> Result<ExitCode, Error> {
    let settings = Settings { flags: flags.clone(), ..settings(config, arguments, starter) };
    daemon::run(&settings, &Places::find()?, telemetry, journal)?;
    Ok(ExitCode::Success)
}

/// What was asked for, from flags of the command and the configuration.
fn settings(config: &Config, arguments: &ServeArguments, starter: Starter) -> Settings {
    Settings {
        addr: addr(config, arguments).map(str::to_owned),
        hosts: config.server_hosts(),
        origins: config.server_origins(),
        tls: tls(arguments),
        insecure: arguments.insecure,
        model: config.model().map(str::to_owned),
        model_origin: config.model_origin(),
        pinned_model: config.is_model_pinned(),
        policy: config.policy(),
        tasks: config.tasks(),
        dialogs: config.dialogs(),
        index: Some(config.index()),
        workspaces: arguments.workspaces.clone(),
        json: arguments.json,
        open: arguments.open,
        detached: starter == Starter::Goes,
        auto: arguments.auto,
        endpoints: config.endpoints(),
        catalogue: config.catalogue(),
        idle_exit: arguments.idle_exit_ms.map(Duration::from_millis).or_else(|| config.idle_exit()),
        flags: GlobalFlags::default(),
    }
}

/// Where to listen. One that was started by itself has no address unless somebody wants one.
fn addr<'a>(config: &'a Config, arguments: &ServeArguments) -> Option<&'a str> {
    (!arguments.auto || config.is_set(&keys::SERVER_ADDR)).then(|| config.server_addr())
}

/// Starts a server that stays.
pub(crate) fn detach(flags: &GlobalFlags, arguments: &ServeArguments) -> Result<ExitCode, Error> {
    detach::start(written(flags, arguments))
}

fn tls(arguments: &ServeArguments) -> TlsChoice {
    match (&arguments.tls_cert, &arguments.tls_key, arguments.tls) {
        (Some(certificate), Some(key), _) => {
            TlsChoice::Files { certificate: certificate.clone(), key: key.clone() }
        }
        (_, _, Some(TlsKind::SelfSigned)) => TlsChoice::SelfSigned,
        _ => TlsChoice::Off,
    }
}

/// The same, as it would be typed, but for the wish to be left alone.
fn written(flags: &GlobalFlags, arguments: &ServeArguments) -> Vec<OsString> {
    let GlobalFlags { set, color, verbose, quiet, log_level, log_format } = flags;
    let ServeArguments {
        addr,
        workspaces,
        model,
        json,
        open,
        detach: _,
        auto,
        idle_exit_ms,
        tls,
        tls_cert,
        tls_key,
        insecure,
    } = arguments;
    let mut words: Vec<OsString> = Vec::new();
    let mut pair = |name: &str, value: OsString| {
        // In one word, so that a value that begins with a dash stays a value.
        let mut word = OsString::from(format!("{name}="));
        word.push(value);
        words.push(word);
    };
    for (key, value) in set {
        pair("--set", format!("{key}={value}").into());
    }
    let texts = [
        ("--color", color),
        ("--log-level", log_level),
        ("--log-format", log_format),
        ("--addr", addr),
        ("--model", model),
    ];
    for (name, text) in texts {
        text.iter().for_each(|text| pair(name, text.into()));
    }
    workspaces.iter().for_each(|path| pair("--workspace", path.into()));
    for (name, path) in [("--tls-cert", tls_cert), ("--tls-key", tls_key)] {
        path.iter().for_each(|path| pair(name, path.into()));
    }
    if let Some(milliseconds) = idle_exit_ms {
        pair("--idle-exit-ms", milliseconds.to_string().into());
    }
    if let Some(TlsKind::SelfSigned) = tls {
        pair("--tls", "self-signed".into());
    }
    words.extend((0..*verbose).map(|_| "--verbose".into()));
    let switches = [
        ("--quiet", *quiet),
        ("--json", *json),
        ("--open", *open),
        ("--auto", *auto),
        ("--insecure", *insecure),
    ];
    words.extend(switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.into()));
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command, HiddenCommand};

    /// Everything the program makes of a configuration.
    fn meaning(set: &[(String, String)]) -> String {
        let flags = GlobalFlags { set: set.to_vec(), ..GlobalFlags::default() };
        let config = Config::of_flags(&flags);
        let cli = Cli::try_parse_from(["loggia", "serve"]).unwrap();
        let Command::Serve(arguments) = &cli.command else { panic!("another command") };
        let endpoint = config.otlp_endpoint().map(str::to_owned);
        let rpc = config.rpc_flags();
        let guests = (
            config.plugins_enabled(),
            config.plugins_config(),
            config.variables_for_server(),
            config.plugin_limits(),
            config.extension_timeout(),
        );
        let looks = (config.color(), config.log_level(), config.log_format(), rpc);
        format!("{:?} {looks:?} {endpoint:?} {guests:?}", settings(&config, arguments, Starter::Stays))
    }

    /// A value that is none of the key's default.
    fn another(key: &keys::Key) -> String {
        let candidates = [
            "read-only",
            "ollama",
            "images",
            "high",
            "never",
            "json",
            "debug",
            "7",
            "true",
            "false",
            "http://[::1]:1",
            "[::1]:1",
            "{\"a\": 1}",
            "wait",
            "/srv/messages",
        ];
        let fits = |text: &&&str| key.kind.read(text).is_some_and(|value| value != key.default);
        candidates.iter().find(fits).unwrap_or_else(|| panic!("nothing fits {}", key.path)).to_string()
    }

    #[test]
    fn every_key_has_a_reader() {
        let nothing_set = meaning(&[]);
        // Lists are read from files, and shown there.
        let in_flags = |key: &&&keys::Key| key.path != keys::EXTENSIONS.path;
        for key in keys::ALL.iter().chain(keys::IN_TABLES).filter(in_flags) {
            let set = [(key.path.to_owned(), another(key))];
            assert_ne!(meaning(&set), nothing_set, "nobody reads `{}`", key.path);
        }
    }

    #[test]
    fn what_is_passed_on_means_the_same() {
        let typed = "loggia --set a.b=c=d --color never -vv serve --addr [::1]:0 --workspace serve --workspace -x \
                     --model scripted:--odd --json --open --detach --auto --idle-exit-ms 5 --insecure --log-format json --tls self-signed";
        let typed = typed.replace("--workspace -x", "--workspace=-x");
        let cli = Cli::try_parse_from(typed.split_whitespace()).unwrap();
        let Command::Serve(asked) = &cli.command else { panic!("another command") };
        let words = written(&cli.flags, asked);
        let all = ["loggia".into(), detach::COMMAND.into()].into_iter().chain(words);
        let HiddenCommand::Serve { flags, mut arguments } = HiddenCommand::try_parse_from(all).unwrap()
        else {
            panic!("another command")
        };
        arguments.detach = true;
        assert_eq!(format!("{flags:?}"), format!("{:?}", cli.flags));
        assert_eq!(format!("{arguments:?}"), format!("{asked:?}"));
    }
}
