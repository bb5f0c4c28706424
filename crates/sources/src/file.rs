//! A file as a task.

use loggia_domain::{GuestError, WorkItem};
use loggia_tree::Kind;

use crate::document::{Document, Origin};
use crate::places::{Places, Spot, key};
use crate::provider::Source;

/// A file as a task.
#[derive(Debug)]
pub(crate) struct FileSource {
    places: Places,
}

impl FileSource {
    pub(crate) fn new(places: Places) -> Self {
        Self { places }
    }
}

impl Source for FileSource {
    const NAME: &'static str = "file";
    const SCHEME: &'static str = "file";
    const PRIORITY: i64 = 10;

    fn claims(&self, reference: &str) -> bool {
        let Ok(spot) = self.places.spot(reference) else { return false };
        match self.places.kind(&spot) {
            Ok(found) => found == Some(Kind::File),
            // There is something that leads elsewhere: whoever fetches it is told.
            Err(error) => matches!(error, GuestError::Refused(_)),
        }
    }

    fn resolve(&self, rest: &str) -> Result<String, GuestError> {
        let spot = self.places.spot(rest)?;
        match self.places.kind(&spot)? {
            Some(Kind::File) => Ok(key(&spot)),
            Some(Kind::Directory) => {
                let key = key(&spot);
                Err(GuestError::Refused(format!("`{key}` is a directory: give it as `dir:{key}`")))
            }
            Some(kind) => Err(GuestError::Refused(format!("`{}` is {kind}, not a file", key(&spot)))),
            None => Err(GuestError::NotFound(format!("there is no file `{}`", key(&spot)))),
        }
    }

    fn fetch(&self, key: &str) -> Result<WorkItem, GuestError> {
        item(&self.places, &self.places.spot(key)?, Self::NAME)
    }

    fn snapshot(&self, key: &str) -> Result<String, GuestError> {
        self.places.read(&self.places.spot(key)?)
    }
}

/// The task that a file is.
pub(crate) fn item(places: &Places, spot: &Spot, provider: &str) -> Result<WorkItem, GuestError> {
    let text = places.read(spot)?;
    let refused = |why: String| GuestError::Refused(format!("`{}`: {why}", key(spot)));
    let origin =
        Origin { key: key(spot), name: stem(&places.name(spot)), location: places.location(spot), provider };
    Document::parse(&text).and_then(|document| document.into_item(origin)).map_err(refused)
}

/// A file's name without what says which kind of text it is.
fn stem(name: &str) -> String {
    let kinds = [".markdown", ".md", ".txt"];
    let bare = kinds.iter().find_map(|kind| name.strip_suffix(kind)).filter(|bare| !bare.is_empty());
    bare.unwrap_or(name).to_owned()
}
