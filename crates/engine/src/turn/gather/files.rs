//! Files as gathering sees them: through the root, as far as the policy lets them be read, for so long.
//!
//! Touches disks: used where that may block. What always holds: nothing is read but through the root; what may not be
//! read is as if it were not there, also behind a link; changes collected so far are as if made.

use std::cell::OnceCell;
use std::sync::Arc;

use loggia_domain::ToolContext;
use loggia_tree::{Kind, Root, TreePath, WalkOptions};

use crate::turn::gather::imports::Module;
use crate::turn::gather::listing::Listing;
use crate::turn::gather::patience::Patience;

/// A larger file is no source that people wrote.
const MOST_BYTES: u64 = 1 << 20;

/// How many files are listed: names of more are no help, and listing them takes longer than people wait.
const MOST_LISTED: usize = 50_000;

/// How many modules of Go a workspace has at most.
const MOST_MODULES: usize = 32;

/// The files of a workspace, for one gathering.
pub(super) struct Files {
    root: Arc<Root>,
    context: ToolContext,
    patience: Patience,
    listing: OnceCell<Listing>,
    modules: OnceCell<Vec<Module>>,
}

impl Files {
    pub(super) fn new(root: Arc<Root>, context: ToolContext, patience: Patience) -> Self {
        Self { root, context, patience, listing: OnceCell::new(), modules: OnceCell::new() }
    }

    /// What says how long to go on.
    pub(super) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// A file's text; nothing if it is not there, may not be read or is no text, or the time is over.
    pub(super) fn read(&self, path: &str) -> Option<String> {
        if self.patience.is_over() {
            return None;
        }
        let path = TreePath::parse(path).ok().filter(|path| !path.is_root())?;
        let real = self.root.real_path_of(&path).ok()?;
        if !(self.context.may_read)(path.as_str()) || !(self.context.may_read)(real.as_str()) {
            return None;
        }
        let bytes = match self.context.overlay.get(real.as_str()) {
            Some(content) => content.clone()?,
            None => self.root.read(&real, MOST_BYTES).ok()?.bytes,
        };
        let is_text = !bytes.contains(&0);
        is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The files that are not ignored and may be read.
    pub(super) fn listing(&self) -> &Listing {
        self.listing.get_or_init(|| {
            let walk = self.root.walk(&WalkOptions { limit: MOST_LISTED, ..WalkOptions::default() });
            let in_time = walk.take_while(|_| !self.patience.is_over());
            // What cannot be looked at is not told; the model can still ask for it.
            let files = in_time.flatten().filter(|found| found.meta.kind == Kind::File);
            let paths = files.map(|found| found.path.as_str().to_owned());
            paths.filter(|path| (self.context.may_read)(path)).collect()
        })
    }

    /// The modules of Go there are.
    pub(super) fn modules(&self) -> &[Module] {
        self.modules.get_or_init(|| {
            let described = self.listing().named("go.mod").iter().take(MOST_MODULES);
            described.filter_map(|path| Module::parse(path, &self.read(path)?)).collect()
        })
    }
}
