//! Honest work goes on in the sandbox: each on every road.

use libtest_mimic::Trial;
use loggia_domain::{CommandExit, Confinement};
use loggia_wire::child::Road;

use crate::support::{Listeners, Scene, roads, run};

/// Something a command must be able to do: what it runs and what it then says.
struct Work {
    name: &'static str,
    line: &'static str,
    says: &'static str,
    asked: fn(&Scene, &mut Confinement),
    /// Works only in a root of its own.
    own_root: bool,
}

const fn work(name: &'static str, line: &'static str, says: &'static str) -> Work {
    Work { name, line, says, asked: |_, _| {}, own_root: false }
}

impl Work {
    const fn asking(self, asked: fn(&Scene, &mut Confinement)) -> Self {
        Self { asked, ..self }
    }

    const fn own_root(self) -> Self {
        Self { own_root: true, ..self }
    }
}

const ALL: &[Work] = &[
    work(
        "pipes_and_background_jobs",
        "(until test -e go; do sleep 0.01; done; echo late) & seq 3 | tail -1; touch go; wait",
        "3\nlate\n",
    ),
    work(
        "files_in_the_root",
        "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && ln d e && ln -s d f && rm d && cat e",
        "x\n",
    ),
    work(
        "temporary_files",
        "f=$(mktemp) && echo x > \"$f\" && cat \"$f\" && cd && echo y > z && cat z",
        "x\ny\n",
    ),
    work("here_documents", "cat <<END\nx\nEND", "x\n"),
    work("scripts_of_its_own", "printf '#!/bin/sh\\necho script\\n' > s && chmod +x s && ./s", "script\n"),
    work("tools_in_readable_directories", "\"$TOOLS\"/tool", "a tool\n"),
    work(
        "the_usual_devices",
        "echo x > /dev/null && head -c 4 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c && \
         echo e > /dev/stderr && echo o > /dev/stdout",
        "4\n4\no\n",
    ),
    work(
        "ones_own_process",
        "cat /proc/self/comm && test -r /proc/self/maps && test -r /proc/cpuinfo && \
         test -r /proc/meminfo && echo yes",
        "cat\nyes\n",
    ),
    work("ones_own_children", "sleep 600 & kill $! && echo killed", "killed\n"),
    work(
        "python",
        "python3 -c 'import subprocess; said = subprocess.check_output([\"echo\", \"x\"], text=True); \
         open(\"p\", \"w\").write(said); print(open(\"p\").read(), end=\"\")'",
        "x\n",
    ),
    work(
        "threads",
        "python3 -c 'import threading; t = threading.Thread(target=lambda: print(\"thread\")); \
         t.start(); t.join()'",
        "thread\n",
    ),
    work(
        "pairs_of_sockets",
        "python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"x\"); print(b.recv(1).decode())'",
        "x\n",
    ),
    work(
        "a_repository",
        "rm -rf .git && git init -q . && git config user.name me && git config user.email me@example.com && \
         git add own && git commit -q -m first && git log --format=%s && \
         git status --short --untracked-files=no",
        "first\n",
    ),
    work(
        "a_repository_with_sealed_parts",
        "git config user.name x 2> /dev/null; git add own && git commit -q -m second && \
         git log -1 --format=%s; git branch other && git stash list",
        "second\n",
    )
    .asking(|scene, asked| {
        let git =
            "rm -rf .git && git init -q . && git config user.name me && git config user.email me@example.com";
        assert_eq!(run(&[], scene.spec(git)).unwrap().exit, CommandExit::Code(0));
        asked.read_only = [".git/hooks", ".git/config", ".loggia"].map(|path| scene.root.join(path)).into();
    }),
    work("what_the_policy_makes_writable", "echo x > \"$OUTSIDE/new\" && cat \"$OUTSIDE/new\"", "x\n")
        .asking(|scene, asked| asked.writable = vec![scene.outside.clone()]),
    work(
        "the_network_where_it_is_allowed",
        "python3 -c 'import os, socket; where = (\"127.0.0.1\", int(os.environ[\"TCP\"])); \
         socket.create_connection(where); print(\"connected\")'",
        "connected\n",
    )
    .asking(|_, asked| asked.network = true),
    work(
        "unix_sockets_where_they_are_allowed",
        "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"here\"); s.listen(); \
         socket.socket(socket.AF_UNIX).connect(\"here\"); print(\"connected\")'",
        "connected\n",
    )
    .asking(|_, asked| asked.unix_sockets = true),
    work(
        "the_common_temporary_directory",
        "echo x > /tmp/file && cat /tmp/file && echo y > /dev/shm/file && cat /dev/shm/file",
        "x\ny\n",
    )
    .own_root(),
    work("semaphores", "python3 -c 'import multiprocessing as m; m.Lock(); print(\"locked\")'", "locked\n")
        .own_root(),
    work(
        "terminals",
        "python3 -c 'import os; a, b = os.openpty(); os.write(a, b\"x\\n\"); print(os.isatty(b))'",
        "True\n",
    )
    .own_root(),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, road, _) in roads() {
        for work in ALL.iter().filter(|work| !(work.own_root && road == Road::Landlock)) {
            let road = road.clone();
            trials.push(Trial::test(format!("{}_work_with_{name}", work.name), move || {
                check(work, road);
                Ok(())
            }));
        }
    }
    trials
}

fn check(work: &Work, road: Road) {
    let scene = Scene::new();
    let listeners = Listeners::open(&scene);
    let mut spec = scene.spec(work.line);
    (work.asked)(&scene, &mut spec.confinement);
    spec.environment = vec![
        ("TOOLS".to_owned(), scene.tools.to_str().unwrap().to_owned()),
        ("OUTSIDE".to_owned(), scene.outside.to_str().unwrap().to_owned()),
        ("TCP".to_owned(), listeners.tcp.local_addr().unwrap().port().to_string()),
    ];
    let end = run(&[road], spec).unwrap();
    assert_eq!(end.exit, CommandExit::Code(0), "{end:?}");
    assert_eq!(end.stdout.text(), work.says, "{end:?}");
}
