//! Branches, working trees and checkpoints of tasks, by running the user's git.
//!
//! Fills [`Repository`](loggia_domain::Repository). Knows which commands of git do what a task needs, what git says
//! when it cannot, and what a repository's own configuration could make it run. Refuses to know tasks: whoever asks
//! says which branch, which tree, which commit.
//!
//! # What always holds
//!
//! - git is started through a keeper and in no other way, each time with a limit on its time and its output, without a
//!   terminal, a pager, an editor or a prompt, and with messages in English.
//! - No hook runs, nor a garbage collection, nor anything that only the repository's own configuration names.
//! - Nothing is sent or fetched except by `push`, which sends one branch.
//! - Refs change only if they are what they were found to be. A commit and its mark appear together.
//! - A merge is made beside the working tree: one that does not fit together has touched nothing.
//! - Files that git does not know are not overwritten, ignored ones included.
//! - A future that is dropped ends the git it runs, politely first, so that it takes its locks away. One that is killed
//!   may leave a lock; whoever comes next is told what that is and what to do about it.
//!
//! # What a repository's configuration could run, and does not
//!
//! A repository may come from anybody. Before git does anything, its configuration is listed with where each value is
//! from; what names a program and is the repository's own is replaced by the user's value or by nothing:
//!
//! | Setting | Instead |
//! |---|---|
//! | hooks (`core.hooksPath`, `.git/hooks`, `hook.*`) | none, also the user's |
//! | `core.fsmonitor`, `gc.auto`, `maintenance.auto` | off, also the user's |
//! | `filter.*.clean`, `.smudge`, `.process` | the user's; else files that want it are an error: unfiltered they would be other files |
//! | `merge.*.driver` | the user's; else such files do not fit together |
//! | `diff.external`, `diff.*.command`, `diff.*.textconv` | never used |
//! | `gpg.program`, `gpg.*.program`, `gpg.ssh.defaultKeyCommand` | the user's, else git's own default |
//! | `credential.helper`, `core.sshCommand` | the user's |
//! | `core.askPass`, `core.editor`, `core.pager` | none |
//! | `core.gitProxy`, `remote.*.vcs`, addresses such as `ext::` | only files, http, https and ssh may be sent to, and for anything but `push` nothing at all: a partial clone does not fetch what it lacks |
//! | `remote.*.receivepack` | `git-receive-pack` |
//! | `remote.*.url` that is a directory of the repository itself, whose hooks would run | refused |
//! | `core.worktree` that is not where the repository lies | refused |
//! | programs of submodules | submodules are compared by their commits alone; git is never run in them |
//! | aliases | no command we use can be one |
//!
//! What remains: hooks of a remote that is a directory elsewhere on this machine run when it is pushed to, as they
//! would on a server. Somebody who can write the configuration between our look at it and git's can have programs
//! run; commands of the agent cannot, since `.git` is sealed for them. A relative entry of `PATH` is left out, so no
//! `git` or `ssh` of a working tree is ever found.

mod advance;
mod branches;
mod changes;
mod checkpoint;
mod config;
mod discard;
mod environment;
mod exclude;
mod lately;
mod merge;
mod place;
mod push;
mod refs;
mod repository;
mod run;
mod settings;
mod status;
mod trees;
mod words;
mod work;

pub use repository::{Git, GitRepository};
pub use settings::{Limits, Settings};
