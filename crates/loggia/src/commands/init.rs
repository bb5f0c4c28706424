//! `loggia init`: a model, its key, and a first word from it.
//!
//! Knows what there is to decide and in which order. What always holds: what is set already is not replaced without a
//! word, and doing it twice is as good as once.

mod error;
mod key;

use loggia_cli::{CliError, Client, Needs, Offer, Outcome, SetUp};
use loggia_models::Hosted;
use loggia_protocol_agent_server::{CurrentModel, ProblemType, TestModelResult};
use serde::Serialize;

use super::client::{self, Home};
use super::known::Known;
use crate::cli::InitArguments;
use crate::config::Config;
use crate::config::edit::Edit;
use crate::config::keys::MODEL_DEFAULT;
use crate::daemon::DaemonError;
use crate::daemon::stopping::{self, Freed};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::Printer;
use key::Key;

pub(crate) use error::InitError;

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Shown {
    /// The model of new sessions.
    model: String,
    /// Whether something was written.
    changed: bool,
    /// Where the model is set.
    config_file: String,
    /// Where a key was kept, if one was given.
    key_kept_in: Option<String>,
    /// Whether the server that runs follows already.
    effective: bool,
    /// How a try went, if there was one.
    test: Option<TestModelResult>,
}

/// Runs the command.
pub(crate) fn run(config: &Config, home: &Home, arguments: &InitArguments) -> Result<ExitCode, Error> {
    let piped = if arguments.key_stdin { Some(Key::piped()?) } else { None };
    let runtime = client::runtime()?;
    let done = runtime.block_on(async {
        let (mut interrupts, listening) = client::interrupts()?;
        let listening = tokio::spawn(listening);
        let mut terminal = client::terminal();
        let people = SetUp::new(&mut terminal, &mut interrupts);
        let asks = people.can_ask() && !arguments.json;
        let done = Init { config, home, arguments, people, asks }.go(piped).await;
        listening.abort();
        done
    });
    // A keyboard that is being read is not waited for.
    runtime.shutdown_background();
    done
}

/// A set-up on its way.
struct Init<'a> {
    config: &'a Config,
    home: &'a Home,
    arguments: &'a InitArguments,
    people: SetUp<'a>,
    /// Whether somebody is there to be asked.
    asks: bool,
}

impl Init<'_> {
    async fn go(mut self, piped: Option<Key>) -> Result<ExitCode, Error> {
        if self.arguments.model.is_none() && !self.asks {
            return Err(InitError::NothingChosen.into());
        }
        let file = self.config.user_file().to_owned();
        let mut edit = Edit::open(&file)?;
        let before = edit.text(MODEL_DEFAULT.path).filter(|name| !name.is_empty()).map(str::to_owned);
        let Some((name, known)) = self.model(before.as_deref()).await? else {
            return Ok(Outcome::Cancelled.into());
        };
        let given = match (piped, known) {
            (Some(key), _) => Some((provider(&name)?, key)),
            (None, Known::WithoutKey(hosted)) => match self.ask_key(&hosted).await? {
                Some(key) => Some((hosted, key)),
                None => return Ok(Outcome::Cancelled.into()),
            },
            (None, _) => None,
        };
        if let Some(before) = before.filter(|before| *before != name)
            && !self.confirm(&format!("Use {name} for new sessions instead of {before}?")).await?
        {
            return Ok(Outcome::Refused.into());
        }
        let mut key_kept_in = None;
        if let Some((hosted, key)) = given {
            let Some(place) = self.keep(&hosted, &key, &mut edit).await? else {
                return Ok(Outcome::Refused.into());
            };
            key_kept_in = Some(place);
        }
        edit.set(MODEL_DEFAULT.path, &name);
        let written = edit.save()?;
        let changed = written || key_kept_in.is_some();
        self.tell_changes(&name, changed, written, key_kept_in.as_deref())?;
        let (client, effective) = self.make_effective(&name, changed).await?;
        let test = self.test(&client, &name).await?;
        let fails = test.as_ref().is_some_and(|test| !test.works);
        let config_file = file.display().to_string();
        self.end(&Shown { model: name, changed, config_file, key_kept_in, effective, test })?;
        Ok(if fails { ExitCode::Model } else { ExitCode::Success })
    }

    /// The model that is wanted, and what is known of it. Nothing if nobody wants one.
    async fn model(&mut self, before: Option<&str>) -> Result<Option<(String, Known)>, Error> {
        if let Some(name) = &self.arguments.model {
            return match Known::of(name, self.config) {
                Known::Unusable(error) => Err(error.into()),
                known => Ok(Some((name.clone(), known))),
            };
        }
        // A server that nobody needs is started anew, so that it has the keys of this terminal.
        self.free().await?;
        let client = self.home.client().await?;
        self.people.found(&client).await?;
        let keyless = Hosted::all().filter_map(|hosted| {
            let name = format!("{}:{}", hosted.name, hosted.model?);
            Some(Offer { name, needs: Needs::Key })
        });
        let offers = Offer::all(&client, keyless.collect()).await?;
        self.people.list(&offers, before)?;
        loop {
            let Some(name) = self.people.choose(&offers, before).await? else { return Ok(None) };
            match Known::of(&name, self.config) {
                Known::Unusable(error) => self.people.complain(&error.to_string())?,
                known => return Ok(Some((name, known))),
            }
        }
    }

    async fn ask_key(&mut self, hosted: &Hosted) -> Result<Option<Key>, Error> {
        if !self.asks {
            return Err(InitError::NoKey { provider: hosted.name, variable: hosted.key_variable }.into());
        }
        loop {
            let Some(typed) = self.people.key(hosted.name).await? else { return Ok(None) };
            match Key::new(&typed) {
                Ok(key) => return Ok(Some(key)),
                Err(error) => self.people.complain(&error.to_string())?,
            }
        }
    }

    /// Keeps a key and says where; nothing if an older one is to stay.
    async fn keep(&mut self, hosted: &Hosted, key: &Key, edit: &mut Edit) -> Result<Option<String>, Error> {
        let place = key::Place::of(hosted, edit, &self.home.places)?;
        if place.holds_another(hosted.name, key) {
            let what = format!("Replace the key of {} in {place}?", hosted.name);
            if !self.confirm(&what).await? {
                return Ok(None);
            }
        }
        let told = place.keep(hosted, key, edit)?;
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if place == key::Place::Keyring && is_set(hosted.key_variable) {
            let text = format!("`{}` is set here, and counts before the keyring", hosted.key_variable);
            self.people.complain(&text)?;
        }
        Ok(Some(told))
    }

    /// Asks before something is replaced, unless that was answered beforehand.
    async fn confirm(&mut self, what: &str) -> Result<bool, Error> {
        match (self.arguments.yes, self.asks) {
            (true, _) => Ok(true),
            (false, true) => Ok(self.people.confirm(what).await?),
            (false, false) => Err(CliError::NotConfirmed { what: what.to_owned() }.into()),
        }
    }

    fn tell_changes(
        &mut self,
        name: &str,
        changed: bool,
        written: bool,
        key: Option<&str>,
    ) -> Result<(), Error> {
        if self.arguments.json {
            return Ok(());
        }
        if let Some(place) = key {
            self.people.done(&format!("the key is in {place}"))?;
        }
        if written {
            self.people.done(&format!("{name} is set in `{}`", self.config.user_file().display()))?;
        }
        if !changed {
            self.people.done(&format!("nothing had to be changed: new sessions use {name} already"))?;
        }
        if let Some(stronger) = self.config.own_model().filter(|own| *own != name) {
            let text = format!(
                "`{stronger}` is set for commands here, by a variable or this workspace, and counts before it"
            );
            self.people.complain(&text)?;
        }
        Ok(())
    }

    /// Sees to it that the server follows; whether it does.
    async fn make_effective(&mut self, name: &str, changed: bool) -> Result<(Client, bool), Error> {
        let freed = if changed { self.free().await? } else { Freed::Absent };
        let client = self.home.client().await?;
        let mut follows = current(&client).await?.as_deref() == Some(name);
        // Somebody chose another one while a server ran, and that choice is kept.
        if let (false, Some((provider, model_name))) = (follows, name.split_once(':')) {
            let (provider, model_name) = (provider.to_owned(), model_name.to_owned());
            let put = CurrentModel { provider, model_name, options: None };
            follows = match client.put_current_model(&put).await {
                Ok(_) => true,
                Err(error) if error.problem().is_some() => false,
                Err(error) => return Err(CliError::from(error).into()),
            };
        }
        if let (Freed::Stays(record), false) = (&freed, self.arguments.json)
            && (changed || !follows)
        {
            let text = format!(
                "the server that runs ({record}) keeps the keys and settings it was started with; to change them, \
                 run `loggia stop` and start it again"
            );
            self.people.complain(&text)?;
        }
        Ok((client, follows))
    }

    /// Tries the model, if somebody wants that.
    async fn test(&mut self, client: &Client, name: &str) -> Result<Option<TestModelResult>, Error> {
        let wanted = self.arguments.test
            || self.asks
                && !self.arguments.yes
                && self.people.confirm("Have it say one word? That may cost a little.").await?;
        if !wanted {
            return Ok(None);
        }
        Ok(Some(self.people.test(client, name, self.arguments.json).await?))
    }

    fn end(&mut self, shown: &Shown) -> Result<(), Error> {
        let mut printer = Printer::new();
        if self.arguments.json {
            printer.line(serde_json::to_string(shown).expect("texts and switches can always be written"))?;
        } else {
            printer.line(format_args!("New sessions use {}.", shown.model))?;
        }
        printer.finish()?;
        if self.asks {
            if let Some(command) = completions() {
                self.people.next("Commands are completed by your shell after:", &command)?;
            }
            self.people.next("Now ask something:", "loggia ask \"what does this project do?\"")?;
        }
        Ok(())
    }

    /// Lets a server go that nobody needs. It blocks, so it has a thread of its own.
    async fn free(&self) -> Result<Freed, Error> {
        let places = self.home.places.clone();
        let freed = tokio::task::spawn_blocking(move || stopping::free(&places)).await;
        Ok(freed.map_err(|error| DaemonError::Runtime { source: error.into() })??)
    }
}

/// The provider of a model, if it is a hosted one that takes a key.
fn provider(name: &str) -> Result<Hosted, InitError> {
    let provider = name.split_once(':').map_or(name, |(provider, _)| provider);
    Hosted::named(provider).ok_or_else(|| InitError::NoKeyTaken { provider: provider.to_owned() })
}

/// The model of new sessions, if there is one.
async fn current(client: &Client) -> Result<Option<String>, Error> {
    match client.current_model().await {
        Ok(model) => Ok(Some(format!("{}:{}", model.provider, model.model_name))),
        Err(error) if error.problem().is_some_and(|problem| problem.kind == ProblemType::NotFound) => {
            Ok(None)
        }
        Err(error) => Err(CliError::from(error).into()),
    }
}

/// The command that makes this user's shell complete ours, where it is known.
fn completions() -> Option<String> {
    let shell = std::env::var("SHELL").ok()?;
    let (name, place) = match shell.rsplit('/').next()? {
        "bash" => ("bash", "~/.local/share/bash-completion/completions/loggia"),
        "zsh" => ("zsh", "~/.zfunc/_loggia"),
        "fish" => ("fish", "~/.config/fish/completions/loggia.fish"),
        _ => return None,
    };
    Some(format!("loggia completions {name} > {place}"))
}
