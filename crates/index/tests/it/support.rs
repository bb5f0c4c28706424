//! A workspace and its index in directories of their own, and answers as text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loggia_domain::{
    CodeFinding, CodeIndex, CodeQuery, IndexBuild, IndexControl, IndexError, IndexStatus, IndexStep,
    QueryKind, ReferenceQuery, TextMatch,
};
use loggia_index::{FileIndex, IndexSettings};
use loggia_tree::{Root, RootSettings};
use tempfile::TempDir;

/// A workspace.
pub(crate) struct House {
    pub(crate) files: TempDir,
    pub(crate) data: TempDir,
}

impl House {
    /// A workspace with files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let house = Self { files: TempDir::new().unwrap(), data: TempDir::new().unwrap() };
        files.iter().for_each(|(path, text)| house.write(path, text));
        house
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.files.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn settings(&self) -> IndexSettings {
        settings(self.files.path(), self.data.path())
    }

    pub(crate) fn open(&self) -> FileIndex {
        FileIndex::open(self.settings()).unwrap()
    }

    /// The index, built.
    pub(crate) async fn built(&self) -> FileIndex {
        let index = self.open();
        index.build(IndexBuild::Rebuild).await.unwrap();
        index
    }
}

pub(crate) fn settings(files: &Path, data: &Path) -> IndexSettings {
    let root = Arc::new(Root::open(files, RootSettings::default()).unwrap());
    IndexSettings { threads: 2, settle: Duration::from_secs(3600), ..IndexSettings::new(data, root) }
}

/// Makes this thread, and those it starts, obey the permissions of files also where root runs the tests.
pub(crate) fn obey_permissions() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let mut sets = capabilities(None).unwrap();
    sets.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
    set_capabilities(None, sets).unwrap();
}

/// Waits until a query finds first what it should.
pub(crate) async fn until(index: &FileIndex, query: CodeQuery, expected: &str) {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let now = found(index, query.clone()).await;
        if now.lines().next().unwrap_or_default() == expected {
            return;
        }
        assert!(Instant::now() < patience, "{query:?}: {now:?} instead of {expected:?}");
        // Nobody tells when what was heard of by itself can be searched.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until something is so that nobody tells, since it is done on threads of the index.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until a build is among the symbols, and holds it up there.
pub(crate) async fn paused_among_symbols(index: &Arc<FileIndex>) {
    let index = Arc::clone(index);
    let held = tokio::task::spawn_blocking(move || {
        while index.details().progress.is_none_or(|progress| progress.step != IndexStep::Symbols) {
            std::thread::yield_now();
        }
        index.control(IndexControl::Pause);
        index.details().progress
    });
    let progress = held.await.unwrap().expect("it is under way");
    assert!(progress.is_paused && progress.done < progress.total, "{progress:?}");
}

/// A first build of much that is held up among the symbols.
pub(crate) async fn held_up(
    house: &House,
) -> (Arc<FileIndex>, tokio::task::JoinHandle<Result<IndexStatus, IndexError>>) {
    write_much(house);
    let index = Arc::new(house.open());
    let building = Arc::clone(&index);
    let build = tokio::spawn(async move { building.build(IndexBuild::Rebuild).await });
    paused_among_symbols(&index).await;
    (index, build)
}

/// Files that take a moment to be parsed: a person could not stop a build of them before the end, and we can.
pub(crate) fn write_much(house: &House) {
    let more: String =
        (0..200).map(|number| format!("fn more_{number}() {{ let a = {number}; }}\n")).collect();
    for number in 0..200 {
        house.write(&format!("f{number}.rs"), format!("fn orchard_{number}() {{}}\n{more}"));
    }
}

/// A query for text.
pub(crate) fn text(text: &str) -> CodeQuery {
    CodeQuery::new(text, QueryKind::Text, 20)
}

pub(crate) fn phrase(text: &str) -> CodeQuery {
    CodeQuery { matching: TextMatch::Phrase, ..CodeQuery::new(text, QueryKind::Text, 20) }
}

pub(crate) fn regex(text: &str) -> CodeQuery {
    CodeQuery { matching: TextMatch::Regex, ..CodeQuery::new(text, QueryKind::Text, 20) }
}

pub(crate) fn symbols(text: &str) -> CodeQuery {
    CodeQuery::new(text, QueryKind::Symbols, 20)
}

/// The findings as lines of `path:first-last name`.
pub(crate) async fn found(index: &FileIndex, query: CodeQuery) -> String {
    shown(&index.search(query).await.unwrap())
}

pub(crate) fn shown(findings: &[CodeFinding]) -> String {
    let line = |found: &CodeFinding| {
        let name = found.symbol.as_ref().map_or(String::new(), |name| format!(" {name}"));
        format!("{}:{}-{}{name}", found.path, found.start_line, found.end_line)
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The uses of a name as lines of `path:line kind text`.
pub(crate) async fn used(index: &FileIndex, name: &str) -> String {
    let query = ReferenceQuery { name: name.to_owned(), limit: 100, paths: Vec::new() };
    let found = index.references(query).await.unwrap();
    let lines = found.iter().map(|used| format!("{}:{} {:?} {}", used.path, used.line, used.kind, used.text));
    lines.collect::<Vec<_>>().join("\n")
}

/// The skipped files as lines of `path: reason`.
pub(crate) fn skipped(index: &FileIndex) -> String {
    let skipped = index.skipped(1000);
    let lines = skipped.iter().map(|skipped| format!("{}: {}", skipped.path, skipped.reason));
    lines.collect::<Vec<_>>().join("\n")
}
