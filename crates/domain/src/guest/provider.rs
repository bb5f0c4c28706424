//! Places that tasks come from.

use super::GuestError;
use crate::{BoxFuture, JsonText, Page};

/// Brings work items from somewhere and tells that place what became of them.
pub trait TaskProvider: Send + Sync + 'static {
    /// What people call it.
    fn name(&self) -> String;

    /// What references to its items begin with, before the colon.
    fn schemes(&self) -> Vec<String>;

    /// Who is asked first about a reference whose scheme nobody has: the highest.
    fn priority(&self) -> i64;

    /// Whether it can do something beyond fetching, as far as is known now.
    fn can(&self, ability: ProviderAbility) -> bool;

    /// Gets ready, so that [`TaskProvider::can`] tells for sure what it can do.
    fn ready(&self) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async { Ok(()) })
    }

    /// Whether a reference is one of its own.
    fn claims(&self, reference: String) -> BoxFuture<'_, Result<bool, GuestError>>;

    /// The key of the item that a reference such as `scheme:rest` means.
    fn resolve(&self, reference: String) -> BoxFuture<'_, Result<String, GuestError>>;

    /// One item.
    fn fetch(&self, key: String) -> BoxFuture<'_, Result<WorkItem, GuestError>>;

    /// An item's text, to be kept.
    fn snapshot(&self, key: String) -> BoxFuture<'_, Result<String, GuestError>>;

    /// Lists items.
    fn list(&self, query: WorkQuery) -> BoxFuture<'_, Result<Page<WorkItem>, GuestError>>;

    /// Moves an item to another status.
    fn set_status(&self, key: String, status: String) -> BoxFuture<'_, Result<(), GuestError>>;

    /// Who said what about an item, oldest first.
    fn comments(&self, key: String) -> BoxFuture<'_, Result<Vec<(String, String)>, GuestError>>;

    /// Says something about an item.
    fn comment(&self, key: String, text: String) -> BoxFuture<'_, Result<(), GuestError>>;

    /// Marks an item with words, or takes these marks away.
    fn set_tags(&self, key: String, tags: Vec<String>, on: bool) -> BoxFuture<'_, Result<(), GuestError>>;

    /// The branch an item is tied to, if it is.
    fn branch(&self, key: String) -> BoxFuture<'_, Result<Option<String>, GuestError>>;

    /// Ties an item to a branch, or unties it.
    fn set_branch(&self, key: String, branch: String, tied: bool) -> BoxFuture<'_, Result<(), GuestError>>;

    /// Proposes a branch for merging.
    fn propose(&self, proposal: Proposal) -> BoxFuture<'_, Result<Proposed, GuestError>>;

    /// A file that belongs to an item.
    fn attachment(&self, key: String, attachment: String) -> BoxFuture<'_, Result<Vec<u8>, GuestError>>;
}

/// What a provider may be able to do beyond fetching items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderAbility {
    /// Give an item's text to keep.
    Snapshot,
    /// List items.
    List,
    /// Say something about an item.
    Comment,
    /// Read what was said about an item.
    Comments,
    /// Move an item on.
    Status,
    /// Mark items.
    Tags,
    /// Tie items to branches.
    Branches,
    /// Propose a branch for merging.
    Propose,
    /// Hand out attachments.
    Attachments,
}

/// A branch to be proposed for merging.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    /// The item it is for.
    pub key: Option<String>,
    /// In one line.
    pub title: String,
    /// In full.
    pub description: String,
    /// The branch with the work.
    pub from: String,
    /// The branch it should go to.
    pub into: String,
    /// Whether it is still being worked on.
    pub draft: bool,
}

/// A proposal as its place has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposed {
    /// What people call it.
    pub label: Option<String>,
    /// Where people look at it.
    pub location: Option<String>,
    /// How it stands, in its place's words.
    pub state: Option<String>,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// What it is fetched with.
    pub key: String,
    /// What people call it for short, for names of branches; nothing if it has no such name.
    pub label: Option<String>,
    /// What kind of work it is, in its place's words.
    pub kind: Option<String>,
    /// In one line.
    pub title: String,
    /// In full, as its place has it.
    pub description: String,
    /// How far it is, in its place's words.
    pub status: Option<String>,
    /// How urgent it is: 1 the most, 5 the least.
    pub priority: Option<i64>,
    /// Words it was marked with.
    pub tags: Vec<String>,
    /// Where people look at it.
    pub location: Option<String>,
    /// The provider's name.
    pub provider: Option<String>,
    /// Whatever else its place told, as an object.
    pub more: JsonText,
}

/// Which items to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkQuery {
    /// Only with this status.
    pub status: Option<String>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
    /// At most so many.
    pub limit: usize,
    /// Those after this place, as an earlier page gave it.
    pub cursor: Option<String>,
}
