//! Deleting a plugin's directory.
//!
//! Invariant: what is deleted lies directly in a place of plugins, and a link is deleted, not what it leads to.

use std::path::Path;

use loggia_domain::{PluginDeskError, PluginListing, PluginSummary};
use loggia_plugins::Place;

/// The plugin that is meant: the workspace's own, or the user's.
pub(super) fn choose<'l>(
    listing: &'l PluginListing,
    name: &str,
    of_workspace: bool,
) -> Option<&'l PluginSummary> {
    listing.plugins.iter().find(|plugin| plugin.name == name && plugin.of_workspace == of_workspace)
}

/// Why none is meant.
pub(super) fn not_there(listing: &PluginListing, name: &str, of_workspace: bool) -> PluginDeskError {
    if choose(listing, name, !of_workspace).is_none() {
        return super::no_such(listing, name);
    }
    let hint = if of_workspace {
        "it is yours, for all workspaces: add `--global`"
    } else {
        "it is a workspace's: leave `--global` out"
    };
    PluginDeskError::NotFound(format!("there is no such plugin `{name}` here; {hint}"))
}

/// Deletes a directory that is directly in one of these places.
pub(super) fn delete(directory: &Path, places: &[Place]) -> Result<(), PluginDeskError> {
    if !places.iter().any(|place| directory.parent() == Some(&place.directory)) {
        let text = format!("`{}` is in no place of plugins", directory.display());
        return Err(PluginDeskError::Invalid(text));
    }
    let removed = match directory.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(directory),
        Ok(_) => std::fs::remove_file(directory),
        Err(error) => Err(error),
    };
    removed.map_err(|error| {
        PluginDeskError::Unavailable(format!("cannot remove `{}`: {error}", directory.display()))
    })
}
