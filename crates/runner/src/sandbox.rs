//! What a command may reach, as the keeper is told it.
//!
//! Adds to what the policy says what every command needs: the system's own directories, less their secrets. What
//! always holds: what is to be hidden is not granted by name either; only the root and the command's own temporary
//! directory may lie in something hidden.

use std::path::{Path, PathBuf};

use loggia_domain as domain;
use loggia_wire::child::{Confinement, Grant, Level, Road};
use rustix::fs::{Access, access};

/// Programs and what they load.
const PROGRAMS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/home/linuxbrew/.linuxbrew",
];

/// Settings, and what programs ask of the machine to know how many threads to start and how much memory to take.
const FACTS: &[&str] =
    &["/etc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"];

/// Where names are looked up, if `/etc/resolv.conf` leads there.
const FACTS_OF_THE_NETWORK: &[&str] = &[
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
];

/// Keys and passwords in the directories above. As a rule the system itself keeps them from us; those it does not,
/// because we are its administrator, are hidden.
const SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/rancher",
];

/// What everybody may write elsewhere, and is empty here.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// The keeper's orders for a command in `root` with a temporary directory `scratch`; `sealed` are the parts of the
/// root it must not write.
pub(crate) fn confinement(
    asked: &domain::Confinement,
    root: &Path,
    scratch: &Path,
    sealed: Vec<PathBuf>,
    roads: &[Road],
) -> Confinement {
    let mut hidden: Vec<PathBuf> = asked.hidden.iter().map(|path| real(path)).collect();
    let seen = |path: &Path| hidden.iter().all(|hidden| !path.starts_with(hidden));
    let allowed = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| real(path)).filter(|path| seen(path)).collect()
    };
    let mut grants: Vec<Grant> = PROGRAMS.iter().map(Grant::read).collect();
    grants.extend(FACTS.iter().map(|path| Grant::read(path).no_execute()));
    if asked.network {
        grants.extend(FACTS_OF_THE_NETWORK.iter().map(|path| Grant::read(path).no_execute()));
    }
    grants.extend(allowed(&asked.readable).into_iter().map(Grant::read));
    grants.extend(allowed(&asked.writable).into_iter().map(Grant::write));
    grants.extend([Grant::write(root), Grant::write(scratch)]);
    hidden.extend(SECRETS.iter().map(PathBuf::from).filter(|path| access(path, Access::READ_OK).is_ok()));
    Confinement {
        required: asked.required,
        roads: roads.to_vec(),
        grants,
        sealed,
        hidden,
        temporary: TEMPORARY.iter().map(PathBuf::from).collect(),
        network: asked.network,
        unix_sockets: asked.unix_sockets,
    }
}

/// With every link followed, as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn level(level: Level) -> domain::SandboxLevel {
    match level {
        Level::None => domain::SandboxLevel::None,
        Level::Partial => domain::SandboxLevel::Partial,
        Level::Confined => domain::SandboxLevel::Confined,
        Level::Isolated => domain::SandboxLevel::Isolated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_not_granted_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("data/keys")).unwrap();
        std::fs::create_dir(home.join("tools")).unwrap();
        std::os::unix::fs::symlink("data/keys", home.join("innocent")).unwrap();
        let asked = domain::Confinement {
            readable: vec![home.join("data/keys"), home.join("innocent"), home.join("tools")],
            writable: vec![home.join("data")],
            hidden: vec![home.join("data")],
            ..domain::Confinement::default()
        };
        let made = confinement(&asked, &home.join("data/root"), Path::new("/scratch"), Vec::new(), &[]);
        let own: Vec<&Grant> = made.grants.iter().filter(|grant| grant.path.starts_with(&home)).collect();
        assert_eq!(own, [&Grant::read(home.join("tools")), &Grant::write(home.join("data/root"))]);
        assert!(made.hidden.contains(&home.join("data")));
    }
}
