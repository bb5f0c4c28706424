//! The commands about the code index: how it is, and its builds. Looking at it builds nothing.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    CodeIndex, IndexBuild, IndexControl, IndexError, IndexProgress, IndexState, IndexStatus, IndexStep,
    WorkspaceId,
};
use loggia_engine::SearchError;

use super::{Answer, sessions};
use crate::door::Inner;
use crate::guest::Guest;
use crate::paint::{Painted, Style, brief};
use crate::table::IndexVerb;
use crate::voice::{Refused, Status, Voice};

/// Files that are listed, of those that are left out.
const SKIPPED: usize = 100;

/// How much of a text is shown in a line.
const BRIEF: usize = 160;

/// How often it is looked what a build is doing.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Does something about the index of the workspace of the session in use. What takes long goes on behind the command.
pub(super) async fn act(door: &Arc<Inner>, guest: &Guest, verb: IndexVerb, voice: Voice) {
    let index = match of(door, guest).await {
        Ok((_, index)) => index,
        Err(refused) => return voice.end(Err(refused)).await,
    };
    let answer = match verb {
        IndexVerb::Build | IndexVerb::Rebuild => {
            let how = if verb == IndexVerb::Build { IndexBuild::Refresh } else { IndexBuild::Rebuild };
            return door.spawn(async move {
                let built = build(&*index, how, &voice).await;
                voice.end(built).await;
            });
        }
        IndexVerb::Drop => {
            return door.spawn(async move {
                let gone = || Painted::new().plain("the index is gone").line();
                let dropped = index.forget().await.map(|()| gone()).map_err(Refused::from);
                voice.end(dropped).await;
            });
        }
        IndexVerb::Status => {
            // What is kept of it is read first.
            let status = index.opened().await;
            Ok(shown(&status, &*index))
        }
        IndexVerb::Skipped => {
            index.opened().await;
            Ok(skipped(&*index))
        }
        IndexVerb::Pause => Ok(steered(&*index, IndexControl::Pause)),
        IndexVerb::Resume => Ok(steered(&*index, IndexControl::Resume)),
        IndexVerb::Cancel => Ok(steered(&*index, IndexControl::Cancel)),
    };
    voice.end(answer).await;
}

/// The workspace of the session in use, and its index.
pub(super) async fn of(door: &Inner, guest: &Guest) -> Result<(WorkspaceId, Arc<dyn CodeIndex>), Refused> {
    let id = sessions::usual(door, guest).await?;
    let workspace = door.parts.engine.workspace(id).await?;
    let index = (door.parts.index)(&workspace).ok_or(SearchError::NoIndex)?;
    Ok((id, index))
}

/// Builds it, and tells each step that is looked at in time.
async fn build(index: &dyn CodeIndex, how: IndexBuild, voice: &Voice) -> Answer {
    let mut building = index.build(how);
    let mut told = None;
    let status = loop {
        tokio::select! {
            built = &mut building => break built?,
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
        let progress = index.details().progress;
        let step = progress.map(|progress| (progress.step, progress.is_paused));
        if let Some(progress) = progress.filter(|_| step != told) {
            // Whoever has gone does not end the build.
            let _ = voice.say(&Painted::of(Style::Aside, how_far(&progress)).line()).await;
        }
        told = step;
    };
    Ok(shown(&status, index))
}

/// Hands a wish on, whatever is under way: a pause holds for what comes, too, and must be taken back then.
fn steered(index: &dyn CodeIndex, control: IndexControl) -> Painted {
    let is_building = index.status().state == IndexState::Building;
    index.control(control);
    let text = match (control, is_building) {
        (IndexControl::Pause, _) => "builds are held up until `index resume`",
        (IndexControl::Resume, _) => "builds go on",
        (IndexControl::Cancel, true) => "the build is cancelled",
        (IndexControl::Cancel, false) => return Painted::of(Style::Aside, "no build is under way").line(),
    };
    Painted::new().plain(text).line()
}

fn shown(status: &IndexStatus, index: &dyn CodeIndex) -> Painted {
    let (style, word) = match status.state {
        IndexState::Empty => (Style::Aside, "empty"),
        IndexState::Building => (Style::Plain, "building"),
        IndexState::Ready => (Style::Good, "ready"),
        IndexState::Stale => (Style::Warning, "stale"),
        IndexState::Failed => (Style::Bad, "failed"),
    };
    let IndexStatus { files, symbols, chunks, bytes, .. } = status;
    let size = bytes.div_ceil(1024);
    let counts =
        format!(": {files} files, {symbols} definitions, {chunks} pieces of text, {size} KiB on disk");
    let mut text = Painted::of(style, word).plain(counts).line();
    let details = index.details();
    if details.is_paused && details.progress.is_none() {
        text.append(Painted::of(Style::Warning, "  builds are held up until `index resume`").line());
    }
    if details.was_cancelled {
        text.append(Painted::of(Style::Aside, "  the last build was cancelled").line());
    }
    if let Some(progress) = details.progress {
        text.append(Painted::of(Style::Aside, format!("  {}", how_far(&progress))).line());
    }
    if let Some(error) = &status.last_error {
        text.append(Painted::of(Style::Warning, format!("  last error: {}", brief(error, BRIEF))).line());
    }
    for note in &details.notes {
        text.append(Painted::of(Style::Warning, format!("  {}", brief(note, BRIEF))).line());
    }
    if details.skipped > 0 {
        let what = format!("  left out: {}; `index skipped` tells why", details.skipped);
        text.append(Painted::of(Style::Aside, what).line());
    }
    text
}

fn skipped(index: &dyn CodeIndex) -> Painted {
    let files = index.skipped(SKIPPED);
    if files.is_empty() {
        return Painted::of(Style::Aside, "no file is left out").line();
    }
    let mut text = Painted::new();
    for file in &files {
        let line = Painted::of(Style::Name, brief(&file.path, BRIEF))
            .with(Style::Aside, format!("  {}", brief(&file.reason, BRIEF)));
        text.append(line.line());
    }
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX);
    let more = index.details().skipped.saturating_sub(count);
    if more > 0 {
        text.append(Painted::of(Style::Aside, format!("… {more} more")).line());
    }
    text
}

fn how_far(progress: &IndexProgress) -> String {
    let step = match progress.step {
        IndexStep::Walking => "looking for files",
        IndexStep::Text => "words",
        IndexStep::Symbols => "definitions",
        IndexStep::Writing => "writing",
    };
    let mut text = format!("indexing: {step}");
    if progress.total > 0 {
        text.push_str(&format!(", {} of {} files", progress.done, progress.total));
    }
    if progress.is_paused {
        text.push_str(", held up");
    } else if let Some(left) = progress.seconds_left.filter(|left| *left >= 0.5) {
        text.push_str(&format!(", {left:.0} s left"));
    }
    text
}

impl From<SearchError> for Refused {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Engine(error) => error.into(),
            SearchError::Index(error) => error.into(),
            SearchError::NoIndex => Self::new(Status::Unavailable, error),
        }
    }
}

impl From<IndexError> for Refused {
    fn from(error: IndexError) -> Self {
        let status = match &error {
            IndexError::Unavailable(_) | IndexError::NoVectors(_) => Status::Unavailable,
            IndexError::BadQuery(_) => Status::Usage,
            IndexError::Cancelled => Status::Cancelled,
        };
        Self::new(status, error)
    }
}
