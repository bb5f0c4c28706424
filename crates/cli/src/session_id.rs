//! Which session somebody means by an id, or by its beginning.
//!
//! What always holds: a beginning names one session or none; of several, nobody guesses.

use loggia_client::{Client, Page};
use loggia_protocol_agent_server::{ProblemType, Session, SessionId};

use crate::CliError;

/// What every id begins with. It tells nothing, so it may be left out.
const PREFIX: &str = "ses_";

/// How long an id is without it.
const WHOLE: usize = 32;

/// The shortest beginning: fewer characters are a slip rather than a name.
const SHORTEST: usize = 4;

/// How many sessions of one beginning are told: enough to see how to go on.
const MAX_TOLD: usize = 5;

/// How many sessions are looked at, the newest first: a year of busy days.
const MAX_LOOKED_AT: usize = 10_000;

/// How many are asked for at once.
const PAGE: u32 = 100;

/// The session with this id, or whose id begins so.
pub(crate) async fn find(client: &Client, given: &SessionId) -> Result<Session, CliError> {
    let beginning = given.0.trim().strip_prefix(PREFIX).unwrap_or(given.0.trim()).to_ascii_lowercase();
    if beginning.len() >= WHOLE {
        return whole(client, given, &beginning).await;
    }
    if beginning.len() < SHORTEST {
        return Err(CliError::ShortId { given: given.0.clone(), least: SHORTEST });
    }
    let (mut found, mut looked_at, mut cursor) = (Vec::new(), 0, None);
    loop {
        let page = client.sessions(None, &Page { limit: Some(PAGE), cursor }).await?;
        looked_at += page.sessions.len();
        let is_meant = |session: &Session| bare(session).starts_with(&beginning);
        let ended = page.sessions.is_empty();
        found.extend(page.sessions.into_iter().filter(is_meant));
        cursor = page.next_cursor;
        if ended || cursor.is_none() || looked_at >= MAX_LOOKED_AT {
            break;
        }
    }
    match found.len() {
        0 => Err(CliError::NoSuchSession(given.0.clone())),
        1 => Ok(found.remove(0)),
        count => {
            let told = |session: &Session| format!("{} \"{}\"", session.session_id.0, session.title);
            let candidates = found.iter().take(MAX_TOLD).map(told).collect();
            Err(CliError::SeveralSessions { given: given.0.clone(), count, candidates })
        }
    }
}

async fn whole(client: &Client, given: &SessionId, bare: &str) -> Result<Session, CliError> {
    client.session(&SessionId(format!("{PREFIX}{bare}"))).await.map_err(|error| {
        match error.problem().map(|problem| &problem.kind) {
            Some(ProblemType::NotFound | ProblemType::BadRequest) => CliError::NoSuchSession(given.0.clone()),
            _ => error.into(),
        }
    })
}

fn bare(session: &Session) -> &str {
    session.session_id.0.strip_prefix(PREFIX).unwrap_or(&session.session_id.0)
}
