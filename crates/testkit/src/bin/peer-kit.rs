//! The parts of [`loggia_testkit`] as real processes: a keeper, a daemon to be killed, a family of processes
//! that tries to survive it, an honest echo and every misbehaving peer.
//!
//! Usage: `peer-kit PART [ARGUMENT…]`; the parts are the arms of [`main`].

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loggia_jsonrpc::Dialect;
use loggia_testkit::hostile::{Framing, Misbehaviour, play};
use loggia_testkit::methods::echo;
use loggia_wire::child::{ChildSpec, Keeper, keep, spawn};
use loggia_wire::framing::{ContentLength, Lines};
use loggia_wire::peer::{Settings, connect};

/// Nothing here lives longer than this, whatever a test forgets.
const LIFETIME: Duration = Duration::from_secs(120);
const CAP: usize = 64 * 1024 * 1024;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["keep"] => return keep(),
        ["daemon", directory] => run(daemon(directory)),
        ["family", directory] => family(Path::new(directory)),
        ["sleeper", file] => sleep(Path::new(file)),
        ["sleeper-in-own-session", file] => {
            // Fails only for a group leader, which this is not.
            let _ = rustix::process::setsid();
            sleep(Path::new(file));
        }
        ["orphan-maker", file] => {
            start("sleeper-in-own-session", Path::new(file));
            while std::fs::read_to_string(file).unwrap_or_default().is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        ["stubborn"] => {
            ignore_sigterm();
            say("ready");
            std::thread::sleep(LIFETIME);
        }
        ["until-eof"] => {
            // Whatever it is, the end of it is what counts.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        }
        ["exit", status] => return status.parse::<u8>().map_or(ExitCode::FAILURE, ExitCode::from),
        ["two-lines"] => {
            say("first words");
            say("last words");
        }
        ["noisy"] => noisy(),
        ["echo", framing] => run(serve_echo(framing_named(framing))),
        [part, framing] => match Misbehaviour::ALL.iter().find(|(name, _)| *name == part) {
            Some((_, part)) => run(misbehave(framing_named(framing), *part)),
            None => return ExitCode::from(2),
        },
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

fn framing_named(name: &str) -> Framing {
    if name == "content-length" { Framing::ContentLength } else { Framing::Lines }
}

fn run(part: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be built in a fresh process").block_on(part);
}

/// Starts a family through keepers, says so, and waits to be killed.
async fn daemon(directory: &str) {
    let itself = std::env::current_exe().expect("a running executable has a path");
    let keeper = Keeper::new(&itself, ["keep"]);
    let spec = ChildSpec::new("family", &itself).args(["family", directory]);
    let _child = spawn(&keeper, spec).await.expect("the family starts");
    std::fs::write(Path::new(directory).join("daemon-ready"), "").expect("the directory is writable");
    tokio::time::sleep(LIFETIME).await;
}

/// A program with a child in its group, one in a session of its own, and one whose parent is gone.
fn family(directory: &Path) {
    ignore_sigterm();
    start("sleeper", &directory.join("pid-child"));
    start("sleeper-in-own-session", &directory.join("pid-session"));
    start("orphan-maker", &directory.join("pid-orphan"));
    sleep(&directory.join("pid-parent"));
}

#[expect(clippy::disallowed_methods, reason = "a family of processes the keeper knows nothing of")]
#[expect(clippy::zombie_processes, reason = "the point is a family nobody waits for")]
fn start(part: &str, file: &Path) {
    let itself: PathBuf = std::env::current_exe().expect("a running executable has a path");
    Command::new(itself).arg(part).arg(file).spawn().expect("a second copy starts");
}

/// Writes its process id and sleeps, deaf to SIGTERM.
fn sleep(file: &Path) {
    ignore_sigterm();
    std::fs::write(file, std::process::id().to_string()).expect("the directory is writable");
    std::thread::sleep(LIFETIME);
}

fn say(words: &str) {
    use std::io::Write;
    writeln!(std::io::stderr(), "{words}").expect("somebody drains stderr");
}

fn ignore_sigterm() {
    let heard = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, heard).expect("SIGTERM can be caught");
}

/// More on stderr than any pipe holds, then a last line.
fn noisy() {
    use std::io::Write;
    let mut stderr = std::io::stderr().lock();
    for number in 0..20_000 {
        writeln!(stderr, "line {number}").expect("somebody drains stderr");
    }
    writeln!(stderr, "{}", "x".repeat(100_000)).expect("somebody drains stderr");
    writeln!(stderr, "the last words").expect("somebody drains stderr");
}

async fn serve_echo(framing: Framing) {
    let settings = Settings::new("host", Dialect::STANDARD);
    let (stdin, stdout) = loggia_wire::stdio::take().expect("the test gave us pipes");
    match framing {
        Framing::ContentLength => {
            connect(stdin, stdout, ContentLength::new(CAP), settings, echo()).1.run().await
        }
        Framing::Lines => connect(stdin, stdout, Lines::new(CAP), settings, echo()).1.run().await,
    };
}

async fn misbehave(framing: Framing, part: Misbehaviour) {
    // A broken stream is how most of these parts end.
    let _ = play(tokio::io::stdin(), tokio::io::stdout(), framing, part).await;
}
