//! The filter of system calls: what no program needs that only works on files and processes of its own.
//!
//! A list of refusals, not of permissions: programs are many and kernels grow, and what a new call may reach is
//! held by Landlock and the namespaces too. A refused call fails with an error, so that a program can do without;
//! a call by the numbers of another architecture kills, since those would go past the list.

use libc::{ENOSYS, EPERM, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use super::Confinement;

/// Reaching into other processes; keys; mounts and name spaces; the kernel itself; the clock and the machine.
const REFUSED: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Linux 6.15, one number everywhere; newer than the library's list.
const OPEN_TREE_ATTR: c_long = 467;

/// Told to be unknown to the system, so that a program takes the older way: a library falls back from `clone3`,
/// whose flags a filter cannot see, to `clone`; and rings do calls that no filter sees.
const UNKNOWN: &[c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Only connections to elsewhere need these; refused when no socket can lead there.
const CONNECTIONS: &[c_long] =
    &[libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

/// Memory, semaphores and queues that any process of the user can reach by number. With a namespace of its own the
/// program reaches only its own.
const SYSTEM_WIDE: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Flags of `clone` that make a name space.
const NAME_SPACES: &[u64] = &[
    libc::CLONE_NEWNS as u64,
    libc::CLONE_NEWCGROUP as u64,
    libc::CLONE_NEWUTS as u64,
    libc::CLONE_NEWIPC as u64,
    libc::CLONE_NEWUSER as u64,
    libc::CLONE_NEWPID as u64,
    libc::CLONE_NEWNET as u64,
];
/// The same bit is part of a signal's number in `clone`.
const NAME_SPACE_OF_TIME: u64 = 0x80;

/// Put words into a terminal's input, or paste its selection there.
const TERMINAL_INPUT: &[u64] = &[0x5412, 0x541c];

const SOCKET_TYPE_MASK: u64 = 0xf;

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterError {
    #[error("no filter is known for this processor")]
    Processor,
    #[error(transparent)]
    Built(#[from] seccompiler::BackendError),
    #[error(transparent)]
    Applied(#[from] seccompiler::Error),
}

/// Which filter. Two with the same values refuse the same calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filter {
    network: bool,
    unix_sockets: bool,
    pub(super) own_root: bool,
}

impl Filter {
    /// The one for a program held in like this.
    pub(super) fn of(confinement: &Confinement, own_root: bool) -> Self {
        let Confinement { network, unix_sockets, .. } = *confinement;
        Self { network, unix_sockets, own_root }
    }

    /// Filters the calling thread's system calls, and those of all it starts, for good.
    pub(super) fn apply(self) -> Result<(), FilterError> {
        let processor = std::env::consts::ARCH.try_into().map_err(|_| FilterError::Processor)?;
        let build = |calls, errno: i32| -> Result<BpfProgram, FilterError> {
            let errno = SeccompAction::Errno(errno.unsigned_abs());
            Ok(SeccompFilter::new(calls, SeccompAction::Allow, errno, processor)?.try_into()?)
        };
        let refused = build(refused(self)?, EPERM)?;
        let unknown = build(UNKNOWN.iter().map(|&call| (call, Vec::new())).collect(), ENOSYS)?;
        #[cfg(target_arch = "x86_64")]
        apply_filter(&KILL_SHORT_POINTERS)?;
        apply_filter(&unknown)?;
        apply_filter(&refused)?;
        Ok(())
    }
}

/// x86-64 has a second table of calls for programs with short pointers, told apart by one bit of the number. The
/// library's filters know only the first.
#[cfg(target_arch = "x86_64")]
const KILL_SHORT_POINTERS: [seccompiler::sock_filter; 4] = {
    const fn instruction(code: u16, if_true: u8, if_false: u8, k: u32) -> seccompiler::sock_filter {
        seccompiler::sock_filter { code, jt: if_true, jf: if_false, k }
    }
    const LOAD: u16 = 0x20;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SHORT_POINTERS: u32 = 0x4000_0000;
    [
        // The call's number is the first thing a filter sees.
        instruction(LOAD, 0, 0, 0),
        instruction(IF_AT_LEAST, 0, 1, SHORT_POINTERS),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
};

type Calls = std::collections::BTreeMap<c_long, Vec<SeccompRule>>;

fn refused(Filter { network, unix_sockets, own_root }: Filter) -> Result<Calls, FilterError> {
    let mut calls: Calls = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    if !network && !unix_sockets {
        calls.extend(CONNECTIONS.iter().map(|&call| (call, Vec::new())));
    }
    if !own_root {
        calls.extend(SYSTEM_WIDE.iter().map(|&call| (call, Vec::new())));
    }
    calls.insert(libc::SYS_socket, sockets(network, unix_sockets)?);
    calls.insert(libc::SYS_socketpair, socket_pairs(unix_sockets)?);
    calls.insert(libc::SYS_clone, any_flag(NAME_SPACES)?);
    calls.insert(libc::SYS_unshare, any_flag(&[NAME_SPACES, &[NAME_SPACE_OF_TIME]].concat())?);
    let terminal_input = TERMINAL_INPUT.iter().map(|&request| rule([is(1, request)?]));
    calls.insert(libc::SYS_ioctl, terminal_input.collect::<Result<_, _>>()?);
    // One's own limits are 0; those of another process of the same user would be ours to lose.
    calls.insert(libc::SYS_prlimit64, vec![rule([is_not(0, 0)?])?]);
    Ok(calls)
}

/// No rules refuse every socket.
fn sockets(network: bool, unix_sockets: bool) -> Result<Vec<SeccompRule>, FilterError> {
    let mut families = Vec::new();
    if unix_sockets {
        families.push(libc::AF_UNIX);
    }
    if network {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if families.is_empty() {
        return Ok(Vec::new());
    }
    let strange = families.iter().map(|&family| is_not(0, family.unsigned_abs().into()));
    let mut rules = vec![SeccompRule::new(strange.collect::<Result<_, _>>()?)?];
    if network {
        // Looking up addresses asks for routes; the rest of what the kernel talks about there is not for programs.
        rules.push(rule([is(0, libc::AF_NETLINK as u64)?, is_not(2, libc::NETLINK_ROUTE as u64)?])?);
    }
    Ok(rules)
}

/// Pairs are pipes that go both ways. But datagrams can be sent from one end to any address, so where Unix
/// sockets are refused, only those that stay connected are allowed.
fn socket_pairs(unix_sockets: bool) -> Result<Vec<SeccompRule>, FilterError> {
    let mut rules = vec![rule([is_not(0, libc::AF_UNIX as u64)?])?];
    if !unix_sockets {
        let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
        let others = (0..=SOCKET_TYPE_MASK).filter(|kind| !connected.contains(&(*kind as i32)));
        for kind in others {
            rules.push(rule([condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE_MASK), kind)?])?);
        }
    }
    Ok(rules)
}

fn any_flag(flags: &[u64]) -> Result<Vec<SeccompRule>, FilterError> {
    flags.iter().map(|&flag| rule([condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])).collect()
}

fn rule<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule, FilterError> {
    Ok(SeccompRule::new(conditions.into())?)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, FilterError> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, FilterError> {
    condition(argument, SeccompCmpOp::Ne, value)
}

/// The kernel takes all these arguments as 32-bit numbers and ignores what is above, so the filter does too.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, FilterError> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}
