//! `loggia init`: a model, its key, and a first word from it.
//!
//! Knows what there is to decide and in which order. What always holds: what is set already is not replaced without a
//! word, and doing it twice is as good as once.

mod error;
mod keep;
mod key;

use loggia_cli::{CliError, Client, Needs, Offer, Outcome, SetUp};
use loggia_models::Hosted;
use loggia_protocol_agent_server::{CurrentModel, ProblemType, TestModelResult};
use serde::Serialize;

use super::client::{self, Home};
use super::known::{self, Known};
use crate::cli::InitArguments;
use crate::config::Config;
use crate::config::edit::Edit;
use crate::config::keys::MODEL_DEFAULT;
use crate::daemon::DaemonError;
use crate::daemon::stopping::{self, Freed};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::{Printer, printable};
use key::{Key, Place};

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
        let told_to_end = client::told_to_end()?;
        let listening = tokio::spawn(listening);
        let mut terminal = client::terminal();
        let people = SetUp::new(&mut terminal, &mut interrupts);
        let asks = people.can_ask() && !arguments.json;
        let done = tokio::select! {
            done = Init { config, home, arguments, people, asks }.go(piped) => done,
            () = told_to_end => Ok(Outcome::Left.into()),
        };
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
            match self.keep(&hosted, &key, &mut edit).await? {
                Ok(place) => key_kept_in = Some(place),
                Err(outcome) => return Ok(outcome.into()),
            }
        }
        edit.set(MODEL_DEFAULT.path, &name);
        let written = edit.save()?;
        let changed = written || key_kept_in.is_some();
        self.tell_changes(&name, changed, written, key_kept_in.as_ref())?;
        let (client, effective) = self.make_effective(&name, changed).await?;
        let test = self.test(&client, &name).await?;
        let fails = test.as_ref().is_some_and(|test| !test.works);
        let config_file = file.display().to_string();
        let key_kept_in = key_kept_in.map(|place| place.plain());
        self.end(&Shown { model: name, changed, config_file, key_kept_in, effective, test })?;
        Ok(if fails { ExitCode::Model } else { ExitCode::Success })
    }

    /// The model that is wanted, and what is known of it. Nothing if nobody wants one.
    async fn model(&mut self, before: Option<&str>) -> Result<Option<(String, Known)>, Error> {
        if let Some(name) = &self.arguments.model {
            return match self.known(name).await? {
                Some(Known::Unusable(error)) => Err(error.into()),
                known => Ok(known.map(|known| (name.clone(), known))),
            };
        }
        // A server that nobody needs is started anew, so that it has the keys of this terminal.
        self.home.free().await?;
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
            match self.known(&name).await? {
                Some(Known::Unusable(error)) => self.people.complain(&error.to_string())?,
                known => return Ok(known.map(|known| (name, known))),
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
        key: Option<&Place>,
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
            self.people.done(&format!("nothing had to be changed: {name} is set already"))?;
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
        let freed = if changed { self.home.free().await? } else { Freed::Absent };
        let client = self.home.client().await?;
        let mut follows = current(&client).await?.as_deref() == Some(name);
        if !follows {
            // Somebody chose another one, and what is set up now is meant to count.
            client.forget_current_model().await.map_err(CliError::from)?;
            follows = current(&client).await?.as_deref() == Some(name);
        }
        // A server that keeps its settings is told.
        if let (false, Some((provider, model_name))) = (follows, name.split_once(':')) {
            let (provider, model_name) = (provider.to_owned(), model_name.to_owned());
            let put = CurrentModel { provider, model_name, ..CurrentModel::default() };
            follows = match client.put_current_model(&put).await {
                Ok(_) => true,
                Err(error) if error.problem().is_some() => false,
                Err(error) => return Err(CliError::from(error).into()),
            };
        }
        let stays = match freed {
            Freed::Stays(record) => Some(record),
            _ if !follows => stopping::running(&self.home.places)?,
            _ => None,
        };
        if let (Some(record), false) = (stays, self.arguments.json) {
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
            let name = printable(&shown.model);
            match shown.effective {
                true => printer.line(format_args!("New sessions use {name}."))?,
                false => printer.line(format_args!(
                    "New sessions will use {name} once the server is started again, after `loggia stop`."
                ))?,
            }
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

    /// Whether somebody has a model's key, the keyring asked last. Nothing if somebody left meanwhile.
    async fn known(&mut self, name: &str) -> Result<Option<Known>, Error> {
        let known = Known::beside_keyring(name, self.config);
        let Known::WithoutKey(hosted) = known else { return Ok(Some(known)) };
        let provider = hosted.name;
        let found = self.aside(move || known::in_keyring(provider)).await?;
        Ok(found.map(|found| if found { Known::Here } else { Known::WithoutKey(hosted) }))
    }

    /// Does what waits, on a thread of its own: Ctrl-C and signals are heard meanwhile. Nothing if there was an interrupt.
    async fn aside<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, Error> {
        let done = self.people.unless_interrupted(tokio::task::spawn_blocking(work)).await;
        Ok(done.transpose().map_err(|error| DaemonError::Runtime { source: error.into() })?)
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
    completions_of(shell.rsplit('/').next()?)
}

fn completions_of(shell: &str) -> Option<String> {
    let (directory, file) = match shell {
        "bash" => ("~/.local/share/bash-completion/completions", "loggia"),
        "zsh" => ("~/.zfunc", "_loggia"),
        "fish" => ("~/.config/fish/completions", "loggia.fish"),
        _ => return None,
    };
    // On a new machine the directory is not there.
    Some(format!("mkdir -p {directory} && loggia completions {shell} > {directory}/{file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_completions_is_made() {
        assert_eq!(
            completions_of("zsh").unwrap(),
            "mkdir -p ~/.zfunc && loggia completions zsh > ~/.zfunc/_loggia"
        );
        assert_eq!(completions_of("tcsh"), None);
    }
}
