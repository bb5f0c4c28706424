//! Keeping a key: where the settings look for it, else in the keyring, else in a file of our own.
//!
//! What always holds: an older key is replaced only with a yes, and nobody who waits for a keyring is kept from leaving.

use loggia_cli::Outcome;
use loggia_models::{Hosted, KeyringError};

use super::super::known;
use super::Init;
use super::key::{Key, NotKept, Place};
use crate::config::edit::Edit;
use crate::errors::Error;

/// What became of a key.
enum Put {
    /// It is there.
    Kept,
    /// The keyring did not take it.
    NotTaken(KeyringError),
    /// Somebody left, or an older one is to stay.
    Ended(Outcome),
}

impl Init<'_> {
    /// Keeps a key. Where it is now; otherwise how it ended.
    pub(super) async fn keep(
        &mut self,
        hosted: &Hosted,
        key: &Key,
        edit: &mut Edit,
    ) -> Result<Result<Place, Outcome>, Error> {
        let mut place = match Place::set(hosted, edit)? {
            Some(place) => place,
            None => match self.aside(|| known::keyring().available()).await? {
                Some(true) => Place::Keyring,
                Some(false) => Place::own(hosted, &self.home.places),
                None => return Ok(Err(Outcome::Cancelled)),
            },
        };
        loop {
            match self.put(&place, hosted, key).await? {
                Put::Kept => break,
                Put::Ended(outcome) => return Ok(Err(outcome)),
                Put::NotTaken(why) => {
                    self.people.complain(&format!("the key is kept in a file instead: {why}"))?;
                    place = Place::own(hosted, &self.home.places);
                }
            }
        }
        place.note(hosted, edit);
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if place == Place::Keyring && is_set(hosted.key_variable) {
            let text = format!("`{}` is set here, and counts before the keyring", hosted.key_variable);
            self.people.complain(&text)?;
        }
        Ok(Ok(place))
    }

    /// Puts a key into a place.
    async fn put(&mut self, place: &Place, hosted: &Hosted, key: &Key) -> Result<Put, Error> {
        let provider = hosted.name;
        let (there, given) = (place.clone(), key.clone());
        let Some(holds_another) = self.aside(move || there.holds_another(provider, &given)).await? else {
            return Ok(Put::Ended(Outcome::Cancelled));
        };
        if holds_another && !self.confirm(&format!("Replace the key of {provider} in {place}?")).await? {
            return Ok(Put::Ended(Outcome::Refused));
        }
        let (there, given) = (place.clone(), key.clone());
        match self.aside(move || there.keep(provider, &given)).await? {
            Some(Ok(())) => Ok(Put::Kept),
            Some(Err(NotKept::Keyring(why))) => Ok(Put::NotTaken(why)),
            Some(Err(NotKept::File(error))) => Err(error),
            None => Ok(Put::Ended(Outcome::Cancelled)),
        }
    }
}
