//! The keeper: a second life of our executable that starts one program and outlives it by a moment.
//!
//! No async runtime here: two threads, one that reads orders from the socket on stdin and one that hears signals.
//! What they share is the program's process id, and it is forgotten in the same step in which the program is
//! reaped, so a signal can never reach a stranger who got the number next.
//!
//! A keeper of a program that gets namespaces of its own makes those and starts a second keeper in them, which is
//! what the rest of this page is about; the first only waits for it. One that is started before it is needed is told
//! what to expect and prepares for it; its order alone says what it starts.
//!
//! The keeper is a *subreaper*: descendants whose parents have died become its own children, so it can find and
//! kill those that left the process group (daemons, `setsid`).

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::confine::{self, Ahead, Held, NotStarted};
use super::control::{
    EXPECT, Expectation, INTERRUPT, ISOLATE, ISOLATE_ONLINE, KILL, Order, PIPES, Report, TERMINATE,
};
use super::spare::is_silent;
use super::sweep;

/// How long the keeper tries to kill what does not want to die. A process in an uninterruptible system call
/// dies when that call returns; waiting longer would not change it.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How often a program that waits for its terminal is woken; it is given to it within moments of its start.
const WAKES: u32 = 8;

/// The name `ps` and `pkill` see, so that killing us by name does not take the keepers along.
#[cfg(target_os = "linux")]
const NAME: &std::ffi::CStr = c"guest-keeper";

/// Runs as a keeper until the program and all its descendants are gone. The binary's hidden subcommand calls
/// this before anything else, with one thread and no file open; it returns the exit code to leave with.
pub fn keep() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody reads our stderr, and the socket may be what failed; the exit code is what is left.
            tracing::error!(%error, "keeper failed");
            ExitCode::FAILURE
        }
    }
}

fn run() -> std::io::Result<()> {
    close_inherited_files();
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let adopts = become_keeper();
    let mut first = receive(&socket)?;
    if matches!(first.0, ISOLATE | ISOLATE_ONLINE) {
        match confine::launch(&socket, first.0 == ISOLATE_ONLINE) {
            Ok(()) => return Ok(()),
            Err(error) => {
                // Nobody inside has read the rest; it is taken from the socket, so that our answer is not lost.
                if receive(&socket)?.0 == EXPECT {
                    Expectation::read(&mut socket)?;
                    receive(&socket)?;
                }
                Order::read(&mut socket)?;
                return report(&socket, &Report::Refused(error.to_string()));
            }
        }
    }
    let mut signals = Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP])?;
    let mut ahead = None;
    if first.0 == EXPECT {
        let expected = Expectation::read(&mut socket)?.0;
        // An order that is there already would only wait for it.
        if is_silent(&socket) {
            ahead = Some(confine::prepare(&expected));
        }
        first = receive(&socket)?;
    }
    let pipes = match <[OwnedFd; 3]>::try_from(std::mem::take(&mut first.1)) {
        Ok(pipes) if first.0 == PIPES => pipes,
        _ => return Err(std::io::Error::other("no pipes came over the socket")),
    };
    let order = Order::read(&mut socket)?;
    let on_terminal = order.terminal;
    let (pid, held) = match ahead.transpose().and_then(|ahead| start(order, pipes, ahead)) {
        Ok(started) => started,
        Err(NotStarted::Program(error)) => {
            return report(&socket, &Report::Failed(error.raw_os_error(), error.to_string()));
        }
        Err(NotStarted::Refused(reason)) => return report(&socket, &Report::Refused(reason)),
    };
    // If we were killed before this line, the program sees its pipes close; after it, the socket does the work.
    let told = report(&socket, &Report::Started(pid.as_raw_nonzero().get(), held));
    let program = Arc::new(Program::new(pid, on_terminal));
    if told.is_err() {
        program.signal(Signal::KILL);
    }
    let (commands, commanded) = (socket.try_clone()?, program.clone());
    std::thread::Builder::new().name("orders".to_owned()).spawn(move || obey(commands, &commanded))?;
    let exit = report_of(watch(&mut signals, &program));
    // If nobody listens any more, there is nobody to tell.
    if adopts && reap_all() {
        // Said in one breath, since whoever waits for the one waits for the other too.
        let _ = socket.write_all(format!("{}{}", exit.to_line(), Report::Cleared.to_line()).as_bytes());
        return Ok(());
    }
    // Whoever waits for the program is told before we kill the stragglers.
    let _ = report(&socket, &exit);
    if kill_descendants(pid, adopts) {
        let _ = report(&socket, &Report::Cleared);
    }
    Ok(())
}

/// Takes a session and a name of its own and adopts orphaned descendants; whether it does adopt. None of it is a
/// condition: where the system has no such thing, the process group is what is left.
fn become_keeper() -> bool {
    // A session of its own has no terminal: Ctrl-C in ours is ours to translate, and a program that wants to ask
    // there gets an error instead of being stopped.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::thread::set_name(NAME);
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Closes whatever file we were started with beyond the usual three. Nobody told us of any: somebody who started us
/// forgot to close it, and it would be the program's as well.
fn close_inherited_files() {
    #[cfg(target_os = "linux")]
    {
        let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
        let numbers: Vec<i32> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for number in numbers.into_iter().filter(|number| *number > 2) {
            // The listing's own is among them and closed by now.
            let _ = nix::unistd::close(number);
        }
    }
}

/// One byte, and the files that came with it.
fn receive(socket: &UnixStream) -> std::io::Result<(u8, Vec<OwnedFd>)> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut buffers = [std::io::IoSliceMut::new(&mut byte)];
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    if recvmsg(socket, &mut buffers, &mut ancillary, flags)?.bytes == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut files = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    #[cfg(not(target_os = "linux"))]
    for file in &files {
        // Nothing has been started yet that could have them.
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok((byte[0], files))
}

#[expect(clippy::disallowed_methods, reason = "the one place where programs are started")]
fn start(
    order: Order,
    [stdin, stdout, stderr]: [OwnedFd; 3],
    ahead: Option<Ahead>,
) -> Result<(Pid, Held), NotStarted> {
    let terminal = if order.terminal { Some(own_terminal(&stdin)?) } else { None };
    let mut command = Command::new(&order.program);
    command.args(&order.args).env_clear().envs(order.environment);
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    command.process_group(0);
    if let Some(directory) = &order.cwd {
        command.current_dir(directory);
    }
    // Reaped by `watch`, which hears of every child; the pipe ends close with `command`.
    let (pid, held) = match order.confinement {
        Some(confinement) => confine::start(command, confinement, &order.limits, ahead)?,
        None => {
            order.limits.apply(Path::new("/proc"))?;
            (command.spawn()?.id(), Held::FREE)
        }
    };
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| std::io::Error::other("process id out of range"))?;
    if let Some(terminal) = terminal {
        // It may have ended by now; then nobody needs it.
        let _ = rustix::termios::tcsetpgrp(terminal, pid);
        // Whoever wanted to read before that has been stopped.
        let _ = kill_process_group(pid, Signal::CONT);
    }
    Ok((pid, held))
}

/// Makes a terminal that of our session, in which the program will be, and gives another handle on it.
fn own_terminal(terminal: &OwnedFd) -> std::io::Result<OwnedFd> {
    rustix::process::ioctl_tiocsctty(terminal)?;
    terminal.try_clone()
}

/// The program's process id until it is reaped.
struct Program {
    pid: Mutex<Option<Pid>>,
    /// How often it may be woken when it waits for its terminal.
    wakes: std::sync::atomic::AtomicU32,
    looks: WaitOptions,
}

impl Program {
    fn new(pid: Pid, on_terminal: bool) -> Self {
        let (wakes, looks) = match on_terminal {
            true => (WAKES, WaitOptions::NOHANG | WaitOptions::UNTRACED),
            false => (0, WaitOptions::NOHANG),
        };
        Self { pid: Mutex::new(Some(pid)), wakes: wakes.into(), looks }
    }

    /// Signals the program's group, unless it has ended.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = *self.pid.lock().unwrap_or_else(PoisonError::into_inner) {
            // The group may have emptied itself in this moment: then there is nobody to signal.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Reaps whoever has ended; the program's status if it is among them.
    fn reap(&self) -> Option<WaitStatus> {
        let mut program = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(Some((pid, status))) = wait(self.looks) {
            if *program != Some(pid) {
                continue;
            }
            match status.stopping_signal() {
                Some(signal) => self.wake(pid, signal),
                None => {
                    *program = None;
                    return Some(status);
                }
            }
        }
        None
    }

    /// A program that looked at its terminal just before it became its own has stopped itself just after.
    fn wake(&self, pid: Pid, stopped_by: i32) {
        use std::sync::atomic::Ordering::Relaxed;
        let waits = [Signal::TTIN, Signal::TTOU].iter().any(|signal| signal.as_raw() == stopped_by);
        if waits && self.wakes.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
            let _ = kill_process_group(pid, Signal::CONT);
        }
    }
}

/// Reads orders until the socket closes, which is the last order.
fn obey(mut socket: UnixStream, program: &Program) {
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(1) if byte[0] == INTERRUPT => program.signal(Signal::INT),
            Ok(1) if byte[0] == TERMINATE => program.signal(Signal::TERM),
            Ok(1) if byte[0] == KILL => program.signal(Signal::KILL),
            Ok(1) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => break,
        }
    }
    program.signal(Signal::KILL);
}

/// Waits for the program to end. A signal to the keeper itself is a wish to be rid of both.
fn watch(signals: &mut Signals, program: &Program) -> WaitStatus {
    loop {
        // The program may have ended before the first signal could be heard.
        if let Some(status) = program.reap() {
            return status;
        }
        for signal in signals.wait() {
            if signal != SIGCHLD {
                program.signal(Signal::KILL);
            }
        }
    }
}

fn report_of(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Killed(signal),
        (None, None) => Report::Exited(-1),
    }
}

/// Reaps every child that has ended; whether none is left. Those that left the group became ours when their parents
/// died, if we adopt.
fn reap_all() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            // No children.
            Err(_) => return true,
        }
    }
}

/// Kills all descendants, wherever they went; whether none is left. What is left of the group is among them, so its
/// number, which is nobody's any more, is not needed; where the system does not list processes, it is all there is.
fn kill_descendants(group: Pid, adopts: bool) -> bool {
    let deadline = Instant::now() + KILL_PATIENCE;
    if !adopts || !sweep::can_list() {
        let _ = kill_process_group(group, Signal::KILL);
    }
    loop {
        let none_left = reap_all();
        if none_left || Instant::now() > deadline {
            // Only whoever adopts orphans knows that there are none.
            return none_left && adopts;
        }
        for descendant in sweep::descendants_of(rustix::process::getpid()) {
            let _ = kill_process(descendant, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn report(mut socket: &UnixStream, report: &Report) -> std::io::Result<()> {
    socket.write_all(report.to_line().as_bytes())
}
