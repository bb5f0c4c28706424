//! `GET /v1/doctor`: what is set up, what works, and what to do about the rest.

use axum::Json;
use axum::extract::State;
use loggia_domain::{Finding, FindingLevel, Workspace};
use loggia_protocol_agent_server::{CheckState, DoctorCheck, DoctorReport};

use crate::door::Inner;
use crate::rest::{Answer, Shared, blocking, health};

/// What the check of the default model is called, by us and by the models.
const MODEL: &str = "model";

/// What to do without a model.
const SET_A_MODEL: &str = "set a provider's key or start a server such as Ollama, then choose a model with `loggia \
    model use PROVIDER:MODEL`";

/// What to do with a choice that does not work.
const FORGET_IT: &str = "`loggia model use --unset` forgets the choice, and what is configured or found counts again; \
    `loggia model list` tells which there are";

pub(crate) async fn doctor(State(inner): Shared) -> Answer<Json<DoctorReport>> {
    let workspaces = inner.parts.engine.workspaces().await;
    let mut checks = vec![match &workspaces {
        Ok(workspaces) => {
            let message = format!("works; {} workspaces are registered", workspaces.len());
            check("store", CheckState::Ok, message, None)
        }
        Err(error) => {
            let hint = "look at the disk and at the daemon's log";
            check("store", CheckState::Failed, error.to_string(), Some(hint))
        }
    }];
    let workspaces = workspaces.unwrap_or_default();
    checks.push(match health::index(&inner, &workspaces) {
        CheckState::Absent => {
            check("index", CheckState::Absent, "there is none; searches read the files".to_owned(), None)
        }
        state => {
            let message = format!("the worst index is {state}");
            check("index", state, message, None)
        }
    });
    let models = inner.parts.models.doctor();
    let (models, machine) = tokio::join!(models, (inner.parts.examine)());
    // Now that the search for models is over: before, there may seem to be none. What the models say of the default is
    // part of it, so that it is told once.
    let (default, others): (Vec<_>, Vec<_>) = models.into_iter().partition(|finding| finding.about == MODEL);
    checks.insert(1, model(&inner, default.into_iter().next()));
    checks.extend(others.into_iter().chain(machine).map(found));
    let version = inner.settings.version.clone();
    let places =
        blocking(move || workspaces.iter().map(|workspace| place(&inner, workspace)).collect::<Vec<_>>());
    checks.extend(places.await?);
    Ok(Json(DoctorReport { version, checks }))
}

/// The model of new sessions, and where that comes from; `default` is what the models say of it where nobody chose.
fn model(inner: &Inner, default: Option<Finding>) -> DoctorCheck {
    let chosen = inner.parts.engine.default_model();
    let state = health::model(inner);
    let found = inner.parts.models.find(chosen.as_ref());
    let (message, hint) = match (&chosen, found) {
        (Some(name), Ok(_)) => (
            format!("new sessions use `{}`, chosen with `loggia model use`", name.0),
            "`loggia model use --unset` goes back to what is configured or found",
        ),
        (Some(name), Err(error)) => (
            format!("`{}`, chosen with `loggia model use`, cannot be used: {}", name.0, error.message),
            FORGET_IT,
        ),
        (None, Ok(model)) if model.info().name.is_none() => {
            ("no model is set; prompts are answered by searching the workspace".to_owned(), SET_A_MODEL)
        }
        (None, Ok(model)) => {
            let told =
                default.map_or_else(|| format!("`{}`", model.info().name.0), |finding| finding.message);
            match health::default_problem(inner) {
                None => (format!("new sessions use {told}"), SET_A_MODEL),
                Some(problem) => (format!("{told}, cannot be used: {problem}"), SET_A_MODEL),
            }
        }
        (None, Err(error)) => (error.message, SET_A_MODEL),
    };
    let hint = (state != CheckState::Ok || chosen.is_some()).then_some(hint);
    check(MODEL, state, message, hint)
}

/// How a workspace is: its directory and its policy. Touches disks.
fn place(inner: &Inner, workspace: &Workspace) -> DoctorCheck {
    let name = format!("workspace {}", workspace.name);
    let root = workspace.root.display();
    if !workspace.root.is_dir() {
        let hint = "bring the directory back, or register it where it is now";
        return check(&name, CheckState::Failed, format!("`{root}` is not there"), Some(hint));
    }
    if let Err(error) = std::fs::read_dir(&workspace.root) {
        let hint =
            format!("look at who owns it with `ls -ld '{root}'`; `chmod u+rx '{root}'` lets you read it");
        return check(&name, CheckState::Failed, format!("`{root}` cannot be read: {error}"), Some(&hint));
    }
    match inner.parts.engine.policy(workspace.id) {
        Ok(policy) => {
            let trusted =
                if inner.parts.engine.is_trusted(&workspace.root) { "trusted" } else { "not trusted" };
            let message = format!("`{root}`, {trusted}, its policy is at revision {}", policy.revision);
            check(&name, CheckState::Ok, message, None)
        }
        Err(error) => {
            check(&name, CheckState::Failed, error.to_string(), Some("correct or remove the policy's file"))
        }
    }
}

fn found(finding: Finding) -> DoctorCheck {
    let Finding { about, level, message, hint } = finding;
    let state = match level {
        FindingLevel::Ok => CheckState::Ok,
        FindingLevel::Absent => CheckState::Absent,
        FindingLevel::Warning => CheckState::Degraded,
        FindingLevel::Error => CheckState::Failed,
    };
    DoctorCheck { name: about, state, message, hint }
}

fn check(name: &str, state: CheckState, message: String, hint: Option<&str>) -> DoctorCheck {
    DoctorCheck { name: name.to_owned(), state, message, hint: hint.map(ToOwned::to_owned) }
}
