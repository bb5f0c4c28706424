//! What a command is given, what is told of it and how it ends. Without a sandbox, except where it is about one.

use std::io::Read;
use std::path::Path;

use libtest_mimic::Trial;
use loggia_domain::{CommandExit, OutputStream, RunError, Runner, SandboxLevel};
use loggia_runner::CommandRunner;
use loggia_wire::child::Road;

use crate::support::{Scene, block_on, eventually, keeper, listen, roads, run, run_free, runner, settings};

pub(crate) fn trials() -> Vec<Trial> {
    macro_rules! list {
        ($($name:path),* $(,)?) => {
            vec![$(Trial::test(stringify!($name), || { $name(); Ok(()) })),*]
        };
    }
    list![
        crate::roads::a_sandbox_works_here,
        both_streams_and_the_status_are_told,
        a_signal_is_told_from_a_status,
        output_is_told_as_it_comes_in_whole_characters,
        bytes_that_are_no_characters_are_replaced,
        of_a_long_output_the_beginning_and_the_end_are_kept,
        a_flood_is_read_to_its_end,
        the_temporary_directory_is_private_and_removed,
        the_temporary_directory_is_removed_when_the_future_is_dropped,
        a_directory_outside_the_root_is_refused,
        the_directory_is_where_the_command_runs,
        the_environment_is_a_short_list,
        variables_that_load_code_are_refused,
        standard_input_is_empty_and_no_pipe,
        files_we_inherited_are_not_handed_on,
        core_dumps_are_off_and_memory_can_be_limited,
        a_required_sandbox_that_is_missing_is_an_error,
        a_sandbox_that_is_not_required_may_be_missing,
        the_next_road_is_taken_when_one_is_blocked,
        sealing_what_cannot_be_sealed_is_an_error_when_required,
        stand_ins_for_missing_paths_are_removed,
        memory_segments_of_others_are_out_of_reach,
        a_shell_that_cannot_be_started_is_an_error,
    ]
}

fn both_streams_and_the_status_are_told() {
    let end = run_free(&Scene::new(), "echo out; echo err >&2; exit 7");
    assert_eq!((end.exit, end.sandbox), (CommandExit::Code(7), SandboxLevel::None));
    assert_eq!((end.stdout.text().as_str(), end.stderr.text().as_str()), ("out\n", "err\n"));
}

fn a_signal_is_told_from_a_status() {
    let scene = Scene::new();
    assert_eq!(run_free(&scene, "kill -TERM $$").exit, CommandExit::Signal(15));
    for (name, road, _) in roads() {
        let end = run(&[road], scene.spec("kill -TERM $$")).unwrap();
        assert_eq!(end.exit, CommandExit::Signal(15), "on the road of {name}");
    }
}

fn output_is_told_as_it_comes_in_whole_characters() {
    let scene = Scene::new();
    let (pieces, sink) = listen();
    // The second half of the character comes only when the first words have been heard.
    let spec =
        scene.spec(r"printf 'first \342\202'; until test -e go; do sleep 0.01; done; printf '\254 last'");
    let root = scene.root.clone();
    let heard = pieces.clone();
    let end = block_on(async move {
        let running = tokio::spawn(runner(&[]).run(spec, sink));
        tokio::task::spawn_blocking(move || {
            eventually("the first words", || !heard.lock().unwrap().is_empty());
            std::fs::write(root.join("go"), "").unwrap();
        })
        .await
        .unwrap();
        running.await.unwrap().unwrap()
    });
    assert_eq!(end.stdout.text(), "first € last");
    let pieces: Vec<String> = pieces.lock().unwrap().iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(pieces[0], "first ");
    assert_eq!(pieces.concat(), "first € last");
}

fn bytes_that_are_no_characters_are_replaced() {
    let end = run_free(&Scene::new(), r"printf 'a\377b\342\202'");
    assert_eq!(end.stdout.text(), "a\u{fffd}b\u{fffd}");
}

fn of_a_long_output_the_beginning_and_the_end_are_kept() {
    let scene = Scene::new();
    let mut spec = scene.spec("seq 1 100000; echo short >&2");
    spec.output_bytes = 20;
    let end = run(&[], spec).unwrap();
    assert_eq!((end.stdout.head.as_str(), end.stdout.tail.as_str()), ("1\n2\n3\n4\n5\n", "99\n100000\n"));
    assert_eq!(end.stdout.left_out, 588_895 - 20);
    assert_eq!(end.stderr.text(), "short\n");
}

fn a_flood_is_read_to_its_end() {
    let scene = Scene::new();
    let (pieces, sink) = listen();
    let line = "head -c 8000000 /dev/zero | tr '\\0' x; head -c 8000000 /dev/zero | tr '\\0' y >&2";
    let end = block_on(runner(&[]).run(scene.spec(line), sink)).unwrap();
    assert_eq!(end.stdout.left_out + (end.stdout.head.len() + end.stdout.tail.len()) as u64, 8_000_000);
    let told = |wanted| {
        let pieces = pieces.lock().unwrap();
        pieces.iter().filter(|(stream, _)| *stream == wanted).map(|(_, text)| text.len()).sum::<usize>()
    };
    assert_eq!((told(OutputStream::Stdout), told(OutputStream::Stderr)), (8_000_000, 8_000_000));
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn the_temporary_directory_is_private_and_removed() {
    let scene = Scene::new();
    let line = "echo x > \"$TMPDIR/file\"; mkdir -p \"$HOME/closed\"; echo x > \"$HOME/closed/file\"; \
                chmod 500 \"$HOME/closed\"; stat -c %a \"$TMPDIR\"; echo \"$TMPDIR\"; echo \"$HOME\"";
    let end = run_free(&scene, line);
    let text = end.stdout.text();
    let [mode, temporary, home] = lines(&text)[..] else { panic!("{end:?}") };
    assert_eq!((mode, home), ("700", format!("{temporary}/home").as_str()));
    assert!(!Path::new(temporary).exists(), "it is gone when the command is");
}

fn the_temporary_directory_is_removed_when_the_future_is_dropped() {
    let scene = Scene::new();
    let (pieces, sink) = listen();
    let spec = scene.spec("echo \"$TMPDIR\"; sleep 600");
    block_on(async {
        let running = tokio::spawn(runner(&[]).run(spec, sink));
        tokio::task::spawn_blocking(move || {
            eventually("the first words", || !pieces.lock().unwrap().is_empty());
            running.abort();
            let temporary = pieces.lock().unwrap()[0].1.trim().to_owned();
            eventually("its removal", || !Path::new(&temporary).exists());
        })
        .await
        .unwrap();
    });
}

fn a_directory_outside_the_root_is_refused() {
    let scene = Scene::new();
    std::os::unix::fs::symlink(&scene.outside, scene.root.join("link")).unwrap();
    let refused = [
        scene.outside.clone(),
        scene.root.join("link"),
        scene.root.join("../outside"),
        scene.root.join("own"),
        scene.root.join("missing"),
        "root".into(),
    ];
    for directory in refused {
        let mut spec = scene.spec("true");
        spec.directory.clone_from(&directory);
        assert_eq!(run(&[], spec), Err(RunError::BadDirectory(directory)));
    }
}

fn the_directory_is_where_the_command_runs() {
    let scene = Scene::new();
    std::fs::create_dir(scene.root.join("deep")).unwrap();
    std::os::unix::fs::symlink("deep", scene.root.join("link")).unwrap();
    let everywhere = roads().into_iter().map(|(_, road, _)| vec![road]).chain([vec![]]);
    for road in everywhere {
        let mut spec = scene.spec("pwd -P");
        spec.directory = scene.root.join("link");
        let end = run(&road, spec).unwrap();
        assert_eq!(end.stdout.text().trim(), scene.root.join("deep").to_str().unwrap());
    }
}

fn the_environment_is_a_short_list() {
    let scene = Scene::new();
    let mut settings = settings(&[]);
    settings.environment = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/somebody"),
        ("LC_ALL", "C"),
        ("GITHUB_TOKEN", "secret"),
        ("AWS_SECRET", "secret"),
        ("LD_PRELOAD", "nothing.so"),
        ("NAMED_KEY", "named"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    let mut spec = scene.spec("env | sed 's/=.*command-.*/=its own/' | sort");
    spec.environment = vec![("CI".to_owned(), "1".to_owned())];
    spec.confinement.inherited = vec!["NAMED_KEY".to_owned()];
    let end = block_on(CommandRunner::new(keeper(), settings).run(spec, Box::new(|_, _| {}))).unwrap();
    let text = end.stdout.text();
    let found: Vec<&str> = lines(&text)
        .into_iter()
        .filter(|line| !line.starts_with("PWD=") && !line.starts_with("_="))
        .collect();
    assert_eq!(
        found,
        [
            "CI=1",
            "HOME=its own",
            "LC_ALL=C",
            "NAMED_KEY=named",
            "PATH=/usr/bin:/bin",
            "TERM=dumb",
            "TMPDIR=its own"
        ]
        .iter()
        .copied()
        .chain(found.iter().copied().filter(|line| line.starts_with("SHLVL=")))
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
}

fn variables_that_load_code_are_refused() {
    let scene = Scene::new();
    let mut spec = scene.spec("true");
    spec.environment = vec![("LD_PRELOAD".to_owned(), "./evil.so".to_owned())];
    let error = run(&[], spec).unwrap_err();
    assert!(matches!(&error, RunError::NotStarted(reason) if reason.contains("LD_PRELOAD")), "{error}");
}

fn standard_input_is_empty_and_no_pipe() {
    let scene = Scene::new();
    let everywhere = roads().into_iter().map(|(_, road, _)| vec![road]).chain([vec![]]);
    for road in everywhere {
        let end = run(&road, scene.spec("cat; test -p /dev/stdin || test -t 0 || echo neither")).unwrap();
        assert_eq!(end.stdout.text(), "neither\n", "{end:?}");
    }
}

fn files_we_inherited_are_not_handed_on() {
    let scene = Scene::new();
    // What somebody forgot to close for us.
    let mut forgotten = std::fs::File::open(scene.outside.join("victim")).unwrap();
    rustix::io::fcntl_setfd(&forgotten, rustix::io::FdFlags::empty()).unwrap();
    let everywhere = roads().into_iter().map(|(_, road, _)| vec![road]).chain([vec![]]);
    for road in everywhere {
        let end = run(&road, scene.spec("ls /proc/self/fd | tr '\\n' ' '")).unwrap();
        // The last is the listing itself.
        assert_eq!(end.stdout.text(), "0 1 2 3 ", "{end:?}");
    }
    forgotten.read_to_string(&mut String::new()).unwrap();
}

fn core_dumps_are_off_and_memory_can_be_limited() {
    let scene = Scene::new();
    let mut settings = settings(&[]);
    settings.limits.memory = Some(512 * 1024 * 1024);
    let spec = scene.spec("ulimit -c; ulimit -v; cat /proc/self/oom_score_adj");
    let end = block_on(CommandRunner::new(keeper(), settings).run(spec, Box::new(|_, _| {}))).unwrap();
    let text = end.stdout.text();
    let [core, memory, score] = lines(&text)[..] else { panic!("{end:?}") };
    assert_eq!((core, memory), ("0", "524288"));
    assert!(score.parse::<i32>().unwrap() >= 300, "{score}");
}

fn a_required_sandbox_that_is_missing_is_an_error() {
    let scene = Scene::new();
    let mut spec = scene.spec("echo x > run");
    spec.confinement.required = true;
    for roads in
        [vec![], vec![Road::Bubblewrap("/no/such/bwrap".into())], vec![Road::Bubblewrap("/bin/true".into())]]
    {
        let error = run(&roads, spec.clone()).unwrap_err();
        assert!(matches!(error, RunError::NoSandbox(_)), "{error}");
        assert!(!scene.root.join("run").exists(), "it must not have run");
    }
}

fn a_sandbox_that_is_not_required_may_be_missing() {
    let end = run(&[Road::Bubblewrap("/no/such/bwrap".into())], Scene::new().spec("echo x")).unwrap();
    assert_eq!((end.sandbox, end.stdout.text().as_str()), (SandboxLevel::None, "x\n"));
}

fn the_next_road_is_taken_when_one_is_blocked() {
    for (name, road, level) in roads() {
        let roads = [Road::Bubblewrap("/bin/true".into()), road];
        let end = run(&roads, Scene::new().spec("true")).unwrap();
        assert_eq!(end.sandbox, level, "after a blocked one the road of {name}");
    }
}

fn sealing_what_cannot_be_sealed_is_an_error_when_required() {
    for (name, road, _) in roads() {
        let scene = Scene::new();
        std::fs::create_dir(scene.root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", scene.root.join(".loggia")).unwrap();
        let mut spec = scene.spec("true");
        spec.confinement.read_only = vec![scene.root.join(".loggia")];
        assert_eq!(
            run(std::slice::from_ref(&road), spec.clone()).unwrap().sandbox,
            SandboxLevel::Partial,
            "{name}"
        );
        spec.confinement.required = true;
        let error = run(&[road], spec).unwrap_err();
        assert!(matches!(&error, RunError::NoSandbox(reason) if reason.contains(".loggia")), "{error}");
    }
}

fn stand_ins_for_missing_paths_are_removed() {
    for (name, road, _) in roads() {
        let scene = Scene::new();
        let mut spec = scene.spec("ls -A");
        spec.confinement.read_only = vec![scene.root.join(".loggia/deep"), ".mehrhof".into()];
        run(&[road], spec).unwrap();
        assert!(!scene.root.join(".loggia").exists() && !scene.root.join(".mehrhof").exists(), "{name}");
    }
}

fn memory_segments_of_others_are_out_of_reach() {
    let scene = Scene::new();
    let segment = "import ctypes, sys; libc = ctypes.CDLL(None); libc.shmat.restype = ctypes.c_void_p";
    let made = run_free(&scene, &format!("python3 -c '{segment}; print(libc.shmget(0, 4096, 0o1600))'"));
    let made = made.stdout.text();
    let number = made.trim();
    let attach =
        format!("python3 -c '{segment}; print(libc.shmat({number}, 0, 0) != ctypes.c_void_p(-1).value)'");
    let attached: Vec<String> = roads()
        .into_iter()
        .map(|(_, road, _)| vec![road])
        .chain([vec![]])
        .map(|road| run(&road, scene.spec(&attach)).unwrap().stdout.text())
        .collect();
    run_free(&scene, &format!("python3 -c '{segment}; libc.shmctl({number}, 0, 0)'"));
    let (free, held) = attached.split_last().unwrap();
    assert_eq!(free, "True\n", "it can be had without a sandbox");
    assert!(held.iter().all(|attached| attached == "False\n"), "{held:?}");
}

fn a_shell_that_cannot_be_started_is_an_error() {
    let scene = Scene::new();
    let error = run(&[], scene.spec("echo a\0b")).unwrap_err();
    assert!(matches!(error, RunError::NotStarted(_)), "{error}");
    let nobody =
        CommandRunner::new(loggia_wire::child::Keeper::new("/no/such/keeper", ["keep"]), settings(&[]));
    let error = block_on(nobody.run(scene.spec("true"), Box::new(|_, _| {}))).unwrap_err();
    assert!(matches!(&error, RunError::NotStarted(reason) if reason.contains("No such file")), "{error}");
}
