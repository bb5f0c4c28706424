//! Privileges: given up, with no way back.
//!
//! A program of an ordinary user has none. One started by the administrator (in a container, say) keeps what it
//! needs to work on files of other users, since the workspace may be somebody else's, and nothing else.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs,
};

/// With a root of its own there are only files it may have, so it may own them as well.
const WITH_OWN_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// In the system's own root, owners and modes are beyond what Landlock guards.
const IN_SYSTEM_ROOT: CapabilitySet = CapabilitySet::DAC_OVERRIDE;

/// Gives up the calling thread's privileges.
pub(super) fn drop(own_root: bool) -> rustix::io::Result<()> {
    // Without this, executing a file as the administrator or a file with privileges would give them back.
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    let kept = if own_root { WITH_OWN_ROOT } else { IN_SYSTEM_ROOT };
    let kept = capabilities(None)?.permitted & kept;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)
}
