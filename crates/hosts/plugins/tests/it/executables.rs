//! What is started, and what is refused.

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use loggia_domain::{GuestError, TaskProvider};
use loggia_plugins::{Executable, GuestProvider, Invocation, Scope, resolve};

use crate::support::{Home, One, manifest};

fn command(words: &[&str]) -> Executable {
    Executable::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

fn program(path: &Path) {
    std::fs::write(path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

struct Scene {
    _root: tempfile::TempDir,
    plugin: std::path::PathBuf,
    bin: std::path::PathBuf,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let (plugin, bin) = (real.join("plugin"), real.join("bin"));
        for directory in [&plugin, &bin, &plugin.join("bin")] {
            std::fs::create_dir(directory).unwrap();
        }
        for file in
            [bin.join("python9"), plugin.join("bin/run"), plugin.join("python9"), real.join("outside")]
        {
            program(&file);
        }
        std::fs::write(plugin.join("x.py"), "").unwrap();
        symlink("../outside", plugin.join("link")).unwrap();
        Self { _root: root, plugin, bin }
    }

    fn resolve(&self, executable: &Executable) -> Result<Invocation, String> {
        let search = format!("relative:{}", self.bin.display());
        resolve(executable, &self.plugin, OsStr::new(&search)).map_err(|error| error.to_string())
    }
}

#[test]
fn a_bare_name_is_looked_up_in_path_and_its_script_in_the_directory() {
    let scene = Scene::new();
    let found = scene.resolve(&command(&["python9", "./x.py", "--flag", "x.py"])).unwrap();
    assert_eq!(found.program, scene.bin.join("python9"), "not the one in the plugin's directory");
    assert_eq!(found.arguments, [scene.plugin.join("x.py").as_os_str(), "--flag".as_ref(), "x.py".as_ref()]);
    let found = scene.resolve(&command(&["python9", "-m", "thing"])).unwrap();
    assert_eq!(found.arguments, ["-m", "thing"], "what is no file of the plugin's stays as it is");
}

#[test]
fn a_relative_path_is_in_the_plugins_directory_and_an_absolute_one_is_not_changed() {
    let scene = Scene::new();
    for executable in [command(&["./bin/run"]), command(&["bin/run"]), Executable::Path("bin/run".to_owned())]
    {
        assert_eq!(scene.resolve(&executable).unwrap().program, scene.plugin.join("bin/run"));
    }
    let absolute = scene.bin.join("python9").display().to_string();
    assert_eq!(scene.resolve(&Executable::Path(absolute.clone())).unwrap().program, Path::new(&absolute));
    assert_eq!(
        scene.resolve(&Executable::Path("python9".to_owned())).unwrap().program,
        scene.plugin.join("python9")
    );
}

#[test]
fn whatever_leads_out_of_the_plugins_directory_is_refused() {
    let scene = Scene::new();
    for (executable, path) in [
        (command(&["../outside"]), "../outside"),
        (command(&["./link"]), "./link"),
        (command(&["bin/../../outside"]), "bin/../../outside"),
        (command(&["python9", "../outside"]), "../outside"),
        (command(&["python9", "link"]), "link"),
        (command(&["python9", "-u", "../outside"]), "../outside"),
        (command(&["python9", "-u", "-B", "bin/../../outside"]), "bin/../../outside"),
        (command(&["python9", "x.py", "link"]), "link"),
        (command(&["python9", "--import=../outside"]), "../outside"),
        (Executable::Path("../outside".to_owned()), "../outside"),
    ] {
        let words = scene.resolve(&executable).unwrap_err();
        assert_eq!(words, format!("`{path}` leads out of the plugin's directory"));
    }
}

#[test]
fn what_is_not_there_or_cannot_run_is_named() {
    let scene = Scene::new();
    assert_eq!(
        scene.resolve(&command(&["python-none"])).unwrap_err(),
        "`python-none` is in no directory of PATH; is it installed?"
    );
    let words = scene.resolve(&command(&["./none"])).unwrap_err();
    assert!(words.ends_with("none` cannot be found: No such file or directory (os error 2)"), "{words}");
    let words = scene.resolve(&Executable::Path("x.py".to_owned())).unwrap_err();
    assert!(words.ends_with("x.py` is not an executable file"), "{words}");
    scene.resolve(&Executable::Path("bin".to_owned())).unwrap_err();
}

#[tokio::test]
async fn an_executable_that_is_not_there_fails_its_plugin_alone() {
    let mut home = Home::new();
    home.add("provider", "well", &[]);
    let text = manifest("provider", "lost", &[]).replace("python3, ./plugin.py", "./nowhere");
    home.enabled.push("lost".to_owned());
    home.add_raw(Scope::Global, "lost", &text);
    let host = home.host();
    let of = |name: &str| GuestProvider::of(host.get(name).unwrap().clone()).unwrap();
    let error = of("lost").resolve("jira:PROJ-1".to_owned()).await.unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, GuestError::Gone(_)), "{words}");
    assert!(words.starts_with("plugin `lost`, `provider.parse`: it cannot be started: `/"), "{words}");
    assert_eq!(of("well").resolve("jira:PROJ-1".to_owned()).await.unwrap(), "PROJ-1");
    host.stop().await;
}

#[tokio::test]
async fn a_program_outside_the_plugins_directory_is_never_started() {
    for words in ["python3, ../../evil.py", "python3, ./link.py", "../../evil.py"] {
        let mut home = Home::new();
        home.enabled.push("sly".to_owned());
        let text = manifest("provider", "sly", &[]).replace("python3, ./plugin.py", words);
        let directory = home.add_raw(Scope::Global, "sly", &text);
        let evil = directory.join("../../evil.py");
        std::fs::write(&evil, "#!/usr/bin/env python3\nopen('was-here', 'w')\n").unwrap();
        std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
        symlink("../../evil.py", directory.join("link.py")).unwrap();
        let host = home.host();
        let provider = GuestProvider::of(host.get("sly").unwrap().clone()).unwrap();
        let error = provider.fetch("PROJ-1".to_owned()).await.unwrap_err();
        let path = words.rsplit(' ').next().unwrap();
        let expected = format!(
            "plugin `sly`, `provider.fetch`: it cannot be started: `{path}` leads out of the plugin's directory"
        );
        assert_eq!(error, GuestError::Gone(expected));
        assert!(!directory.join("was-here").exists());
        host.stop().await;
    }
}

#[tokio::test]
async fn a_file_that_is_no_program_is_told_so() {
    let home = Home::new();
    let text = manifest("agent", "odd", &[]).replace("command: [python3, ./plugin.py]", "path: ./plugin.bin");
    let directory = home.add_raw(Scope::Global, "odd", &text);
    std::fs::write(directory.join("plugin.bin"), [0; 64]).unwrap();
    std::fs::set_permissions(directory.join("plugin.bin"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = home.host().probe("odd").await.unwrap().unwrap_err().to_string();
    assert!(error.starts_with("plugin `odd`, `ping`: it cannot be started: cannot start `/"), "{error}");
}

#[tokio::test]
async fn a_plugin_runs_in_its_directory_with_the_environment_it_is_given() {
    let one = One::within("provider", &[], |home| {
        let text = manifest("provider", "one", &[]) + "env:\n  PLUGIN_TOKEN: {default: usual}\n";
        home.add_raw(Scope::Global, "one", &text);
    });
    one.plugin.start().await.unwrap();
    let directory = one.home.of("one").canonicalize().unwrap().display().to_string();
    let pid = one.plugin.sketch().pid.unwrap();
    assert_eq!(one.lines("starts.log"), [format!("{pid} {directory} usual")]);
    one.host.stop().await;

    let one = One::within("provider", &[], |home| {
        let text = manifest("provider", "one", &[]) + "env:\n  PLUGIN_TOKEN: {default: usual}\n";
        home.add_raw(Scope::Global, "one", &text);
        home.environment.push(("PLUGIN_TOKEN".into(), "secret".into()));
    });
    one.plugin.start().await.unwrap();
    assert!(one.lines("starts.log")[0].ends_with(" secret"), "what is set is not replaced by a default");
    one.host.stop().await;
}
