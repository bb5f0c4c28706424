//! What is forbidden whatever a policy says, and what no policy settles.
//!
//! Knows files that must not be touched, commands that must not run, and words that no wildcard may swallow. Each
//! list says why a thing is on it. A denial here cannot be lifted, so the lists name what does harm by itself or gives
//! away secrets, and leave out what is only unwise: for that there are risks, rules and questions.

mod arguments;
mod commands;
mod credentials;
mod deletion;
mod guarded;
mod sharp;

pub(crate) use arguments::{
    CredentialArgument, Touch, file_in, named_files, names_credentials, names_guarded, touched,
};
pub(crate) use commands::{Objection, forbidden_name, objection};
pub use credentials::credentials;
pub(crate) use credentials::is_tame_glob;
pub(crate) use guarded::{guarded, may_be_guarded};
pub(crate) use sharp::sharp_words;
