//! A workspace with things around it that a command must not reach, and commands run in it.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use loggia_domain::{
    CommandEnd, CommandSpec, Confinement, OutputSink, OutputStream, RunError, Runner, SandboxLevel,
};
use loggia_runner::{CommandRunner, Settings};
use loggia_wire::child::{Keeper, Road};
use tempfile::TempDir;

/// Whatever is waited for takes milliseconds; a busy machine gets much more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const SECRET: &str = "the-secret-word";

/// This program in its other part.
pub(crate) fn keeper() -> Keeper {
    Keeper::new(std::env::current_exe().unwrap(), ["keep"])
}

pub(crate) fn settings(roads: &[Road]) -> Settings {
    let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];
    Settings {
        roads: roads.to_vec(),
        environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
        ..Settings::default()
    }
}

pub(crate) fn runner(roads: &[Road]) -> CommandRunner {
    CommandRunner::new(keeper(), settings(roads))
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Everything a command wrote, in pieces as it was told.
pub(crate) type Pieces = Arc<Mutex<Vec<(OutputStream, String)>>>;

pub(crate) fn listen() -> (Pieces, OutputSink) {
    let pieces = Pieces::default();
    let told = pieces.clone();
    let sink = Box::new(move |stream, text: &str| told.lock().unwrap().push((stream, text.to_owned())));
    (pieces, sink)
}

/// A root to work in, and beside it what belongs to others.
pub(crate) struct Scene {
    _directory: TempDir,
    pub(crate) root: PathBuf,
    /// Granted to nobody.
    pub(crate) outside: PathBuf,
    /// Hidden, as our own data would be.
    pub(crate) data: PathBuf,
    /// Readable, with something hidden in it.
    pub(crate) tools: PathBuf,
    /// Unlike any other scene's.
    pub(crate) mark: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("loggia-scene-").tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let [root, outside, data, tools] = ["root", "outside", "data", "tools"].map(|name| base.join(name));
        for path in [root.join(".git/hooks"), outside.clone(), data.clone(), tools.join("keys")] {
            std::fs::create_dir_all(path).unwrap();
        }
        std::fs::write(root.join(".git/config"), "[core]\n").unwrap();
        std::fs::write(root.join("own"), "own\n").unwrap();
        for path in [outside.join("victim"), data.join("token"), tools.join("keys/id")] {
            std::fs::write(path, format!("{SECRET}\n")).unwrap();
        }
        std::fs::write(tools.join("tool"), "#!/bin/sh\necho a tool\n").unwrap();
        make_executable(&tools.join("tool"));
        let mark = base.file_name().unwrap().to_str().unwrap().to_owned();
        Self { _directory: directory, root, outside, data, tools, mark }
    }

    pub(crate) fn confinement(&self) -> Confinement {
        Confinement {
            readable: vec![self.tools.clone()],
            hidden: vec![self.data.clone(), self.tools.join("keys")],
            ..Confinement::default()
        }
    }

    pub(crate) fn spec(&self, line: &str) -> CommandSpec {
        CommandSpec {
            line: line.to_owned(),
            directory: self.root.clone(),
            root: self.root.clone(),
            environment: Vec::new(),
            time_limit: PATIENCE,
            output_bytes: 64 * 1024,
            confinement: self.confinement(),
        }
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn run(roads: &[Road], spec: CommandSpec) -> Result<CommandEnd, RunError> {
    block_on(runner(roads).run(spec, Box::new(|_, _| {})))
}

/// A command without a sandbox, and what it said.
pub(crate) fn run_free(scene: &Scene, line: &str) -> CommandEnd {
    run(&[], scene.spec(line)).unwrap()
}

/// Waits for something without knowing who will tell.
pub(crate) fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether any process has this in its arguments.
pub(crate) fn is_running(mark: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(mark))
}

/// The roads this machine has, with their names and the level they lead to.
pub(crate) fn roads() -> Vec<(&'static str, Road, SandboxLevel)> {
    static ROADS: OnceLock<Vec<(&str, Road, SandboxLevel)>> = OnceLock::new();
    ROADS.get_or_init(find_roads).clone()
}

fn find_roads() -> Vec<(&'static str, Road, SandboxLevel)> {
    let mut all = vec![
        ("namespaces", Road::Namespaces, SandboxLevel::Isolated),
        ("landlock", Road::Landlock, SandboxLevel::Confined),
    ];
    let bubblewrap = Settings::default().roads.into_iter().find(|road| matches!(road, Road::Bubblewrap(_)));
    all.extend(bubblewrap.map(|road| ("bubblewrap", road, SandboxLevel::Isolated)));
    let scene = Scene::new();
    let works = |(_, road, level): &(&str, Road, SandboxLevel)| {
        run(std::slice::from_ref(road), scene.spec("true")).unwrap().sandbox == *level
    };
    all.into_iter().filter(works).collect()
}

/// Somebody else's process: to be signalled, traced and read.
pub(crate) struct Victim(Child);

impl Victim {
    #[expect(clippy::disallowed_methods, reason = "a process that has nothing to do with the runner")]
    pub(crate) fn start() -> Self {
        let child = Command::new("/bin/sleep")
            .arg("600")
            .env("VICTIM", SECRET)
            .current_dir("/")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Everything that could be spoken to.
pub(crate) struct Listeners {
    pub(crate) path: UnixListener,
    pub(crate) datagrams: UnixDatagram,
    pub(crate) abstract_name: String,
    pub(crate) abstracts: UnixListener,
    pub(crate) tcp: TcpListener,
    pub(crate) udp: UdpSocket,
}

impl Listeners {
    pub(crate) fn open(scene: &Scene) -> Self {
        let name = SocketAddr::from_abstract_name(&scene.mark).unwrap();
        let listeners = Self {
            path: UnixListener::bind(scene.data.join("daemon.sock")).unwrap(),
            datagrams: UnixDatagram::bind(scene.outside.join("log.sock")).unwrap(),
            abstract_name: scene.mark.clone(),
            abstracts: UnixListener::bind_addr(&name).unwrap(),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
        };
        listeners.path.set_nonblocking(true).unwrap();
        listeners.datagrams.set_nonblocking(true).unwrap();
        listeners.abstracts.set_nonblocking(true).unwrap();
        listeners.tcp.set_nonblocking(true).unwrap();
        listeners.udp.set_nonblocking(true).unwrap();
        listeners
    }

    /// Whether anybody came.
    pub(crate) fn were_reached(&self) -> bool {
        let mut byte = [0];
        self.path.accept().is_ok()
            || self.abstracts.accept().is_ok()
            || self.tcp.accept().is_ok()
            || self.datagrams.recv(&mut byte).is_ok()
            || self.udp.recv(&mut byte).is_ok()
    }
}
