//! The part of the form about plugins, and about the trust that those of a workspace need.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Look after plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// List the plugins there are; none is started
    List(PluginListArguments),
    /// Show all there is to know about a plugin
    Info(PluginInfoArguments),
    /// Try whether plugins start, take their configuration and answer
    #[command(long_about = VALIDATE_ABOUT)]
    Validate(PluginValidateArguments),
    /// Let a plugin run
    #[command(long_about = ENABLE_ABOUT)]
    Enable(PluginSwitchArguments),
    /// Let a plugin run no longer
    Disable(PluginSwitchArguments),
    /// Fetch a plugin, without letting it run
    #[command(long_about = INSTALL_ABOUT)]
    Install(PluginInstallArguments),
    /// Delete a plugin's directory
    Remove(PluginRemoveArguments),
}

/// Which plugins are meant.
#[derive(Debug, Args, Default)]
pub(crate) struct PluginPlace {
    /// In this directory [default: the workspace around the current one]
    #[arg(short, long, value_name = "DIR", conflicts_with = "global")]
    pub(crate) workspace: Option<PathBuf>,
    /// Not in a workspace, but yours for all of them
    #[arg(short, long)]
    pub(crate) global: bool,
}

/// Arguments of `plugin list`.
#[derive(Debug, Args, Default)]
pub(crate) struct PluginListArguments {
    /// Where.
    #[command(flatten)]
    pub(crate) place: PluginPlace,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `plugin info`.
#[derive(Debug, Args)]
pub(crate) struct PluginInfoArguments {
    /// Which
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Where.
    #[command(flatten)]
    pub(crate) place: PluginPlace,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const VALIDATE_ABOUT: &str = "\
Tries whether plugins start, take their configuration and give a sign of life, enabled or not, and stops them again. Without a \
name, all of them are tried that may run. Exits with code 4 when one does not work.";

/// Arguments of `plugin validate`.
#[derive(Debug, Args)]
pub(crate) struct PluginValidateArguments {
    /// Which [default: all there are]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where.
    #[command(flatten)]
    pub(crate) place: PluginPlace,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const ENABLE_ABOUT: &str = "\
Lets a plugin run in this workspace, or with `--global` in all of them. What you say for a workspace is kept in the data directory, what \
you say for all of them in your configuration file; no file of a workspace is changed. A plugin that the workspace brings runs only \
where the workspace is trusted.";

/// Arguments of `plugin enable` and `plugin disable`.
#[derive(Debug, Args)]
pub(crate) struct PluginSwitchArguments {
    /// Which
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Where.
    #[command(flatten)]
    pub(crate) place: PluginPlace,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const INSTALL_ABOUT: &str = "\
Clones a repository with your git, or copies a directory, into `.loggia/plugins` of this workspace, or with `--global` beside your own \
plugins. What has no good manifest is removed again, what is there already is left alone, and nothing is enabled.";

/// Arguments of `plugin install`.
#[derive(Debug, Args)]
pub(crate) struct PluginInstallArguments {
    /// The address of a git repository, or a directory
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// Where.
    #[command(flatten)]
    pub(crate) place: PluginPlace,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `plugin remove`.
#[derive(Debug, Args)]
pub(crate) struct PluginRemoveArguments {
    /// Which
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Where.
    #[command(flatten)]
    pub(crate) place: PluginPlace,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const TRUST_ABOUT: &str = "\
Lets a workspace's own files name programs and loosen rules: its plugins run, and all of its configuration holds. Before that it shows \
what would run and hold, and asks. `--revoke` takes it back; what runs is stopped. Trust is for one directory, not for what is below it.";

/// Arguments of `trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// Which directory [default: the workspace around the current one]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Trust it no longer
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// List the directories that are trusted
    #[arg(long, conflicts_with_all = ["directory", "yes"])]
    pub(crate) list: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
