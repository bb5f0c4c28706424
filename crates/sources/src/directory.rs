//! A directory as a task, and its files as a list of them.
//!
//! A directory with a `README` or an `index` is what that says. One without is all its texts, one after the other.

use loggia_domain::{GuestError, JsonText, Page, WorkItem, WorkQuery};
use loggia_tree::Kind;
use serde_json::json;

use crate::document::{Document, Origin};
use crate::file;
use crate::limits::{MAX_LOOKED_AT, MAX_PAGE, MAX_TEXT_FILES, MAX_TEXTS, USUAL_PAGE};
use crate::places::{Places, Spot, key};
use crate::provider::Source;

/// What speaks for a directory, best first; capitals do not matter.
const SPEAKERS: [&str; 7] =
    ["readme.md", "readme.markdown", "readme.txt", "readme", "index.md", "index.markdown", "index.txt"];

/// Which files are tasks in a list.
const LISTED: [&str; 3] = [".md", ".markdown", ".txt"];

/// A directory as a task.
#[derive(Debug)]
pub(crate) struct DirectorySource {
    places: Places,
    /// Whose files are listed.
    browsed: String,
}

impl DirectorySource {
    pub(crate) fn new(places: Places) -> Self {
        Self { places, browsed: ".".to_owned() }
    }

    /// The same with the files of another directory listed.
    pub(crate) fn browsing(places: Places, path: &str) -> Result<Self, GuestError> {
        let browsed = key(&places.spot(path)?);
        Ok(Self { places, browsed })
    }

    /// What a key means: a directory, or a file of a list.
    fn found(&self, key: &str) -> Result<(Spot, Kind), GuestError> {
        let spot = self.places.spot(key)?;
        match self.places.kind(&spot)? {
            Some(kind @ (Kind::Directory | Kind::File)) => Ok((spot, kind)),
            Some(kind) => Err(GuestError::Refused(format!("`{key}` is {kind}, not a directory"))),
            None => Err(GuestError::NotFound(format!("there is no directory `{key}`"))),
        }
    }

    /// What a directory says.
    fn read(&self, spot: &Spot) -> Result<Read, GuestError> {
        let (files, left_out) = self.places.files(spot)?;
        let speaker = SPEAKERS
            .iter()
            .find_map(|speaker| files.iter().find(|(name, _)| name.eq_ignore_ascii_case(speaker)).cloned());
        let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).take(MAX_TEXT_FILES).collect();
        match speaker {
            Some((_, speaker)) => {
                Ok(Read { text: self.places.read(&speaker)?, names, speaker: Some(speaker) })
            }
            None => {
                let text = self.read_all(&files, left_out).ok_or_else(|| {
                    GuestError::Refused(format!("`{}` has neither a README nor any text in it", key(spot)))
                })?;
                Ok(Read { text, names, speaker: None })
            }
        }
    }

    /// All texts, each below its name; nothing if there is none.
    fn read_all(&self, files: &[(String, Spot)], mut left_out: usize) -> Option<String> {
        let mut all = String::new();
        let mut count = 0;
        for (name, spot) in files {
            match self.places.read(spot) {
                Ok(text) if count < MAX_TEXT_FILES && all.len() + text.len() <= MAX_TEXTS => {
                    all += &format!("## {name}\n\n{}\n\n", text.trim_end());
                    count += 1;
                }
                _ => left_out += 1,
            }
        }
        if left_out > 0 {
            all += &format!("({left_out} more are left out: no texts, or too much)\n");
        }
        (count > 0).then_some(all)
    }

    /// A file in a list. One that cannot be read is there all the same, and says why.
    fn listed(&self, name: &str, spot: &Spot) -> WorkItem {
        file::item(&self.places, spot, Self::NAME).unwrap_or_else(|error| WorkItem {
            key: key(spot),
            label: None,
            kind: None,
            title: name.to_owned(),
            description: String::new(),
            status: None,
            priority: None,
            tags: Vec::new(),
            location: Some(self.places.location(spot)),
            provider: Some(Self::NAME.to_owned()),
            more: JsonText(json!({ "problem": error.to_string() }).to_string()),
        })
    }
}

/// What a directory says.
struct Read {
    text: String,
    names: Vec<String>,
    /// Whose words they are, if one file speaks for it.
    speaker: Option<Spot>,
}

impl Source for DirectorySource {
    const NAME: &'static str = "directory";
    const SCHEME: &'static str = "dir";
    const PRIORITY: i64 = 15;
    const LISTS: bool = true;

    fn claims(&self, reference: &str) -> bool {
        let kind = self.places.spot(reference).and_then(|spot| self.places.kind(&spot));
        kind.is_ok_and(|kind| kind == Some(Kind::Directory))
    }

    fn resolve(&self, rest: &str) -> Result<String, GuestError> {
        // An empty rest is the root itself.
        let rest = if rest.is_empty() { "." } else { rest };
        let (spot, kind) = self.found(rest)?;
        let key = key(&spot);
        match kind {
            Kind::Directory => Ok(key),
            _ => Err(GuestError::Refused(format!("`{key}` is a file: give it as `file:{key}`"))),
        }
    }

    fn fetch(&self, wanted: &str) -> Result<WorkItem, GuestError> {
        let (spot, kind) = self.found(wanted)?;
        if kind == Kind::File {
            return file::item(&self.places, &spot, Self::NAME);
        }
        let Read { text, names, speaker } = self.read(&spot)?;
        let origin = Origin {
            key: key(&spot),
            name: self.places.name(&spot),
            location: self.places.location(&spot),
            provider: Self::NAME,
        };
        let spoken = speaker.as_ref().map(key);
        let refused = |why: String| GuestError::Refused(format!("`{}`: {why}", spoken.unwrap_or_default()));
        let mut item = match speaker {
            Some(_) => {
                Document::parse(&text).and_then(|document| document.into_item(origin)).map_err(refused)?
            }
            // Names of files are headings here, and none of them is the title.
            None => {
                let name = origin.name.clone();
                let item = Document::plain(text).into_item(origin).map_err(refused)?;
                WorkItem { title: name, ..item }
            }
        };
        if let Ok(serde_json::Value::Object(mut more)) = serde_json::from_str(&item.more.0) {
            // What the text says itself comes first.
            more.entry("files").or_insert_with(|| json!(names));
            item.more = JsonText(serde_json::Value::Object(more).to_string());
        }
        Ok(item)
    }

    fn snapshot(&self, key: &str) -> Result<String, GuestError> {
        let (spot, kind) = self.found(key)?;
        if kind == Kind::File { self.places.read(&spot) } else { Ok(self.read(&spot)?.text) }
    }

    fn list(&self, query: &WorkQuery) -> Result<Page<WorkItem>, GuestError> {
        let spot = self.places.spot(&self.browsed)?;
        let (files, _) = self.places.files(&spot)?;
        let is_listed = |name: &str| {
            let name = name.to_ascii_lowercase();
            LISTED.iter().any(|kind| name.ends_with(kind))
        };
        let after = |name: &str| query.cursor.as_deref().is_none_or(|cursor| name > cursor);
        let files: Vec<_> = files.into_iter().filter(|(name, _)| is_listed(name) && after(name)).collect();
        let most = if query.limit == 0 { USUAL_PAGE } else { query.limit.min(MAX_PAGE) };
        let wanted = |item: &WorkItem| {
            query.status.as_ref().is_none_or(|status| item.status.as_ref() == Some(status))
                && query.tags.iter().all(|tag| item.tags.contains(tag))
        };
        let mut items = Vec::new();
        for (count, (name, spot)) in files.iter().enumerate() {
            let item = self.listed(name, spot);
            if wanted(&item) {
                items.push(item);
            }
            if (items.len() == most || count + 1 == MAX_LOOKED_AT) && count + 1 < files.len() {
                return Ok(Page { items, next: Some(name.clone()) });
            }
        }
        Ok(Page { items, next: None })
    }
}
