//! After any sequence of edits, an index that was kept up to date answers exactly as one that is built anew.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    CodeContext, CodeFinding, CodeIndex, CodeQuery, CodeQuestion, CodeReference, IndexBuild, PastChange,
    QueryKind, ReferenceQuery,
};
use loggia_index::{FileIndex, IndexSettings};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{House, phrase, regex, settings, skipped, symbols, text};

/// How many sequences, unless the environment asks for more.
const CASES: u32 = 12;

const PATHS: [&str; 9] = [
    "a.rs",
    "b.rs",
    "src/a.rs",
    "src/A.rs",
    "src/deep/c.py",
    "src/deep/d.go",
    "made/e.rs",
    "notes.md",
    "data.bin",
];

const TEXTS: [&str; 8] = [
    "/// Finds the orchard.\npub fn orchard(meadow: u32) -> u32 { brook(meadow) }\n",
    "pub struct Meadow { orchard: u8 }\nimpl Meadow { fn brook(&self) { orchard(1); } }\n",
    "# The brook\ndef brook(orchard):\n    \"\"\"Runs by the orchard.\"\"\"\n    return orchard.meadow()\n",
    "package p\nfunc Orchard() { brook() }\ntype Meadow struct { Brook int }\n",
    "orchard orchard orchard meadow\n",
    "",
    "made\n*.bin\n",
    "zero\0byte",
];

#[derive(Debug, Clone)]
enum Step {
    Write {
        path: usize,
        text: usize,
    },
    Remove {
        path: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    RenameDirectory,
    Rules {
        text: usize,
    },
    /// The changes so far are told, by name.
    Tell,
    /// The directory is told, and not what is in it.
    TellDirectory,
    Refresh,
    /// The process ends and comes back.
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..PATHS.len(), 0..TEXTS.len()).prop_map(|(path, text)| Step::Write { path, text }),
        3 => (0..PATHS.len()).prop_map(|path| Step::Remove { path }),
        2 => (0..PATHS.len(), 0..PATHS.len()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => Just(Step::RenameDirectory),
        1 => (4..7_usize).prop_map(|text| Step::Rules { text }),
        6 => Just(Step::Tell),
        1 => Just(Step::TellDirectory),
        1 => Just(Step::Refresh),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..30)
}

#[test]
fn an_index_kept_up_to_date_answers_as_one_built_anew() {
    let cases =
        std::env::var("LOGGIA_PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let outcome = runner.run(&(steps(), any::<bool>()), |(steps, writes_at_once)| {
        runtime.block_on(run(&steps, writes_at_once));
        Ok(())
    });
    outcome.unwrap();
}

async fn run(steps: &[Step], writes_at_once: bool) {
    let house = House::with(&[("a.rs", TEXTS[0]), ("src/deep/c.py", TEXTS[2]), ("notes.md", TEXTS[4])]);
    let settle = if writes_at_once { Duration::ZERO } else { Duration::from_secs(3600) };
    let open = || FileIndex::open(IndexSettings { settle, ..house.settings() }).unwrap();
    let mut index = open();
    index.build(IndexBuild::Rebuild).await.unwrap();
    let mut untold: Vec<String> = Vec::new();
    for step in steps {
        match step {
            Step::Write { path, text } => {
                house.write(PATHS[*path], TEXTS[*text]);
                untold.push(PATHS[*path].to_owned());
            }
            Step::Remove { path } => {
                drop(std::fs::remove_file(house.path(PATHS[*path])));
                untold.push(PATHS[*path].to_owned());
            }
            Step::Rename { from, to } => {
                let to_path = house.path(PATHS[*to]);
                std::fs::create_dir_all(to_path.parent().unwrap()).unwrap();
                drop(std::fs::rename(house.path(PATHS[*from]), to_path));
                untold.extend([PATHS[*from].to_owned(), PATHS[*to].to_owned()]);
            }
            Step::RenameDirectory => {
                let (from, to) = match house.path("src").exists() {
                    true => ("src", "moved"),
                    false => ("moved", "src"),
                };
                drop(std::fs::rename(house.path(from), house.path(to)));
                untold.extend([from.to_owned(), to.to_owned()]);
            }
            Step::Rules { text } => {
                house.write(".gitignore", TEXTS[*text]);
                untold.push(".gitignore".to_owned());
            }
            Step::Tell => index.changed(std::mem::take(&mut untold)).await.unwrap(),
            Step::TellDirectory => index.changed(vec!["src".to_owned(), "made".to_owned()]).await.unwrap(),
            Step::Refresh => drop(index.build(IndexBuild::Refresh).await.unwrap()),
            Step::Reopen => {
                drop(index);
                index = open();
            }
        }
    }
    index.changed(untold).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let fresh = FileIndex::open(settings(house.files.path(), data.path())).unwrap();
    fresh.build(IndexBuild::Rebuild).await.unwrap();
    assert_eq!(answers(&index).await, answers(&fresh).await);
}

/// Everything that can be asked, with scores to the bit.
async fn answers(index: &FileIndex) -> Vec<String> {
    let status = index.status();
    let mut all = vec![
        format!("{} files, {} symbols, {} chunks", status.files, status.symbols, status.chunks),
        skipped(index),
    ];
    let queries =
        ["orchard", "Meadow::brook", "meadow brook", "the orchard and the brook", "notes", "src", "p"];
    for query in queries {
        all.push(findings(&index.search(text(query)).await.unwrap()));
        all.push(findings(&index.search(symbols(query)).await.unwrap()));
        all.push(findings(&index.search(CodeQuery::new(query, QueryKind::Fused, 10)).await.unwrap()));
        let context = CodeContext { recent: vec!["a.rs".to_owned()], ..CodeContext::default() };
        let question = CodeQuestion {
            text: query.to_owned(),
            context,
            history: Arc::new([PastChange {
                subject: "Plant a meadow".to_owned(),
                files: vec!["notes.md".to_owned()],
            }]),
            limit: 10,
            budget: 2000,
        };
        let retrieved = index.retrieve(question).await.unwrap();
        all.push(format!("{} {:?}", findings(&retrieved.findings), retrieved.stages));
    }
    for query in [phrase("orchard("), phrase("brook"), regex("fn \\w+d\\("), regex(".")] {
        all.push(findings(&index.search(query).await.unwrap()));
    }
    for name in ["orchard", "brook", "u32"] {
        let query = ReferenceQuery { name: name.to_owned(), limit: 100, paths: Vec::new() };
        let used: Vec<CodeReference> = index.references(query).await.unwrap();
        all.push(format!("{used:?}"));
    }
    all
}

fn findings(findings: &[CodeFinding]) -> String {
    findings.iter().map(|found| format!("{found:?} {:x}\n", found.score.to_bits())).collect()
}
