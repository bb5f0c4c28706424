//! Tokens: who may come in, and as what.
//!
//! Knows names, scopes and hashes. The list is `tokens.toml` in the data directory. The first token is also in the file
//! `token` beside it, in plain text for its owner's programs: it is made when that file is not there, so removing the file
//! and starting again replaces the token.
//!
//! What always holds:
//! - a token is written in full only in the answer that made it and, the first one, in the file `token`;
//! - a revoked token lets nobody in from then on, and whoever came in with it is told;
//! - a browser's token is good in a cookie and nowhere else, any other one nowhere in a cookie: browsers show cookies to
//!   every server of a host, and what leaks there is no key for programs;
//! - both files are their owner's only; a list that cannot be read is an error and is not overwritten.

mod list;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use loggia_domain::Timestamp;
use loggia_protocol_agent_server::{Scope, Secret};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::auth::secret::{self, SecretHash};
use crate::identity::{Identity, Proof};
use crate::private_file;

/// What the first token is called.
const FIRST: &str = "first";

/// How many tokens there may be: each is compared with in every request.
const MAX_TOKENS: usize = 1000;

/// How many browsers may be let in: each start with `--open` adds one, and those that nobody uses make room.
const MAX_PAGES: usize = 100;

/// How long a token's name may be, in bytes.
const MAX_NAME: usize = 100;

/// Why tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// A file cannot be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("`{}`: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A name that is empty, too long or not to be shown.
    #[error("a token's name has 1 to {MAX_NAME} bytes and no control characters")]
    Name,
    /// There are too many.
    #[error("there are {MAX_TOKENS} tokens already; revoke one first")]
    TooMany,
}

/// A token without its secret.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) created: Timestamp,
    hash: SecretHash,
    /// Whether it is the one that is also in a file of its own.
    is_first: bool,
    /// Milliseconds since 1970; 0 if never.
    last_used: AtomicI64,
    /// When it ends by itself; a browser's does.
    pub(crate) expires: Option<Timestamp>,
    revoked: CancellationToken,
}

impl Token {
    /// When it was last used, as far as is known.
    pub(crate) fn last_used(&self) -> Option<Timestamp> {
        Some(self.last_used.load(Ordering::Relaxed)).filter(|at| *at != 0).map(Timestamp)
    }

    /// Whether it is a browser's.
    fn is_page(&self) -> bool {
        self.expires.is_some()
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// When somebody last had something of it.
    fn wanted(&self) -> Timestamp {
        self.last_used().unwrap_or(self.created)
    }
}

/// How a token is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// By a program, in a header of its own choice.
    Openly,
    /// By a browser, in a cookie.
    InCookie,
}

/// All tokens that are not revoked.
#[derive(Debug)]
pub(crate) struct Tokens {
    list_file: PathBuf,
    first_file: PathBuf,
    held: RwLock<Vec<Arc<Token>>>,
    /// Whether one was used since the list was written.
    used: AtomicBool,
    /// Held by whoever changes the files, so that requests are let in meanwhile: disks are slow.
    changing: Mutex<()>,
}

impl Tokens {
    /// Reads the tokens in a directory, and makes the first one if there is none.
    pub(crate) fn open(data: &Path) -> Result<Self, TokenError> {
        let (list_file, first_file) = (data.join("tokens.toml"), data.join("token"));
        let held = list::read(&list_file)?;
        let (held, used) = (RwLock::new(held), AtomicBool::new(false));
        let tokens = Self { list_file, first_file, held, used, changing: Mutex::new(()) };
        tokens.settle_first()?;
        Ok(tokens)
    }

    /// The first token itself, made if there is none.
    pub(crate) fn first(data: &Path) -> Result<Option<String>, TokenError> {
        let tokens = Self::open(data)?;
        let failed = |source| TokenError::Io { path: tokens.first_file.clone(), source };
        let kept = private_file::read(&tokens.first_file).map_err(failed)?;
        Ok(kept.map(|text| text.trim().to_owned()))
    }

    /// Brings the list in line with the file of the first token.
    fn settle_first(&self) -> Result<(), TokenError> {
        let failed = |source| TokenError::Io { path: self.first_file.clone(), source };
        let kept = private_file::read(&self.first_file).map_err(failed)?;
        let text = match kept.as_deref().map(str::trim) {
            Some(text) if secret::is_token(text) => text.to_owned(),
            Some(_) => {
                let problem =
                    "this is not a token; remove the file, and the next start makes a new one".to_owned();
                return Err(TokenError::Damaged { path: self.first_file.clone(), problem });
            }
            None => {
                let token = secret::new_token().map_err(failed)?;
                private_file::write(&self.first_file, &format!("{token}\n")).map_err(failed)?;
                token
            }
        };
        let hash = SecretHash::of(&text);
        if self.held().iter().any(|token| token.hash.is(&hash)) {
            return Ok(());
        }
        let _changing = self.changing();
        let mut next: Vec<_> = self.list().into_iter().filter(|token| !token.is_first).collect();
        next.insert(0, Arc::new(Token { is_first: true, ..token(FIRST, Scope::Admin, hash) }));
        self.replace(next)
    }

    /// Puts another list in the place of the one there is, on disk first.
    fn replace(&self, next: Vec<Arc<Token>>) -> Result<(), TokenError> {
        // Before it is written: who comes in meanwhile is in the next one.
        self.used.store(false, Ordering::Relaxed);
        list::write(&self.list_file, &next)?;
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    /// Who bears this token. Compares with all of them, so that the time taken says nothing.
    pub(crate) fn bearer(&self, text: &str, shown: Shown) -> Option<Identity> {
        self.bearer_at(text, shown, Timestamp::now())
    }

    fn bearer_at(&self, text: &str, shown: Shown, now: Timestamp) -> Option<Identity> {
        let hash = SecretHash::of(text);
        let held = self.held();
        let mut found = None;
        for token in held.iter() {
            if token.hash.is(&hash) {
                found = Some(token);
            }
        }
        let fits = |token: &&Arc<Token>| token.is_page() == (shown == Shown::InCookie);
        let token = found.filter(fits).filter(|token| !token.is_over(now))?;
        token.last_used.store(now.0, Ordering::Relaxed);
        self.used.store(true, Ordering::Relaxed);
        let proof = Proof::Token(token.id.clone());
        Some(Identity { name: token.name.clone(), scope: token.scope, proof })
    }

    /// Whether there can be one more token, with this name.
    pub(crate) fn check(&self, name: &str) -> Result<(), TokenError> {
        if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
            return Err(TokenError::Name);
        }
        if self.held().len() >= MAX_TOKENS { Err(TokenError::TooMany) } else { Ok(()) }
    }

    /// Makes a token. Touches a disk.
    pub(crate) fn create(&self, name: &str, scope: Scope) -> Result<(Secret, Arc<Token>), TokenError> {
        self.add(name, scope, None)
    }

    /// Makes a token for a browser, which ends by itself. Touches a disk.
    pub(crate) fn create_page(
        &self,
        name: &str,
        scope: Scope,
        expires: Timestamp,
    ) -> Result<(Secret, Arc<Token>), TokenError> {
        self.add(name, scope, Some(expires))
    }

    fn add(
        &self,
        name: &str,
        scope: Scope,
        expires: Option<Timestamp>,
    ) -> Result<(Secret, Arc<Token>), TokenError> {
        self.check(name)?;
        let failed = |source| TokenError::Io { path: self.list_file.clone(), source };
        let text = secret::new_token().map_err(failed)?;
        let made = Arc::new(Token { expires, ..token(name, scope, SecretHash::of(&text)) });
        let _changing = self.changing();
        // Again, now that nobody else adds one.
        let (mut next, ended) = without_ended(&self.held(), made.created, expires.is_some());
        if next.len() >= MAX_TOKENS {
            return Err(TokenError::TooMany);
        }
        next.push(Arc::clone(&made));
        self.replace(next)?;
        ended.iter().for_each(|token| token.revoked.cancel());
        Ok((Secret(text), made))
    }

    /// Ends a token. Says whether there was one. Touches a disk.
    pub(crate) fn revoke(&self, id: &str) -> Result<bool, TokenError> {
        let _changing = self.changing();
        let mut next = self.list();
        let Some(place) = next.iter().position(|token| token.id == id) else { return Ok(false) };
        let revoked = next.remove(place);
        if revoked.is_first {
            // Before the list: whatever stands in that file at the next start is let in.
            self.forget_first(&revoked)?;
        }
        self.replace(next)?;
        revoked.revoked.cancel();
        Ok(true)
    }

    /// All of them, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Token>> {
        let now = Timestamp::now();
        self.held().iter().filter(|token| !token.is_over(now)).cloned().collect()
    }

    /// When what somebody showed ends by itself.
    pub(crate) fn expires(&self, proof: &Proof) -> Option<Timestamp> {
        let Proof::Token(id) = proof else { return None };
        self.held().iter().find(|token| token.id == *id)?.expires
    }

    /// Ends when whoever showed this may no longer be there. A process of the same user always may.
    pub(crate) fn until_revoked(&self, proof: &Proof) -> CancellationToken {
        let Proof::Token(id) = proof else { return CancellationToken::new() };
        let held = self.held();
        match held.iter().find(|token| token.id == *id) {
            Some(token) => token.revoked.clone(),
            None => {
                let gone = CancellationToken::new();
                gone.cancel();
                gone
            }
        }
    }

    /// A file with a token that no longer works would only mislead.
    fn forget_first(&self, revoked: &Token) -> Result<(), TokenError> {
        let failed = |source| TokenError::Io { path: self.first_file.clone(), source };
        let kept = private_file::read(&self.first_file).map_err(failed)?;
        if kept.is_some_and(|text| SecretHash::of(text.trim()).is(&revoked.hash)) {
            std::fs::remove_file(&self.first_file).map_err(failed)?;
        }
        Ok(())
    }

    /// The list is replaced whole, so whoever panicked left a whole one.
    fn held(&self) -> RwLockReadGuard<'_, Vec<Arc<Token>>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tokens {
    /// When tokens were last used is written with every change and here: once per run is enough.
    fn drop(&mut self) {
        let held = self.held();
        if self.used.load(Ordering::Relaxed)
            && self.list_file.exists()
            && let Err(error) = list::write(&self.list_file, &held)
        {
            tracing::warn!(%error, "when tokens were last used is not written down");
        }
    }
}

fn token(name: &str, scope: Scope, hash: SecretHash) -> Token {
    Token {
        id: format!("tok_{}", Uuid::now_v7().simple()),
        name: name.to_owned(),
        scope,
        created: Timestamp::now(),
        hash,
        is_first: false,
        last_used: AtomicI64::new(0),
        expires: None,
        revoked: CancellationToken::new(),
    }
}

/// The tokens that stay, and those that make room: whatever has ended, and if there is to be another browser, the one
/// that nobody has used for longest.
fn without_ended(
    held: &[Arc<Token>],
    now: Timestamp,
    one_more_page: bool,
) -> (Vec<Arc<Token>>, Vec<Arc<Token>>) {
    let (mut ended, mut stay): (Vec<_>, Vec<_>) = held.iter().cloned().partition(|token| token.is_over(now));
    let pages = stay.iter().filter(|token| token.is_page());
    if one_more_page && pages.clone().count() >= MAX_PAGES {
        let unwanted = pages.min_by_key(|token| token.wanted()).map(|token| token.id.clone());
        ended.extend(stay.extract_if(.., |token| Some(&token.id) == unwanted.as_ref()));
    }
    (stay, ended)
}

#[cfg(test)]
mod tests;
