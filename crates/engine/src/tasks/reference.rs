//! Which provider a reference belongs to, and what it brings.
//!
//! In this order: the one that has the scheme, guests before our own; the first that claims the reference, those with the
//! highest priority first; the default one. A scheme that nobody has is told so only when nobody claims the reference.

use std::sync::Arc;

use futures_util::future::join_all;
use loggia_domain::{BarredProvider, GuestError, ProviderAbility, TaskNames, TaskProvider, WorkItem};

use super::error::TaskError;

/// A provider, and whether it is one of our own.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) provider: Arc<dyn TaskProvider>,
    pub(super) is_own: bool,
}

/// Where tasks of a workspace may come from, and what its own files say about tasks.
pub(super) struct Sources {
    /// Guests first, so that they may take our own schemes.
    pub(super) providers: Vec<Provider>,
    /// Who is there and may not run.
    pub(super) barred: Vec<BarredProvider>,
    pub(super) names: TaskNames,
}

/// What a reference means.
pub(super) struct Found {
    pub(super) provider: Provider,
    pub(super) key: String,
    pub(super) item: WorkItem,
    pub(super) source: String,
    /// Why there is no snapshot, if one should be there.
    pub(super) notice: Option<String>,
}

/// The text before the first colon, unless that is the drive of a path or no word.
fn scheme(reference: &str) -> Option<&str> {
    let (scheme, rest) = reference.split_once(':')?;
    let is_drive = scheme.len() == 1 && rest.starts_with(['/', '\\']);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    (!is_drive && !scheme.is_empty() && scheme.chars().all(is_word)).then_some(scheme)
}

/// Finds the provider of a reference; gives the reference as that takes it.
pub(super) async fn provider_of(
    providers: &[Provider],
    reference: &str,
    barred: &[BarredProvider],
    default: &str,
) -> Result<(Provider, String), TaskError> {
    let has =
        |provider: &&Provider, scheme: &str| provider.provider.schemes().iter().any(|known| known == scheme);
    let scheme = scheme(reference);
    if let Some(scheme) = scheme
        && let Some(found) = providers.iter().find(|provider| has(provider, scheme))
    {
        return Ok((found.clone(), reference.to_owned()));
    }
    let mut by_priority: Vec<&Provider> = providers.iter().collect();
    // Stable: those with the same priority stay in the order they are enabled.
    by_priority.sort_by_key(|provider| std::cmp::Reverse(provider.provider.priority()));
    // All at once: each may take its time to say nothing. One that does not answer does not claim.
    let asked = by_priority.iter().map(|provider| provider.provider.claims(reference.to_owned()));
    let answers = join_all(asked).await;
    for (provider, answer) in by_priority.into_iter().zip(answers) {
        match answer {
            Ok(true) => return Ok((provider.clone(), reference.to_owned())),
            Ok(false) => {}
            Err(error) => tracing::debug!(%error, "a provider does not say whether it takes a reference"),
        }
    }
    if let Some(scheme) = scheme {
        return Err(unknown(scheme, providers, barred));
    }
    let found = providers.iter().find(|provider| has(provider, default));
    let found = found.ok_or_else(|| TaskError::NoProvider {
        reference: reference.to_owned(),
        scheme: default.to_owned(),
        known: known(providers),
        barred: barred.to_vec(),
    })?;
    Ok((found.clone(), format!("{default}:{reference}")))
}

/// What is said of a scheme that nobody has.
pub(super) fn unknown(scheme: &str, providers: &[Provider], barred: &[BarredProvider]) -> TaskError {
    let known = known(providers);
    TaskError::UnknownScheme { scheme: scheme.to_owned(), known, barred: barred.to_vec() }
}

/// The schemes that somebody has, as people write them.
fn known(providers: &[Provider]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for scheme in providers.iter().flat_map(|provider| provider.provider.schemes()) {
        let scheme = format!("`{scheme}:`");
        if !known.contains(&scheme) {
            known.push(scheme);
        }
    }
    known
}

/// Fetches what a reference means.
pub(super) async fn fetch(
    providers: &[Provider],
    reference: &str,
    barred: &[BarredProvider],
    default: &str,
) -> Result<Found, TaskError> {
    let (provider, full) = provider_of(providers, reference, barred, default).await?;
    let key = provider.provider.resolve(full).await?;
    let item = provider.provider.fetch(key.clone()).await?;
    let plain = || match item.description.trim().is_empty() {
        true => item.title.clone(),
        false => format!("# {}\n\n{}\n", item.title, item.description),
    };
    let (source, notice) = match provider.provider.can(ProviderAbility::Snapshot) {
        false => (plain(), None),
        true => match provider.provider.snapshot(key.clone()).await {
            Ok(text) if !text.trim().is_empty() => (text, None),
            Ok(_) | Err(GuestError::Unsupported(_)) => (plain(), None),
            // The title and the description are enough to go on with.
            Err(error) => (plain(), Some(format!("there is no snapshot: {error}"))),
        },
    };
    Ok(Found { provider, key, item, source, notice })
}

#[cfg(test)]
mod tests {
    use super::scheme;

    #[test]
    fn a_scheme_is_a_word_before_the_first_colon() {
        for (reference, expected) in [
            ("jira:PROJ-1", Some("jira")),
            ("https://e.com/x", Some("https")),
            ("task.md", None),
            ("C:\\work\\task.md", None),
            ("c:/home/me/task.md", None),
            ("a file: with words", None),
            (":x", None),
            ("x:y:z", Some("x")),
        ] {
            assert_eq!(scheme(reference), expected, "{reference}");
        }
    }
}
