//! What comes before a turn: the workspace, the session, its stream, the words.
//!
//! What always holds: nothing here says the prompt, so all of it may be done again with the next server when one goes. A
//! session that was opened and never heard of stays empty.

use std::path::Path;
use std::time::Duration;

use loggia_client::{Client, Error, Page, SessionStream};
use loggia_protocol_agent_server::{
    CreateSessionParams, PolicyPreset, ProblemType, RegisterWorkspaceParams, Session, SessionId,
    SessionModel, Workspace,
};

use super::{Approvals, Ask, Revive, SessionChoice};
use crate::{CliError, session_id};

/// How much may be piped in: more than a model reads, less than a message holds.
const MAX_CONTEXT_BYTES: usize = 2 * 1024 * 1024;

/// How often something is tried while servers go: one may be killed at any moment, but not each time.
const MAX_TRIES: u32 = 7;

/// How long the second try waits, each further one twice as long: a server that is dying still takes connections.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// How long a server that is gone is waited for: a restart takes seconds, an update of the machine a minute.
const PATIENCE: Duration = Duration::from_secs(300);

/// Among how many sessions the latest is looked for: more than anybody opens in vain.
const LOOKED_AT: u32 = 32;

/// The number of a session's first event, which says that it was opened.
const OPENED: u64 = 1;

/// The name under which other clients see us.
const NAME: &str = "loggia ask";

/// The words of the prompt, with what was piped in after them.
pub(super) fn message(options: &Ask) -> Result<String, CliError> {
    let prompt = options.prompt.trim();
    let context = options.stdin_context.as_deref();
    // Counted as it came: whoever reads the pipe stops a little after the limit, perhaps in the middle of white space.
    if context.is_some_and(|text| text.len() > MAX_CONTEXT_BYTES) {
        return Err(CliError::TooMuchInput { limit: MAX_CONTEXT_BYTES });
    }
    let context = context.map(str::trim_end).filter(|text| !text.is_empty());
    match (prompt, context) {
        ("", None) => Err(CliError::NothingAsked),
        ("", Some(context)) => Ok(context.to_owned()),
        (prompt, None) => Ok(prompt.to_owned()),
        (prompt, Some(context)) => Ok(format!("{prompt}\n\n<stdin>\n{context}\n</stdin>")),
    }
}

/// The session, opened or found.
pub(crate) async fn session(client: &Client, options: &Ask) -> Result<Session, CliError> {
    persistently(options.revive.as_ref(), || session_of(client, options)).await
}

/// A session that is known, as it is now.
pub(crate) async fn find(client: &Client, options: &Ask, id: &SessionId) -> Result<Session, CliError> {
    persistently(options.revive.as_ref(), || async { Ok(client.session(id).await?) }).await
}

/// The session's stream, from where the session was found.
pub(super) async fn stream(
    client: &Client,
    session: &Session,
    revive: Option<&Revive>,
) -> Result<SessionStream, CliError> {
    let follow = || async {
        let follow = client.follow(&session.session_id).after(session.last_seq).give_up_after(PATIENCE);
        Ok(follow.named(NAME, env!("CARGO_PKG_VERSION")).open().await?)
    };
    persistently(revive, follow).await
}

/// Does something that may be done twice, again with the next server whenever its server goes.
async fn persistently<T, F: Future<Output = Result<T, CliError>>>(
    revive: Option<&Revive>,
    work: impl Fn() -> F,
) -> Result<T, CliError> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..MAX_TRIES {
        match (work().await, revive) {
            (Err(error), Some(revive)) if has_gone(&error) => {
                revive.begin().await;
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            (done, _) => return done,
        }
    }
    work().await
}

/// Whether there is no server any more, or one that is about to go.
fn has_gone(error: &CliError) -> bool {
    match error {
        CliError::Server(error) => matches!(error, Error::Unreachable { .. } | Error::Interrupted(_)),
        CliError::Refused(refusal) => refusal.problem.kind == ProblemType::Unavailable,
        _ => false,
    }
}

async fn session_of(client: &Client, options: &Ask) -> Result<Session, CliError> {
    let model = options.model.as_deref().map(model).transpose()?;
    let preset = match options.approvals {
        Approvals::ReadOnly => Some(PolicyPreset::ReadOnly),
        _ => options.preset,
    };
    let found = match &options.session {
        SessionChoice::New => {
            let params = CreateSessionParams {
                workspace_id: workspace(client, &options.workspace).await?.workspace_id,
                title: None,
                model,
                policy_preset: preset,
                budget: options.budget,
            };
            return Ok(client.create_session(&params).await?);
        }
        SessionChoice::Id(id) => session_id::find(client, id).await?,
        SessionChoice::Latest => latest(client, &options.workspace).await?,
    };
    // A session keeps what it may do. To say nothing would be to promise what does not hold.
    if preset.is_some() {
        return Err(CliError::SessionHasBegun { what: "policy" });
    }
    if options.budget.is_some() {
        return Err(CliError::SessionHasBegun { what: "budget" });
    }
    match model {
        Some(model) if found.model.as_ref() != Some(&model) => {
            Ok(client.set_session_model(&found.session_id, &model).await?)
        }
        _ => Ok(found),
    }
}

/// The session of a directory in which something happened last; one in which nothing has since it was opened only if there
/// is no other among the newest.
pub(crate) async fn latest(client: &Client, directory: &Path) -> Result<Session, CliError> {
    let workspace = workspace(client, directory).await?;
    let mut newest = None;
    // Mostly the first one it is, and each has its price.
    for limit in [1, LOOKED_AT] {
        let page = Page { limit: Some(limit), cursor: None };
        let mut sessions = client.sessions(Some(&workspace.workspace_id), &page).await?.sessions;
        if let Some(used) = sessions.iter().position(|session| session.last_seq > OPENED) {
            return Ok(sessions.swap_remove(used));
        }
        newest = sessions.into_iter().next();
    }
    newest.ok_or(CliError::NoSession)
}

/// The workspace of a directory.
pub(crate) async fn workspace(client: &Client, directory: &Path) -> Result<Workspace, CliError> {
    let absolute = std::path::absolute(directory).map_err(|_| CliError::Workspace(directory.to_owned()))?;
    let path = absolute.to_str().ok_or_else(|| CliError::Workspace(directory.to_owned()))?;
    let params = RegisterWorkspaceParams { root_path: path.to_owned(), name: None };
    Ok(client.register_workspace(&params).await?)
}

/// Reads `PROVIDER:MODEL`; a model's own name may have colons.
pub(crate) fn model(name: &str) -> Result<SessionModel, CliError> {
    match name.split_once(':') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
            Ok(SessionModel { provider: provider.to_owned(), model_name: model.to_owned() })
        }
        _ => Err(CliError::Model(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_in_follows_the_prompt() {
        let words = |prompt: &str, context: Option<&str>| {
            let options = Ask { stdin_context: context.map(str::to_owned), ..Ask::new(prompt, ".") };
            message(&options).ok()
        };
        assert_eq!(words("why?", None).as_deref(), Some("why?"));
        assert_eq!(words("why?", Some("log\n")).as_deref(), Some("why?\n\n<stdin>\nlog\n</stdin>"));
        assert_eq!(words("", Some("explain this\n")).as_deref(), Some("explain this"));
        assert_eq!(words("why?", Some("  \n")).as_deref(), Some("why?"));
        assert_eq!(words(" ", None), None);
    }

    #[test]
    fn too_much_is_an_error_wherever_it_was_cut() {
        let words = |context: String| message(&Ask { stdin_context: Some(context), ..Ask::new("why?", ".") });
        assert!(words("x".repeat(MAX_CONTEXT_BYTES)).is_ok());
        let full = "x".repeat(MAX_CONTEXT_BYTES);
        for end in ["x", "\n", " "] {
            let error = words(format!("{full}{end}")).unwrap_err();
            assert_eq!(
                error.to_string(),
                "more than 2097152 bytes of text came in by pipe, and no more than that can be told"
            );
        }
        // What is no text grows when it becomes some.
        let binary = String::from_utf8_lossy(&vec![0xff; MAX_CONTEXT_BYTES / 2]).into_owned();
        assert!(matches!(words(binary), Err(CliError::TooMuchInput { limit: MAX_CONTEXT_BYTES })));
    }

    #[test]
    fn a_model_has_a_provider() {
        let model = |name| model(name).ok().map(|model| (model.provider, model.model_name));
        assert_eq!(model("ollama:qwen3:8b"), Some(("ollama".to_owned(), "qwen3:8b".to_owned())));
        assert_eq!(model("gpt-5"), None);
        assert_eq!(model(":x"), None);
    }
}
