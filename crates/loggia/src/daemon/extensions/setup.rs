//! What a workspace's host is made from: its configuration, read anew each time, since people edit it.

use std::path::Path;
use std::time::Duration;

use loggia_extensions::ExtensionEntry;

use super::Inner;
use crate::config::Config;
use crate::config::extensions::Configured;
use crate::config::trust::Trust;
use crate::daemon::plugins::in_words;

/// What a host is made from.
pub(super) struct Setup {
    /// In the order in which they count; nothing if that cannot be told.
    pub(super) entries: Option<Vec<ExtensionEntry>>,
    /// How long a command is waited for.
    pub(super) patience: Duration,
    /// What could not be read, in words.
    pub(super) problems: Vec<String>,
}

impl Inner {
    /// What holds in a workspace. Those that need trust are among it: whether they may run is asked when they start.
    pub(super) fn setup(&self, root: &Path) -> Setup {
        let trust = if self.is_trusted(root) { Trust::Full } else { Trust::TightenOnly };
        match Config::load_in(&self.places.with_workspace(Some(root), trust), &self.flags, &[]) {
            Ok(config) => Setup {
                entries: Some(config.extensions().into_iter().map(entry).collect()),
                patience: config.extension_timeout(),
                problems: Vec::new(),
            },
            Err(error) => Setup {
                entries: None,
                patience: Config::usual_extension_timeout(),
                problems: vec![in_words(&error)],
            },
        }
    }
}

fn entry(configured: Configured) -> ExtensionEntry {
    let Configured { name, path, args, env, cwd, enabled, of_workspace } = configured;
    ExtensionEntry { name, path, args, env, enabled, cwd, of_workspace }
}
