//! Nothing a command started is left: not after it, not when nobody wants it, not when we are killed.

use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use loggia_domain::{CommandEnd, CommandExit, CommandSpec, RunError, Runner};
use loggia_wire::child::Road;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    PATIENCE, Scene, block_on, eventually, is_running, listen, roads, run, run_free, runner,
};

/// A test, given a road and its name.
type OnARoad = fn(&str, &[Road]);

pub(crate) fn trials() -> Vec<Trial> {
    let alone: [(&str, fn()); 2] = [
        ("the_output_before_the_limit_is_kept", the_output_before_the_limit_is_kept),
        ("background_jobs_end_with_the_command", background_jobs_end_with_the_command),
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (name, test) in alone {
        trials.push(Trial::test(name, move || {
            test();
            Ok(())
        }));
    }
    let on_every_road: [(&str, OnARoad); 4] = [
        ("a_command_that_takes_too_long_is_killed_with_its_family", out_of_time),
        ("dropping_the_future_kills_grandchildren_in_their_own_session", unwanted),
        ("nothing_survives_the_daemons_kill_9", killed_daemon),
        ("a_killed_keeper_takes_its_command_along", killed_keeper),
    ];
    let every_road = roads().into_iter().map(|(name, road, _)| (name, vec![road])).chain([("none", vec![])]);
    for (road_name, road) in every_road {
        for (name, test) in on_every_road {
            let road = road.clone();
            trials.push(Trial::test(format!("{name}_with_{road_name}"), move || {
                test(road_name, &road);
                Ok(())
            }));
        }
    }
    trials
}

/// A family that wants to stay: a child in the group, one in a session of its own, one whose parent has gone.
fn family(mark: &str) -> String {
    format!(
        "trap '' TERM HUP INT; sh -c 'sleep 601; : {mark}' & setsid sh -c 'sleep 602; : {mark}' & \
         (setsid sh -c 'sleep 603; : {mark}' & ) ; echo ready"
    )
}

/// Runs a command that never ends until it had the time to say something; a busy machine may need more than one go.
fn run_out_of_time(roads: &[Road], spec: &CommandSpec) -> CommandEnd {
    let mut spec = spec.clone();
    spec.time_limit = Duration::from_millis(300);
    loop {
        let end = run(roads, spec.clone()).unwrap();
        assert_eq!(end.exit, CommandExit::TimedOut);
        if !end.stdout.text().is_empty() {
            return end;
        }
        spec.time_limit *= 2;
        assert!(spec.time_limit < PATIENCE, "it never says anything: {end:?}");
    }
}

fn out_of_time(_: &str, road: &[Road]) {
    let scene = Scene::new();
    let end = run_out_of_time(road, &scene.spec(&format!("{}; sleep 600", family(&scene.mark))));
    assert_eq!(end.stdout.text(), "ready\n");
    eventually("the end of the family", || !is_running(&format!(": {}", scene.mark)));
}

fn the_output_before_the_limit_is_kept() {
    let end = run_out_of_time(&[], &Scene::new().spec("echo before; sleep 600"));
    assert_eq!(end.stdout.text(), "before\n");
    assert!(end.took < PATIENCE);
}

fn unwanted(_: &str, road: &[Road]) {
    let scene = Scene::new();
    let mark = format!(": {}", scene.mark);
    let (pieces, sink) = listen();
    let spec = scene.spec(&format!("{}; sleep 600", family(&scene.mark)));
    block_on(async {
        let running = tokio::spawn(runner(road).run(spec, sink));
        tokio::task::spawn_blocking(move || {
            eventually("the family's start", || !pieces.lock().unwrap().is_empty() && is_running(&mark));
            running.abort();
            eventually("the end of the family", || !is_running(&mark));
        })
        .await
        .unwrap();
    });
}

/// A daemon that runs one command and never leaves by itself.
pub(crate) fn be_daemon(road: &str, root: &str, line: &str) {
    let road = roads().into_iter().find(|(name, ..)| *name == road).map(|(_, road, _)| road);
    let spec = CommandSpec {
        line: line.to_owned(),
        directory: root.into(),
        root: root.into(),
        environment: Vec::new(),
        time_limit: PATIENCE,
        output_bytes: 1024,
        confinement: loggia_domain::Confinement::default(),
    };
    // Whatever comes of it, nobody is there to hear.
    let _ = run(road.as_slice(), spec);
}

#[expect(clippy::disallowed_methods, reason = "the daemon itself, to be killed")]
fn killed_daemon(name: &str, _: &[Road]) {
    let scene = Scene::new();
    // The daemon has the line among its own arguments, so the line must not hold the mark as it stands.
    let (first, second) = scene.mark.split_at(scene.mark.len() / 2);
    let line = format!(
        "mark={first}\nmark=${{mark}}{second}\n{}; touch ready; sleep 600",
        family("$mark").replace('\'', "\"")
    );
    let mut daemon = Command::new(std::env::current_exe().unwrap())
        .args(["daemon", name, scene.root.to_str().unwrap(), &line])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mark = format!(": {}", scene.mark);
    eventually("the family's start", || scene.root.join("ready").exists() && is_running(&mark));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    eventually("the end of the family", || !is_running(&mark));
}

/// Bubblewrap stands between us and the keeper inside; without it the command goes on, and we can still end it.
fn killed_keeper(_: &str, road: &[Road]) {
    let scene = Scene::new();
    let mark = format!(": {}", scene.mark);
    let (pieces, sink) = listen();
    let spec = scene.spec(&format!("echo ready; sh -c 'sleep 600; {mark}'; true"));
    let is_wrapped = matches!(road, [Road::Bubblewrap(_)]);
    block_on(async {
        let running = tokio::spawn(runner(road).run(spec, sink));
        let going = mark.clone();
        tokio::task::spawn_blocking(move || {
            eventually("the start", || !pieces.lock().unwrap().is_empty() && is_running(&going));
            kill_process(keeper_of(&going), Signal::KILL).unwrap();
        })
        .await
        .unwrap();
        if is_wrapped {
            running.abort();
        } else {
            let end = running.await.unwrap();
            assert!(matches!(end, Err(RunError::Lost(_))), "{end:?}");
        }
        tokio::task::spawn_blocking(move || eventually("the end of the command", || !is_running(&mark)))
            .await
            .unwrap();
    });
}

/// Our own child among the ancestors of whoever has this in its arguments.
fn keeper_of(mark: &str) -> Pid {
    let own = i32::try_from(std::process::id()).unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let marked = entries.filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    });
    let mut ancestors = marked.filter_map(|entry| {
        let mut process: i32 = entry.file_name().to_str()?.parse().ok()?;
        loop {
            let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
            let parent = status.split("PPid:").nth(1)?.split_whitespace().next()?.parse().ok()?;
            match parent {
                0 => return None,
                parent if parent == own => return Pid::from_raw(process),
                parent => process = parent,
            }
        }
    });
    ancestors.next().unwrap()
}

fn background_jobs_end_with_the_command() {
    let scene = Scene::new();
    let end = run_free(&scene, &format!("sh -c 'sleep 600; : {}' & echo done", scene.mark));
    assert_eq!((end.exit, end.stdout.text().as_str()), (CommandExit::Code(0), "done\n"));
    eventually("the end of the job", || !is_running(&format!(": {}", scene.mark)));
}
