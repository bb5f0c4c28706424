//! The keeper that is ready for the next command: used once, replaced, and never in anybody's way.

use libtest_mimic::Trial;
use loggia_domain::{CommandEnd, CommandExit, CommandSpec, Runner, SandboxLevel};
use loggia_runner::CommandRunner;
use loggia_wire::child::{Keeper, Road};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{SECRET, Scene, block_on, eventually, is_running, roads, settings};

pub(crate) fn trials() -> Vec<Trial> {
    let all: [(&str, fn()); 12] = [
        ("the_next_command_gets_the_keeper_that_is_ready", it_is_used),
        ("what_was_mounted_ahead_is_used", it_mounts_ahead),
        ("a_hidden_directory_that_was_replaced_meanwhile_is_hidden", it_hides_a_directory_anew),
        ("a_hidden_file_that_was_replaced_meanwhile_is_hidden", it_hides_a_file_anew),
        ("a_hidden_file_that_was_made_meanwhile_is_hidden", it_hides_what_is_new),
        ("a_directory_that_was_replaced_meanwhile_is_shown_as_it_is", it_shows_anew),
        ("what_the_last_command_could_read_is_gone_if_this_one_may_not", it_forgets_grants),
        ("what_the_last_command_could_do_is_refused_if_this_one_may_not", it_forgets_sockets),
        ("a_command_of_a_ready_keeper_is_held_in_like_any_other", it_holds_in),
        ("a_command_that_needs_other_namespaces_gets_a_new_keeper", it_fits),
        ("a_ready_keeper_that_was_killed_is_replaced", it_is_checked),
        ("a_ready_keeper_leaves_with_its_runner", it_leaves),
    ];
    // Only namespaces need two keepers.
    let possible = roads().iter().any(|(_, road, _)| *road == Road::Namespaces);
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    all.into_iter().filter(|_| possible).map(trial).collect()
}

/// A runner whose keepers can be told from all others.
pub(crate) struct Marked {
    pub(crate) scene: Scene,
    runner: CommandRunner,
}

impl Marked {
    fn new() -> Self {
        Self::of(Scene::new())
    }

    pub(crate) fn of(scene: Scene) -> Self {
        let keeper = Keeper::new(std::env::current_exe().unwrap(), ["keep", &scene.mark]);
        Self { runner: CommandRunner::new(keeper, settings(&[Road::Namespaces])), scene }
    }

    async fn run(&self, line: &str) -> CommandEnd {
        self.run_as(self.scene.spec(line)).await
    }

    /// Runs a command in a keeper that has prepared for one like it.
    pub(crate) async fn run_prepared(&self, spec: CommandSpec) -> CommandEnd {
        self.run_as(CommandSpec { line: "true".to_owned(), ..spec.clone() }).await;
        self.ready().await;
        self.run_as(spec).await
    }

    async fn run_as(&self, spec: CommandSpec) -> CommandEnd {
        self.runner.run(spec, Box::new(|_, _| {})).await.unwrap()
    }

    /// Waits until a keeper is ready and has prepared, and tells which.
    async fn ready(&self) -> Pid {
        self.ready_with_mounts().await.0
    }

    /// The same, with what is mounted in its namespaces.
    async fn ready_with_mounts(&self) -> (Pid, String) {
        let mark = self.scene.mark.clone();
        tokio::task::spawn_blocking(move || {
            let mut found = None;
            eventually("a keeper that is ready", || {
                // The outer one is our child, and has one of its own inside.
                let mut inside = children_of(std::process::id(), &mark).into_iter().flat_map(|outer| {
                    children_of(raw(outer), &mark).into_iter().map(move |inner| (outer, inner))
                });
                found = inside.find_map(|(outer, inner)| Some((outer, prepared_mounts(inner)?)));
                found.is_some()
            });
            found.unwrap()
        })
        .await
        .unwrap()
    }
}

/// The mounts of a keeper that has put all it can into the root it makes: only then does it make a second thread. One
/// that has moved in already has no `/new`.
fn prepared_mounts(inner: Pid) -> Option<String> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", raw(inner))).ok()?.count();
    let mounts = std::fs::read_to_string(format!("/proc/{}/mountinfo", raw(inner))).ok()?;
    (threads > 1 && mounts.contains(" /new/usr ")).then_some(mounts)
}

/// The number of the mount at a path.
fn mount_at(mounts: &str, point: &str) -> Option<String> {
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.find(|fields| fields.get(4) == Some(&point)).map(|fields| fields[0].to_owned())
}

/// The children of a process that have this in their arguments.
fn children_of(parent: u32, mark: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let processes = entries.filter_map(|entry| {
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let its_parent: u32 = status.split("PPid:").nth(1)?.split_whitespace().next()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let is_it = its_parent == parent && String::from_utf8_lossy(&line).contains(mark);
        is_it.then(|| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).flatten()
    });
    processes.collect()
}

fn it_is_used() {
    block_on(async {
        let marked = Marked::new();
        marked.run("true").await;
        let ready = marked.ready().await;
        let (mark, go) = (marked.scene.mark.clone(), marked.scene.root.join("go"));
        let during = tokio::task::spawn_blocking(move || {
            eventually("the command's start", || go.with_file_name("started").exists());
            let its_own = has_descendant(raw(ready), "until [ -e go ]");
            // The next one is made while it runs.
            eventually("the next keeper", || children_of(std::process::id(), &mark).len() == 2);
            std::fs::write(go, "").unwrap();
            its_own
        });
        let end = marked.run("touch started; until [ -e go ]; do sleep 0.01; done; echo done").await;
        assert_eq!((end.exit, end.stdout.text().as_str()), (CommandExit::Code(0), "done\n"));
        assert!(during.await.unwrap(), "the command is below the keeper that was ready");
        assert_ne!(marked.ready().await, ready);
    });
}

fn raw(pid: Pid) -> u32 {
    u32::try_from(pid.as_raw_nonzero().get()).unwrap()
}

/// Whether a process below this one has this in its arguments.
fn has_descendant(above: u32, mark: &str) -> bool {
    !children_of(above, mark).is_empty()
        || children_of(above, "").into_iter().any(|child| has_descendant(raw(child), mark))
}

fn it_holds_in() {
    block_on(async {
        let marked = Marked::new();
        marked.run("true").await;
        marked.ready().await;
        std::fs::write(marked.scene.root.join("news"), "made after the keeper\n").unwrap();
        let secret = marked.scene.data.join("token");
        let line = format!("cat news; cat {}; touch .git/hooks/x", secret.display());
        let mut spec = marked.scene.spec(&line);
        spec.confinement.read_only = vec![marked.scene.root.join(".git/hooks")];
        let end = marked.run_as(spec).await;
        assert_eq!(end.sandbox, SandboxLevel::Isolated);
        assert_eq!(end.stdout.text(), "made after the keeper\n");
        assert!(!end.stderr.text().contains(SECRET), "{}", end.stderr.text());
        assert!(!marked.scene.root.join(".git/hooks/x").exists());
    });
}

fn it_fits() {
    block_on(async {
        let marked = Marked::new();
        let interfaces = "cat /proc/net/dev | grep -c :";
        let alone = marked.run(interfaces).await.stdout.text();
        let ready = marked.ready().await;
        let mut online = marked.scene.spec(interfaces);
        online.confinement.network = true;
        let ours = std::fs::read_to_string("/proc/net/dev").unwrap().matches(':').count();
        let connected = marked.run_as(online).await.stdout.text();
        assert_eq!((alone.trim(), connected.trim()), ("1", ours.to_string().as_str()));
        assert_ne!(marked.ready().await, ready);
    });
}

fn it_is_checked() {
    block_on(async {
        let marked = Marked::new();
        marked.run("true").await;
        let ready = marked.ready().await;
        kill_process(ready, Signal::KILL).unwrap();
        // The kill takes effect when the system gets to it. Only then is there something to notice.
        eventually("its death", || is_dead(ready));
        let end = marked.run("echo well").await;
        assert_eq!((end.exit, end.stdout.text().as_str()), (CommandExit::Code(0), "well\n"));
    });
}

/// Whether a process waits to be reaped, or has been.
fn is_dead(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", raw(process)));
    status.is_err() || status.is_ok_and(|status| status.contains("State:\tZ"))
}

fn it_leaves() {
    let mark = block_on(async {
        let marked = Marked::new();
        marked.run("true").await;
        marked.ready().await;
        marked.scene.mark.clone()
    });
    eventually("its end", || !is_running(&mark));
}

fn it_mounts_ahead() {
    block_on(async {
        let marked = Marked::new();
        marked.run("true").await;
        let (_, ahead) = marked.ready_with_mounts().await;
        let used = marked.run("cat /proc/self/mountinfo").await.stdout.text();
        let tools = marked.scene.tools.to_str().unwrap();
        for point in ["/usr", "/etc", "/tmp", tools, &format!("{tools}/keys")] {
            let number = mount_at(&ahead, &format!("/new{point}"));
            assert!(number.is_some(), "{point} is not mounted ahead: {ahead}");
            assert_eq!(mount_at(&used, point), number, "{point}");
        }
        let root = marked.scene.root.to_str().unwrap();
        assert_eq!(mount_at(&ahead, &format!("/new{root}")), None, "what can be written is mounted last");
        assert!(mount_at(&used, root).is_some());
    });
}

/// Changes something after a keeper has prepared for a command like this one; what the command says then.
fn said_after(
    ask: impl Fn(&mut CommandSpec, &Scene),
    change: impl FnOnce(&Scene),
    line: impl FnOnce(&Scene) -> String,
) -> String {
    block_on(async {
        let marked = Marked::new();
        let mut spec = marked.scene.spec("true");
        ask(&mut spec, &marked.scene);
        marked.run_as(spec.clone()).await;
        marked.ready().await;
        change(&marked.scene);
        spec.line = line(&marked.scene);
        let end = marked.run_as(spec).await;
        assert_eq!(end.sandbox, SandboxLevel::Isolated);
        format!("{}{}", end.stdout.text(), end.stderr.text())
    })
}

fn it_hides_a_directory_anew() {
    let said = said_after(
        |_, _| {},
        |scene| {
            std::fs::rename(scene.tools.join("keys"), scene.outside.join("keys")).unwrap();
            std::fs::create_dir(scene.tools.join("keys")).unwrap();
            std::fs::write(scene.tools.join("keys/id"), SECRET).unwrap();
        },
        |scene| format!("{0}/tool; cat {0}/keys/id", scene.tools.display()),
    );
    assert!(said.starts_with("a tool\n") && !said.contains(SECRET), "{said}");
}

fn it_hides_a_file_anew() {
    let said = said_after(
        |spec, scene| {
            // As programs replace files: nobody sees half of one.
            std::fs::write(scene.tools.join("next"), SECRET).unwrap();
            std::fs::rename(scene.tools.join("next"), scene.tools.join("token")).unwrap();
            spec.confinement.hidden.push(scene.tools.join("token"));
        },
        |scene| {
            std::fs::write(scene.tools.join("next"), SECRET).unwrap();
            std::fs::rename(scene.tools.join("next"), scene.tools.join("token")).unwrap();
        },
        |scene| format!("{0}/tool; cat {0}/token", scene.tools.display()),
    );
    assert!(said.starts_with("a tool\n") && !said.contains(SECRET), "{said}");
}

fn it_hides_what_is_new() {
    let said = said_after(
        |spec, scene| spec.confinement.hidden.push(scene.tools.join("token")),
        |scene| std::fs::write(scene.tools.join("token"), SECRET).unwrap(),
        |scene| format!("{0}/tool; cat {0}/token", scene.tools.display()),
    );
    assert!(said.starts_with("a tool\n") && !said.contains(SECRET), "{said}");
}

fn it_shows_anew() {
    let said = said_after(
        |_, _| {},
        |scene| {
            std::fs::rename(&scene.tools, scene.outside.join("tools")).unwrap();
            std::fs::create_dir_all(scene.tools.join("keys")).unwrap();
            std::fs::write(scene.tools.join("tool"), "another\n").unwrap();
        },
        |scene| format!("cat {}/tool", scene.tools.display()),
    );
    assert_eq!(said, "another\n");
}

fn it_forgets_grants() {
    block_on(async {
        let marked = Marked::new();
        marked.run("true").await;
        marked.ready().await;
        let mut spec = marked.scene.spec(&format!("ls {}", marked.scene.tools.display()));
        spec.confinement.readable.clear();
        let end = marked.run_as(spec).await;
        assert_eq!(end.sandbox, SandboxLevel::Isolated);
        assert_eq!(end.stdout.text(), "", "{}", end.stderr.text());
    });
}

fn it_forgets_sockets() {
    let line = "python3 -c 'import socket; socket.socket(socket.AF_UNIX); print(\"opened\")'";
    for (before, after, expected) in [(true, false, ""), (false, true, "opened\n")] {
        block_on(async {
            let marked = Marked::new();
            let mut spec = marked.scene.spec("true");
            spec.confinement.unix_sockets = before;
            marked.run_as(spec.clone()).await;
            marked.ready().await;
            spec.line = line.to_owned();
            spec.confinement.unix_sockets = after;
            let end = marked.run_as(spec).await;
            assert_eq!(end.sandbox, SandboxLevel::Isolated);
            assert_eq!(end.stdout.text(), expected, "{}", end.stderr.text());
        });
    }
}
