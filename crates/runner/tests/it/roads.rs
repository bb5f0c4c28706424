//! How an escape is tried: on every road it must be held, and without a sandbox it must succeed.
//!
//! The second is what makes the first worth something: an escape that never works proves nothing. An escape shows
//! either by the word `ESCAPED` or by what it did outside. One that did not even get to the end of its script fails.

use libtest_mimic::Trial;
use loggia_domain::{CommandEnd, CommandExit, CommandSpec, Confinement, SandboxLevel};
use loggia_wire::child::Road;
use rustix::thread::{CapabilitySet, capabilities};

use crate::spares::Marked;
use crate::support::{Listeners, SECRET, Scene, Victim, block_on, roads, run, run_free};

/// Something a command tries that it must not be able to do.
pub(crate) struct Escape {
    pub(crate) name: &'static str,
    pub(crate) script: Script,
    /// Where it is held.
    pub(crate) held: HeldOn,
    /// Whether it succeeds without a sandbox.
    pub(crate) free: Free,
    /// What is asked for besides what every scene asks for.
    pub(crate) asked: fn(&Scene, &mut Confinement),
}

pub(crate) enum Script {
    Shell(&'static str),
    /// After [`PRELUDE`].
    Python(&'static str),
}

#[derive(PartialEq, Eq)]
pub(crate) enum HeldOn {
    EveryRoad,
    /// Landlock alone holds this one, but not everything that was asked for with it.
    EveryRoadInPart,
    /// Landlock alone cannot, for this reason, and the level says that something is missing. That it does not hold
    /// is tested too, so that this table is kept true.
    OwnRoot(&'static str),
    /// The same for what nobody asked for by name, so that no level says it.
    OwnRootUntold(&'static str),
}

#[derive(PartialEq, Eq)]
pub(crate) enum Free {
    Works,
    /// Only with the privileges of an administrator.
    WorksForRoot,
    /// Where the system lets us make namespaces.
    WorksWithNamespaces,
    /// Where the system lets processes of one user trace each other.
    WorksWithTracing,
    /// The keeper alone holds it, or the kernel may lack it.
    Unknown,
}

/// What Python scripts begin with: `attempt(what)` says whether the system allowed it.
const PRELUDE: &str = r#"
import ctypes, os, platform, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
env = os.environ
victim = int(env["VICTIM"])
x86 = platform.machine() == "x86_64"
def call(name, *args):
    result = getattr(libc, name)(*args)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def attempt(what):
    try:
        what()
        print("ESCAPED")
    except OSError as error:
        print("held:", error)
"#;

pub(crate) const fn escape(name: &'static str, script: Script) -> Escape {
    Escape { name, script, held: HeldOn::EveryRoad, free: Free::Works, asked: |_, _| {} }
}

impl Escape {
    pub(crate) const fn own_root_only(self, reason: &'static str) -> Self {
        Self { held: HeldOn::OwnRoot(reason), ..self }
    }

    pub(crate) const fn own_root_only_untold(self, reason: &'static str) -> Self {
        Self { held: HeldOn::OwnRootUntold(reason), ..self }
    }

    pub(crate) const fn partial_without_own_root(self) -> Self {
        Self { held: HeldOn::EveryRoadInPart, ..self }
    }

    pub(crate) const fn free(self, free: Free) -> Self {
        Self { free, ..self }
    }

    pub(crate) const fn asking(self, asked: fn(&Scene, &mut Confinement)) -> Self {
        Self { asked, ..self }
    }

    /// Tries it; whether it succeeded, what it said, and the level it ran at.
    fn attempt(&self, road: Option<&Road>) -> (bool, String, SandboxLevel) {
        let road = road.map_or(&[][..], std::slice::from_ref);
        self.attempt_in(|scene, spec| (run(road, spec).unwrap(), scene))
    }

    /// The same in a keeper that has prepared for it.
    fn attempt_prepared(&self) -> (bool, String, SandboxLevel) {
        self.attempt_in(|scene, spec| {
            let marked = Marked::of(scene);
            let end = block_on(marked.run_prepared(spec));
            (end, marked.scene)
        })
    }

    fn attempt_in(
        &self,
        run: impl FnOnce(Scene, CommandSpec) -> (CommandEnd, Scene),
    ) -> (bool, String, SandboxLevel) {
        let scene = Scene::new();
        let mut victim = Victim::start();
        let listeners = Listeners::open(&scene);
        let line = match self.script {
            Script::Shell(text) => format!("{text}\necho tried"),
            Script::Python(text) => {
                std::fs::write(scene.root.join("escape.py"), format!("{PRELUDE}{text}\nprint('tried')\n"))
                    .unwrap();
                "python3 escape.py".to_owned()
            }
        };
        let mut spec = scene.spec(&line);
        (self.asked)(&scene, &mut spec.confinement);
        let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        let variables = [
            ("OUTSIDE", text(&scene.outside)),
            ("DATA", text(&scene.data)),
            ("TOOLS", text(&scene.tools)),
            ("MARK", scene.mark.clone()),
            ("VICTIM", victim.pid().to_string()),
            ("DAEMON", std::process::id().to_string()),
            ("ABSTRACT", listeners.abstract_name.clone()),
            ("TCP", listeners.tcp.local_addr().unwrap().port().to_string()),
            ("UDP", listeners.udp.local_addr().unwrap().port().to_string()),
        ];
        spec.environment = variables.map(|(name, value)| (name.to_owned(), value)).into();
        let (end, scene) = run(scene, spec);
        let said = format!("{}{}", end.stdout.text(), end.stderr.text());
        let ended = end.stdout.text().ends_with("tried\n") && end.exit == CommandExit::Code(0);
        assert!(ended, "{}: did not get to its end: {end:?}", self.name);
        let escaped = end.stdout.text().contains("ESCAPED")
            || said.contains(SECRET)
            || !victim.is_alive()
            || listeners.were_reached()
            || is_harmed(&scene);
        (escaped, said, end.sandbox)
    }

    fn is_held(&self, name: &str, road: &Road, level: SandboxLevel) {
        self.judge(name, road, level, self.attempt(Some(road)));
    }

    fn is_held_when_prepared(&self) {
        self.judge("a ready keeper", &Road::Namespaces, SandboxLevel::Isolated, self.attempt_prepared());
    }

    fn judge(
        &self,
        name: &str,
        road: &Road,
        level: SandboxLevel,
        (escaped, said, reached): (bool, String, SandboxLevel),
    ) {
        let (held, level) = match self.held {
            HeldOn::OwnRoot(_) if *road == Road::Landlock => (false, SandboxLevel::Partial),
            HeldOn::OwnRootUntold(_) if *road == Road::Landlock => (false, level),
            HeldOn::EveryRoadInPart if *road == Road::Landlock => (true, SandboxLevel::Partial),
            _ => (true, level),
        };
        let what = if escaped { "is not held" } else { "is held" };
        assert_eq!((!escaped, reached), (held, level), "{} {what} by {name}: {said}", self.name);
    }

    fn works_when_free(&self) {
        let works = match self.free {
            Free::Works => true,
            Free::WorksForRoot => capabilities(None).unwrap().effective.contains(CapabilitySet::SYS_ADMIN),
            Free::WorksWithNamespaces => roads().iter().any(|(_, road, _)| *road == Road::Namespaces),
            Free::WorksWithTracing => {
                let closed = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
                closed.map_or(true, |closed| closed.trim() == "0")
            }
            Free::Unknown => false,
        };
        if !works {
            return;
        }
        let (escaped, said, level) = self.attempt(None);
        assert_eq!(level, SandboxLevel::None);
        assert!(escaped, "{} does not work even without a sandbox, so it proves nothing: {said}", self.name);
    }
}

/// Whether something outside is not as it was.
fn is_harmed(scene: &Scene) -> bool {
    let victim = scene.outside.join("victim");
    let names = |path: &std::path::Path| std::fs::read_dir(path).unwrap().count();
    let elsewhere = ["/tmp", "/var/tmp", "/dev/shm"]
        .map(|place| std::path::Path::new(place).join(format!("{}-left", scene.mark)));
    let left = elsewhere.iter().any(|path| path.exists());
    for path in elsewhere {
        // Only there if the escape worked.
        let _ = std::fs::remove_file(path);
    }
    let hooks = std::fs::read_dir(scene.root.join(".git/hooks"));
    left
        // The victim and the socket of the log.
        || names(&scene.outside) != 2
        || std::fs::read_to_string(&victim).ok() != Some(format!("{SECRET}\n"))
        || is_touched(&victim)
        || hooks.map_or(true, |hooks| hooks.count() != 0)
        || std::fs::read_to_string(scene.root.join(".git/config")).ok().as_deref() != Some("[core]\n")
        || scene.root.join(".loggia").exists()
}

fn is_touched(path: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let found = path.metadata().unwrap();
    found.mode() & 0o7777 == 0o777 || found.mtime() == 0
}

pub(crate) fn trials(escapes: &'static [Escape]) -> Vec<Trial> {
    let roads: &'static [_] = roads().leak();
    let mut trials = Vec::new();
    for escape in escapes {
        for (name, road, level) in roads {
            let trial = move || {
                escape.is_held(name, road, *level);
                Ok(())
            };
            trials.push(Trial::test(format!("{}_is_held_by_{name}", escape.name), trial));
            if *road == Road::Namespaces {
                let prepared = || {
                    escape.is_held_when_prepared();
                    Ok(())
                };
                trials.push(Trial::test(format!("{}_is_held_by_a_ready_keeper", escape.name), prepared));
            }
        }
        let free = || {
            escape.works_when_free();
            Ok(())
        };
        trials.push(Trial::test(format!("{}_works_without_a_sandbox", escape.name), free));
    }
    trials
}

/// Fails where no test above has been on any road.
pub(crate) fn a_sandbox_works_here() {
    assert!(!roads().is_empty(), "neither namespaces nor Landlock nor bubblewrap work on this machine");
    assert_eq!(run_free(&Scene::new(), "true").sandbox, SandboxLevel::None);
}
