//! Setting up for the first time: what was found, which model, its key, and whether it answers.
//!
//! Knows how to show and to ask. Refuses to know where settings and keys are kept: whoever calls keeps them.
//!
//! What always holds: a key that is typed is not shown, and nothing of it is ever said.

use std::collections::BTreeSet;

use loggia_client::Client;
use loggia_protocol_agent_server::{DoctorCheck, ListedModel, TestModelParams, TestModelResult};

use crate::ask::model;
use crate::commands::confirm;
use crate::doctor;
use crate::paint::{ASIDE, BAD, CODE, GOOD, QUESTION, SUBJECT, WARNING, printable, width_of};
use crate::{CliError, Interrupts, Terminal};

/// How many models on this machine are offered; more would push the rest off the screen. Any other can be named.
const MAX_LOCAL: usize = 9;

/// How many models of one hosted provider are offered: some have hundreds.
const MAX_HOSTED: usize = 2;

/// A set-up, with whoever sits there.
#[derive(Debug)]
pub struct SetUp<'t> {
    terminal: &'t mut Terminal,
    interrupts: &'t mut Interrupts,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// As `PROVIDER:MODEL`.
    pub name: String,
    /// What it takes to use it.
    pub needs: Needs,
}

/// What it takes to use a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it is on this machine.
    Nothing,
    /// The network, and its provider's key, which is there.
    Network,
    /// A key that is still to be given.
    Key,
}

impl Offer {
    /// What there is to choose from: models that can be used now, and those of providers that only lack a key.
    ///
    /// # Errors
    /// See [`CliError`].
    pub async fn all(client: &Client, keyless: Vec<Offer>) -> Result<Vec<Self>, CliError> {
        let list = client.models().await?;
        Ok(of(&list.models, keyless))
    }
}

/// Those on this machine, a few of each provider whose key is there, and one of each other.
fn of(listed: &[ListedModel], keyless: Vec<Offer>) -> Vec<Offer> {
    let name = |model: &ListedModel| format!("{}:{}", model.provider, model.model_name);
    let local = listed.iter().filter(|model| model.local).take(MAX_LOCAL);
    let mut offers: Vec<Offer> =
        local.map(|model| Offer { name: name(model), needs: Needs::Nothing }).collect();
    let hosted: Vec<&ListedModel> = listed.iter().filter(|model| !model.local).collect();
    let providers: BTreeSet<&str> = hosted.iter().map(|model| model.provider.as_str()).collect();
    for provider in &providers {
        let mut of_it: Vec<String> =
            hosted.iter().filter(|model| model.provider == *provider).map(|model| name(model)).collect();
        // The one that is known to be good for a beginning comes first.
        of_it.sort_by_key(|name| !keyless.iter().any(|offer| offer.name == *name));
        of_it.truncate(MAX_HOSTED);
        offers.extend(of_it.into_iter().map(|name| Offer { name, needs: Needs::Network }));
    }
    let is_new =
        |offer: &Offer| !providers.iter().any(|provider| offer.name.starts_with(&format!("{provider}:")));
    offers.extend(keyless.into_iter().filter(is_new));
    offers
}

impl<'t> SetUp<'t> {
    /// With whoever sits at this terminal.
    pub fn new(terminal: &'t mut Terminal, interrupts: &'t mut Interrupts) -> Self {
        Self { terminal, interrupts }
    }

    /// Whether somebody is there to be asked.
    pub fn can_ask(&self) -> bool {
        self.terminal.can_ask()
    }

    /// Shows which models and providers the server has found.
    ///
    /// # Errors
    /// See [`CliError`].
    pub async fn found(&mut self, client: &Client) -> Result<(), CliError> {
        let report = client.doctor().await?;
        let paint = self.terminal.paint_err();
        let mut text = format!("{}\n", paint.text(SUBJECT, "What was found:"));
        let concerns = |check: &&DoctorCheck| {
            ["model", "keyring"].contains(&check.name.as_str()) || check.name.starts_with("provider ")
        };
        for check in report.checks.iter().filter(concerns) {
            text.push_str(&doctor::told(check, true, paint));
        }
        self.around(&text)
    }

    /// Shows what there is to choose from.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn list(&mut self, offers: &[Offer], current: Option<&str>) -> Result<(), CliError> {
        let paint = self.terminal.paint_err();
        let widest = offers.iter().map(|offer| width_of(&printable(&offer.name))).max().unwrap_or(0);
        let mut text = format!("\n{}\n", paint.text(SUBJECT, "Models you can use:"));
        for (number, offer) in (1..).zip(offers) {
            let name = printable(&offer.name);
            let padding = " ".repeat(widest - width_of(&name));
            let needs = match offer.needs {
                Needs::Nothing => "on this machine",
                Needs::Network => "hosted",
                Needs::Key => "hosted, needs a key",
            };
            let mark = if current == Some(offer.name.as_str()) { "*" } else { " " };
            let number = paint.text(CODE, format!("{number:>2}"));
            text.push_str(&format!("{mark}{number}  {name}{padding}  {}\n", paint.text(ASIDE, needs)));
        }
        self.around(&text)
    }

    /// Lets somebody choose a model, by its number or by its name. Nothing if nobody does.
    ///
    /// # Errors
    /// See [`CliError`].
    pub async fn choose(
        &mut self,
        offers: &[Offer],
        current: Option<&str>,
    ) -> Result<Option<String>, CliError> {
        let usual = current.or_else(|| offers.first().map(|offer| offer.name.as_str()));
        loop {
            let paint = self.terminal.paint_err();
            let usual_one = usual.map(|name| format!(" [{}]", printable(name))).unwrap_or_default();
            let question = "Which one? A number, or a name as PROVIDER:MODEL";
            let question = format!("{} {question}{usual_one}: ", paint.text(QUESTION, "?"));
            let Some(typed) = self.terminal.line(&question, false, self.interrupts).await? else {
                self.around("\n")?;
                return Ok(None);
            };
            match chosen(typed.trim(), offers, usual) {
                Ok(name) => return Ok(Some(name)),
                Err(why) => self.complain(&why)?,
            }
        }
    }

    /// Asks for a provider's key, which is not shown while it is typed. Nothing if nobody gives one.
    ///
    /// # Errors
    /// See [`CliError`].
    pub async fn key(&mut self, provider: &str) -> Result<Option<String>, CliError> {
        let mark = self.terminal.paint_err().text(QUESTION, "?");
        let question = format!("{mark} The key of {} (it is not shown): ", printable(provider));
        let typed = self.terminal.line(&question, true, self.interrupts).await?;
        if typed.is_none() {
            self.around("\n")?;
        }
        Ok(typed.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()))
    }

    /// Asks for a yes.
    ///
    /// # Errors
    /// See [`CliError`]; without a keyboard it is [`CliError::NotConfirmed`].
    pub async fn confirm(&mut self, what: &str) -> Result<bool, CliError> {
        confirm(self.terminal, what, self.interrupts).await
    }

    /// Waits for something. Nothing if an interrupt comes first.
    pub async fn unless_interrupted<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = self.interrupts.next() => None,
        }
    }

    /// Has a model say one word, and tells whether it did.
    ///
    /// # Errors
    /// See [`CliError`]. A model that does not answer is an answer.
    pub async fn test(
        &mut self,
        client: &Client,
        name: &str,
        silent: bool,
    ) -> Result<TestModelResult, CliError> {
        let params = TestModelParams { model: Some(model(name)?) };
        let tested = client.test_model(&params).await?;
        if silent {
            return Ok(tested);
        }
        let paint = self.terminal.paint_err();
        let mark = if tested.works { paint.text(GOOD, "✓") } else { paint.text(BAD, "✗") };
        let mut text = format!("{mark} {}\n", printable(&tested.message));
        if let Some(hint) = &tested.hint {
            text.push_str(&format!("  {} {}\n", paint.text(CODE, "hint:"), printable(hint)));
        }
        self.around(&text)?;
        Ok(tested)
    }

    /// Tells that something is done.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn done(&mut self, text: &str) -> Result<(), CliError> {
        let mark = self.terminal.paint_err().text(GOOD, "✓");
        self.around(&format!("{mark} {}\n", printable(text)))
    }

    /// Tells what to do next: words, and the command.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn next(&mut self, words: &str, command: &str) -> Result<(), CliError> {
        let command = self.terminal.paint_err().text(CODE, command.to_owned());
        self.around(&format!("{words} {command}\n"))
    }

    /// Tells something that is wrong and can be put right at once.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn complain(&mut self, text: &str) -> Result<(), CliError> {
        let mark = self.terminal.paint_err().text(WARNING, "!");
        self.around(&format!("{mark} {}\n", printable(text)))
    }

    fn around(&mut self, text: &str) -> Result<(), CliError> {
        self.terminal.err(text).map_err(CliError::Output)
    }
}

/// The model that was meant; otherwise what is wrong.
fn chosen(typed: &str, offers: &[Offer], usual: Option<&str>) -> Result<String, String> {
    if typed.is_empty() {
        return usual.map(str::to_owned).ok_or_else(|| "name a model".to_owned());
    }
    if let Ok(number) = typed.parse::<usize>() {
        let offer = number.checked_sub(1).and_then(|index| offers.get(index));
        return offer.map(|offer| offer.name.clone()).ok_or_else(|| format!("there is no number {number}"));
    }
    if model(typed).is_ok() {
        return Ok(typed.to_owned());
    }
    let mut alike = offers.iter().filter(|offer| offer.name.contains(typed));
    match (alike.next(), alike.next()) {
        (Some(offer), None) => Ok(offer.name.clone()),
        (Some(_), Some(_)) => Err(format!("`{typed}` can be several of them")),
        (None, _) => Err(format!("`{typed}` is no name of a model; write it as PROVIDER:MODEL")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(provider: &str, name: &str, local: bool) -> ListedModel {
        ListedModel {
            provider: provider.to_owned(),
            model_name: name.to_owned(),
            capabilities: Vec::new(),
            context_tokens: None,
            local,
            abilities: Vec::new(),
            price: None,
        }
    }

    fn offer(name: &str, needs: Needs) -> Offer {
        Offer { name: name.to_owned(), needs }
    }

    #[test]
    fn what_works_now_is_offered_first() {
        let models = [
            listed("openai", "babbage", false),
            listed("openai", "davinci", false),
            listed("openai", "gpt-5", false),
            listed("ollama", "qwen3", true),
        ];
        let keyless = ["anthropic:claude", "openai:gpt-5"].map(|name| offer(name, Needs::Key));
        let expected = [
            offer("ollama:qwen3", Needs::Nothing),
            offer("openai:gpt-5", Needs::Network),
            offer("openai:babbage", Needs::Network),
            offer("anthropic:claude", Needs::Key),
        ];
        assert_eq!(of(&models, keyless.into()), expected);
    }

    #[test]
    fn a_model_is_chosen_by_number_by_name_or_by_a_part_of_it() {
        let offers = [offer("ollama:qwen3", Needs::Nothing), offer("openai:gpt-5", Needs::Key)];
        let chosen = |typed| chosen(typed, &offers, Some("ollama:qwen3"));
        assert_eq!(chosen(""), Ok("ollama:qwen3".to_owned()));
        assert_eq!(chosen("2"), Ok("openai:gpt-5".to_owned()));
        assert_eq!(chosen("gpt"), Ok("openai:gpt-5".to_owned()));
        assert_eq!(chosen("groq:x"), Ok("groq:x".to_owned()));
        for wrong in ["0", "3", "o", "zzz"] {
            assert!(chosen(wrong).is_err(), "{wrong}");
        }
    }
}
