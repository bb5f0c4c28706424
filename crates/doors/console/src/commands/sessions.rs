//! Commands about sessions: which there are, which one is used, how it is.

use std::path::Path;
use std::sync::Arc;

use loggia_domain::{Actor, Intent, ModelName, SessionId, Timestamp, Workspace, WorkspaceId};
use loggia_engine::{NewSession, OnLeave, Pending, State, Status as Doing};

use super::Answer;
use crate::door::Inner;
use crate::facts::absolute;
use crate::guest::{Guest, Place};
use crate::ids::{self, Meant, short};
use crate::paint::{Painted, Style, brief};
use crate::question::{self, Extent};
use crate::tell::{name, of_question};
use crate::voice::{Refused, Status};

/// Sessions that are listed: what fits a screen.
const LISTED: usize = 40;

/// How much of a title is shown.
const TITLE: usize = 60;

/// What `use` takes instead of an id.
const NEW: &str = "new";

pub(super) async fn list(door: &Inner, guest: &Guest) -> Answer {
    let sessions = door.latest(LISTED + 1).await?;
    let workspaces = door.parts.engine.workspaces().await?;
    let used = guest.place().map(|place| place.session());
    let mut text = Painted::new();
    for session in sessions.iter().take(LISTED) {
        let mark = if used == Some(session.id) { "*" } else { " " };
        let live = door.parts.engine.live(session.id).await;
        let doing = match &live {
            Some(state) => doing(state.status()),
            None if session.closed => "closed",
            None => "idle",
        };
        let root = workspaces.iter().find(|workspace| workspace.id == session.workspace);
        let root = root.map_or("?", |workspace| workspace.name.as_str());
        let beginning = live.as_ref().and_then(|state| state.beginning.as_deref());
        let title = brief(session.title.as_deref().or(beginning).unwrap_or_default(), TITLE);
        let line = Painted::of(Style::Good, mark)
            .plain(" ")
            .with(Style::Name, short(&session.id))
            .plain(format!("  {:<16} {doing:<8} {:<16} {title}", time(session.updated), brief(root, 16)))
            .with(Style::Aside, format!("  {}", session.id));
        text.append(line.line());
    }
    match sessions.len() {
        0 => text.append(Painted::of(Style::Aside, "no sessions; `new` begins one").line()),
        count if count > LISTED => {
            text.append(Painted::of(Style::Aside, "… older ones are not listed").line());
        }
        _ => {}
    }
    Ok(text)
}

pub(super) async fn take(door: &Arc<Inner>, guest: &Guest, typed: &str) -> Answer {
    if typed == NEW {
        return new(door, guest, None).await;
    }
    let id = find(door, typed).await?;
    let (place, state) = sit(door, guest, id).await?;
    let mut text = in_use(&place, &state, &door.parts.engine.workspace(place.workspace).await?);
    for (approval, pending) in &state.pending {
        text.append(asked(*approval, pending, &state));
    }
    Ok(text)
}

pub(super) async fn new(door: &Inner, guest: &Guest, directory: Option<&str>) -> Answer {
    let place = begin(door, guest, directory).await?;
    let workspace = door.parts.engine.workspace(place.workspace).await?;
    let state = place.seat.state().await?;
    Ok(in_use(&place, &state, &workspace))
}

pub(super) async fn show(door: &Inner, guest: &Guest) -> Answer {
    let place = used(guest)?;
    let state = place.seat.state().await?;
    let workspace = door.parts.engine.workspace(place.workspace).await?;
    let mut text = in_use(&place, &state, &workspace);
    let mut fact = |name: &str, value: String| {
        text.append(Painted::of(Style::Aside, format!("  {name:<10} ")).plain(value).line());
    };
    fact("id", place.session().to_string());
    fact("opened", format!("{} by {}", time(state.opened.at), name(&state.opened.by)));
    fact("status", doing(state.status()).to_owned());
    fact("model", state.model.as_ref().map_or("the default".to_owned(), |model| brief(&model.0, TITLE)));
    fact("used", format!("{} + {} tokens", state.usage.input, state.usage.output));
    fact("undo", format!("{} steps back, {} forward", state.undo.done().len(), state.undo.undone().count()));
    if let Some(turn) = &state.turn {
        fact("asked", format!("{} by {}", brief(&turn.instruction.told(), TITLE), name(&turn.by)));
    }
    if !state.queue.is_empty() {
        fact("queue", format!("{} instructions wait", state.queue.len()));
    }
    for (approval, pending) in &state.pending {
        text.append(asked(*approval, pending, &state));
    }
    Ok(text)
}

pub(super) async fn set_model(door: &Inner, guest: &Guest, typed: &str) -> Answer {
    let place = used(guest)?;
    let model = ModelName(typed.to_owned());
    // Whether a plugin's agent is there, the session says.
    if model.guest().is_none()
        && let Err(error) = door.parts.models.find(Some(&model))
    {
        return Err(Refused::new(Status::Unavailable, error).hint("`models` lists those there are"));
    }
    place.seat.intend(Intent::SetModel { model }).await?;
    Ok(Painted::new())
}

/// The session in use.
pub(super) fn used(guest: &Guest) -> Result<Arc<Place>, Refused> {
    guest.place().ok_or_else(|| {
        Refused::new(Status::Usage, "no session is in use")
            .hint("`use SESSION` takes one, `sessions` lists them")
    })
}

/// The session in use; without one, the only one there is, or a new one if there is none.
pub(super) async fn used_or_only(door: &Inner, guest: &Guest) -> Result<Arc<Place>, Refused> {
    if let Some(place) = guest.place() {
        return Ok(place);
    }
    match only(door).await? {
        None => begin(door, guest, None).await,
        Some(only) => Ok(sit(door, guest, only).await?.0),
    }
}

/// The session in use; without one, the only one there is.
pub(super) async fn only_one(door: &Inner, guest: &Guest) -> Result<Arc<Place>, Refused> {
    if guest.place().is_none()
        && let Some(only) = only(door).await?
    {
        return Ok(sit(door, guest, only).await?.0);
    }
    used(guest)
}

/// The only session there is, if there is one.
async fn only(door: &Inner) -> Result<Option<SessionId>, Refused> {
    let open: Vec<_> = door.latest(LISTED).await?.into_iter().filter(|session| !session.closed).collect();
    match open.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.id)),
        _ => Err(Refused::new(Status::Usage, "which session? There are several")
            .hint("`use SESSION` takes one, `new` begins one, `sessions` lists them")),
    }
}

/// Takes a place on a session for as long as it is used.
async fn sit(door: &Inner, guest: &Guest, id: SessionId) -> Result<(Arc<Place>, Arc<State>), Refused> {
    if let Some(place) = guest.place().filter(|place| place.session() == id) {
        let state = place.seat.state().await?;
        return Ok((place, state));
    }
    let (seat, state) = door.parts.engine.join(id, guest.client.clone(), OnLeave::Keep).await?;
    let place = Arc::new(Place::new(seat, state.opened.workspace));
    guest.set_place(Some(Arc::clone(&place)));
    Ok((place, state))
}

/// Begins a session and takes it.
async fn begin(door: &Inner, guest: &Guest, directory: Option<&str>) -> Result<Arc<Place>, Refused> {
    let workspace = match directory {
        Some(typed) => registered(door, guest, typed).await?,
        None => usual(door, guest).await?,
    };
    let id = door.parts.engine.open_session(NewSession::new(workspace), Actor::from(&guest.client)).await?;
    Ok(sit(door, guest, id).await?.0)
}

async fn registered(door: &Inner, guest: &Guest, typed: &str) -> Result<WorkspaceId, Refused> {
    let Some(path) = absolute(guest, typed) else {
        let what = format!("nobody knows where `{}` is", brief(typed, TITLE));
        return Err(Refused::new(Status::Usage, what).hint("name the directory from `/` on"));
    };
    Ok(door.parts.engine.register_workspace(&path, None).await?.id)
}

/// Where somebody works who does not say where.
pub(crate) async fn usual(door: &Inner, guest: &Guest) -> Result<WorkspaceId, Refused> {
    if let Some(place) = guest.place() {
        return Ok(place.workspace);
    }
    let known = door.parts.engine.workspaces().await?;
    let around = |path: &Path| {
        let holds = known.iter().filter(|workspace| path.starts_with(&workspace.root));
        holds.max_by_key(|workspace| workspace.root.as_os_str().len()).map(|workspace| workspace.id)
    };
    let here = guest.directory();
    if let Some(id) = here.as_deref().and_then(around) {
        return Ok(id);
    }
    // A project that nobody has named yet is still nearer than another one.
    if let Some(root) = here.as_deref().and_then(door.parts.root_of) {
        return Ok(door.parts.engine.register_workspace(&root, None).await?.id);
    }
    let home = || door.home.get().and_then(|path| around(path));
    let only = || (known.len() == 1).then(|| known[0].id);
    home().or_else(only).ok_or_else(|| {
        Refused::new(
            Status::Usage,
            "where? The terminal is in no project, and the daemon has no workspace of its own",
        )
        .hint("name one: `new DIR`")
    })
}

/// Which session somebody means.
async fn find(door: &Inner, typed: &str) -> Result<SessionId, Refused> {
    if let Ok(id) = typed.parse::<SessionId>() {
        return Ok(door.parts.engine.session(id).await?.id);
    }
    let known = door.sessions().await?;
    let shown = brief(typed, TITLE);
    match ids::meant(typed, known.iter().map(|session| session.id)) {
        Meant::One(id) => Ok(id),
        Meant::None => Err(Refused::new(Status::Unavailable, format!("there is no session `{shown}`"))
            .hint("`sessions` lists them; `use new` begins one")),
        Meant::Several(count) => {
            Err(Refused::new(Status::Usage, format!("{count} sessions are called `{shown}`"))
                .hint("type more of it"))
        }
        Meant::TooShort => Err(Refused::new(Status::Usage, format!("`{shown}` is too short for an id"))
            .hint("`sessions` lists them; `use new` begins one")),
    }
}

fn in_use(place: &Place, state: &State, workspace: &Workspace) -> Painted {
    let title = state.title.as_deref().or(state.beginning.as_deref());
    let mut text = Painted::of(Style::Name, short(&place.session())).plain(" is in use");
    text.put(Style::Aside, format!(" in {}", workspace.root.display()));
    if let Some(title) = title {
        text.put(Style::Plain, format!(": {}", brief(title, TITLE)));
    }
    text.line()
}

fn asked(approval: loggia_domain::ApprovalId, pending: &Pending, state: &State) -> Painted {
    let patches = of_question(&pending.question, |id| state.proposed.get(id).cloned());
    let mut text = Painted::new().plain("waits for an answer: ");
    text.put(Style::Plain, question::about(approval, &pending.question));
    text.put(Style::Aside, format!(" ({}, question ", question::risk_word(pending.risk)));
    text.put(Style::Name, short(&approval));
    text.put(Style::Aside, ")");
    text.end_line();
    text.append(question::told(approval, &pending.question, &patches, Extent::Beginning).line());
    text
}

fn doing(status: Doing) -> &'static str {
    match status {
        Doing::Idle => "idle",
        Doing::Running => "running",
        Doing::Waiting => "waiting",
        Doing::Closed => "closed",
    }
}

/// A time without seconds, in the world's time.
fn time(at: Timestamp) -> String {
    at.to_string().get(..16).unwrap_or_default().replace('T', " ")
}
