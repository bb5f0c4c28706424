//! Landlock: rules over files, and a border for signals, tracing and abstract sockets.
//!
//! Best effort over kernels: what the running one does not know is left out, and told if nothing else makes up for
//! it. In a root of its own the mounts hold already, and the rules repeat them.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};

use super::{Confinement, Grant, split};

/// Devices that are a file to everybody and lead nowhere.
pub(super) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// Neither devices nor, unless they are allowed, sockets are made.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeFifo | MakeSym | Refer
});

/// Restricts the calling thread, and all it starts, for good; whether rules are in force. Adds to `missing` what
/// was asked for and is not.
pub(super) fn restrict(confinement: &Confinement, own_root: bool, missing: &mut Vec<String>) -> bool {
    let applied = apply(confinement, own_root, missing);
    let abi = match applied {
        Ok(abi) => abi,
        Err(error) => {
            missing.push(format!("Landlock's rules could not be applied: {error}"));
            return false;
        }
    };
    let mut lacks = |needs: ABI, what: &str| {
        if abi < needs {
            missing.push(what.to_owned());
        }
    };
    if own_root {
        // Processes are out of sight and files are mounts. Only without a network of its own are there abstract
        // sockets to reach.
        if confinement.network && confinement.unix_sockets {
            lacks(ABI::V6, "abstract Unix sockets outside can be reached");
        }
        return abi > ABI::Unsupported;
    }
    lacks(ABI::V1, "files are not guarded: the system has no Landlock");
    lacks(ABI::V3, "files outside can be truncated");
    lacks(ABI::V6, "processes outside can be signalled");
    if confinement.unix_sockets {
        lacks(ABI::V6, "abstract Unix sockets outside can be reached");
        lacks(ABI::V9, "Unix sockets anywhere in the file system can be reached");
    }
    let can_be_written =
        |path: &PathBuf| confinement.grants.iter().any(|grant| grant.write && path.starts_with(&grant.path));
    missing.extend(confinement.sealed.iter().filter(|path| can_be_written(path)).map(|path| {
        format!("`{}` can be written: only namespaces keep a part of a directory from it", path.display())
    }));
    abi > ABI::Unsupported
}

/// The version of Landlock that is in force.
fn apply(confinement: &Confinement, own_root: bool, missing: &mut Vec<String>) -> Result<ABI, RulesetError> {
    let sockets =
        if confinement.unix_sockets { AccessFs::ResolveUnix | AccessFs::MakeSock } else { BitFlags::EMPTY };
    let mut handled = AccessFs::from_all(ABI::V5);
    // With a root of its own, the sockets it can see are those it may use.
    if confinement.unix_sockets && !own_root {
        handled |= AccessFs::ResolveUnix;
    }
    let mut rules = Ruleset::default().handle_access(handled)?.scope(Scope::from_all(ABI::V6))?;
    if !confinement.network {
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let sockets = sockets & handled;
    let mut rules = rules.create()?;
    for device in DEVICES {
        rules = allow(rules, Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    if own_root {
        // All that can be seen may be.
        rules = allow(rules, Path::new("/"), READ)?;
        rules = allow(rules, Path::new("/dev/pts"), WRITE | AccessFs::IoctlDev)?;
        for path in &confinement.temporary {
            rules = allow(rules, path, WRITE | AccessFs::Execute | sockets)?;
        }
    } else {
        // Each process finds its own entry here; those of processes outside are closed by the domain's border.
        rules = allow(rules, Path::new("/proc"), READ)?;
    }
    for grant in &confinement.grants {
        let mut access = if grant.write { WRITE | sockets } else { READ | (sockets & AccessFs::ResolveUnix) };
        if grant.execute {
            access |= AccessFs::Execute;
        }
        for path in paths_of(grant, &confinement.hidden, own_root, missing) {
            rules = allow(rules, &path, access)?;
        }
    }
    let status = rules.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => ABI::Unsupported,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi,
        _ => ABI::Unsupported,
    })
}

/// Where a grant's rules go. A rule cannot be taken back deeper down, so in the system's own root what lies beside
/// a hidden path is granted one by one.
fn paths_of(grant: &Grant, hidden: &[PathBuf], own_root: bool, missing: &mut Vec<String>) -> Vec<PathBuf> {
    if own_root {
        return vec![grant.path.clone()];
    }
    match split::around(&grant.path, hidden) {
        Ok(paths) => paths,
        Err(error) => {
            // Nothing is granted then, which is safe; but not what was asked for.
            missing.push(format!("`{}` is not granted: {error}", grant.path.display()));
            Vec::new()
        }
    }
}

/// What does not exist needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V9) };
    rules.add_rule(PathBeneath::new(opened, access))
}
