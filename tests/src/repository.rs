//! A repository for tests of what is around one: real files, and commits in memory.
//!
//! Knows branches, trees, commits and marks, and refuses what a repository refuses. It outlives engines, as a disk does,
//! and writes down what it was asked to change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{BoxFuture, Commit, Merge, PastChange, Repository, RepositoryError, Standing};
use loggia_engine::RepositoryFinder;
use tokio::sync::watch;

/// What is never committed.
const IGNORED: [&str; 2] = [".loggia", ".git"];

type Files = BTreeMap<String, Vec<u8>>;

/// A repository with commits in memory.
#[derive(Debug)]
pub struct PretendRepository {
    main: PathBuf,
    state: Mutex<State>,
    /// What hangs until somebody lets it go on.
    stuck: watch::Sender<Option<&'static str>>,
    /// The last thing that began to hang.
    reached: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    commits: Vec<(String, Files)>,
    branches: BTreeMap<String, usize>,
    heads: BTreeMap<PathBuf, String>,
    marks: BTreeMap<String, usize>,
    log: Vec<String>,
}

impl PretendRepository {
    /// A repository whose main tree is this directory, with everything in it committed to `main`.
    pub fn new(main: impl Into<PathBuf>) -> Arc<Self> {
        let main = main.into();
        let mut state = State::default();
        state.commits.push(("first".to_owned(), read(&main)));
        state.branches.insert("main".to_owned(), 0);
        state.heads.insert(main.clone(), "main".to_owned());
        let state = Mutex::new(state);
        Arc::new(Self { main, state, stuck: watch::Sender::new(None), reached: watch::Sender::new(false) })
    }

    /// Finds it everywhere.
    pub fn finder(self: &Arc<Self>) -> RepositoryFinder {
        let found = Arc::clone(self);
        Arc::new(move |_| Arc::clone(&found) as Arc<dyn Repository>)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it was asked to change so far, one thing a line.
    pub fn log(&self) -> String {
        self.state().log.join("\n")
    }

    /// The messages of a branch's commits since the first, oldest first. Commits are in one line here.
    pub fn marks(&self) -> Vec<String> {
        self.state().marks.iter().map(|(mark, commit)| format!("{mark} {commit}")).collect()
    }

    /// The branches, each with its newest commit's message.
    pub fn branches(&self) -> Vec<String> {
        let state = self.state();
        let newest = |(name, commit): (&String, &usize)| format!("{name}: {}", state.commits[*commit].0);
        state.branches.iter().map(newest).collect()
    }

    /// Makes a branch at a commit of its own, as somebody else would.
    pub fn add_branch(&self, branch: &str) {
        let mut state = self.state();
        let files = state.commits[0].1.clone();
        state.commits.push(("somebody's own".to_owned(), files));
        let newest = state.commits.len() - 1;
        state.branches.insert(branch.to_owned(), newest);
    }

    /// The branch a tree is on.
    pub fn head(&self, tree: &Path) -> Option<String> {
        self.state().heads.get(tree).cloned()
    }

    /// Has the next call of this name hang after it has done its work, until the process is gone.
    pub fn hang_after(&self, call: &'static str) {
        self.reached.send_replace(false);
        self.stuck.send_replace(Some(call));
    }

    /// Waits until a call hangs, and lets later ones go on.
    ///
    /// # Panics
    /// If that does not come.
    pub async fn until_hanging(&self) {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|reached| *reached).await.expect("the repository is there");
        self.stuck.send_replace(None);
    }

    async fn done<T>(
        &self,
        call: &'static str,
        result: Result<T, RepositoryError>,
    ) -> Result<T, RepositoryError> {
        if *self.stuck.borrow() == Some(call) {
            self.reached.send_replace(true);
            std::future::pending::<()>().await;
        }
        result
    }

    fn change<T>(
        &self,
        line: String,
        work: impl FnOnce(&mut State) -> Result<T, RepositoryError>,
    ) -> Result<T, RepositoryError> {
        let mut state = self.state();
        let done = work(&mut state);
        let told = match &done {
            Ok(_) => line,
            Err(error) => format!("{line}: {error}"),
        };
        state.log.push(told);
        done
    }
}

impl State {
    fn commit_of(&self, tree: &Path) -> Option<usize> {
        self.heads.get(tree).and_then(|head| self.branches.get(head)).copied()
    }

    fn changed(&self, tree: &Path) -> Vec<String> {
        let committed = self.commit_of(tree).map(|commit| &self.commits[commit].1);
        let (there, committed) = (read(tree), committed.cloned().unwrap_or_default());
        let mut paths: Vec<String> = there
            .iter()
            .filter(|(path, bytes)| committed.get(*path) != Some(bytes))
            .map(|(path, _)| path.clone())
            .collect();
        paths.extend(committed.keys().filter(|path| !there.contains_key(*path)).cloned());
        paths
    }

    fn clean(&self, tree: &Path) -> Result<(), RepositoryError> {
        let changed = self.changed(tree);
        if changed.is_empty() { Ok(()) } else { Err(RepositoryError::Dirty(changed)) }
    }

    fn branch(&self, name: &str) -> Result<usize, RepositoryError> {
        self.branches.get(name).copied().ok_or_else(|| RepositoryError::NoBranch(name.to_owned()))
    }

    fn check_out(&mut self, tree: &Path, branch: &str) -> Result<(), RepositoryError> {
        let commit = self.branch(branch)?;
        self.heads.insert(tree.to_owned(), branch.to_owned());
        write(tree, &self.commits[commit].1);
        Ok(())
    }
}

fn name(commit: usize) -> Commit {
    Commit(format!("{commit:040x}"))
}

fn place(commit: &Commit) -> usize {
    usize::from_str_radix(&commit.0, 16).expect("a commit of ours")
}

impl Repository for PretendRepository {
    fn standing(&self, tree: &Path) -> BoxFuture<'_, Result<Standing, RepositoryError>> {
        let state = self.state();
        let standing = Standing {
            branch: state.heads.get(tree).cloned(),
            commit: state.commit_of(tree).map(name),
            changed: state.changed(tree),
            is_linked: tree != self.main,
            main: self.main.clone(),
        };
        Box::pin(std::future::ready(Ok(standing)))
    }

    fn base(&self) -> BoxFuture<'_, Result<String, RepositoryError>> {
        Box::pin(std::future::ready(Ok("main".to_owned())))
    }

    fn newest(&self, branch: String) -> BoxFuture<'_, Result<Option<Commit>, RepositoryError>> {
        let found = self.state().branches.get(&branch).copied().map(name);
        Box::pin(std::future::ready(Ok(found)))
    }

    fn beginning(&self, base: String) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        let found = self.state().branch(&base).map(name);
        Box::pin(std::future::ready(found))
    }

    fn begin_branch(
        &self,
        tree: &Path,
        branch: String,
        base: String,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("branch {branch} from {base}"), |state| {
            state.clean(tree)?;
            if state.branches.contains_key(&branch) {
                return Err(RepositoryError::BranchExists(branch.clone()));
            }
            let commit = state.branch(&base)?;
            state.branches.insert(branch.clone(), commit);
            state.check_out(tree, &branch)
        });
        Box::pin(self.done("begin_branch", done))
    }

    fn begin_tree(
        &self,
        tree: PathBuf,
        branch: String,
        base: String,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("tree for {branch} from {base}"), |state| {
            if state.branches.contains_key(&branch) {
                return Err(RepositoryError::BranchExists(branch.clone()));
            }
            let commit = state.branch(&base)?;
            std::fs::create_dir_all(&tree).expect("a directory");
            state.branches.insert(branch.clone(), commit);
            state.check_out(&tree, &branch)
        });
        Box::pin(self.done("begin_tree", done))
    }

    fn switch(&self, tree: &Path, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("switch to {branch}"), |state| {
            state.clean(tree)?;
            state.check_out(tree, &branch)
        });
        Box::pin(self.done("switch", done))
    }

    fn checkpoint(
        &self,
        tree: &Path,
        message: String,
        mark: String,
    ) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        let done = self.change(format!("checkpoint {message}"), |state| {
            let head = state.heads.get(tree).cloned().expect("a tree of ours");
            if !state.changed(tree).is_empty() {
                state.commits.push((message.clone(), read(tree)));
                let newest = state.commits.len() - 1;
                state.branches.insert(head.clone(), newest);
            }
            let commit = state.branch(&head)?;
            state.marks.insert(mark, commit);
            Ok(name(commit))
        });
        Box::pin(self.done("checkpoint", done))
    }

    fn move_to(
        &self,
        tree: &Path,
        branch: String,
        from: Commit,
        to: Commit,
    ) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("move {branch} from {} to {}", place(&from), place(&to)), |state| {
            state.clean(tree)?;
            let found = state.heads.get(tree).cloned().unwrap_or_default();
            if found != branch || state.branch(&branch)? != place(&from) {
                return Err(RepositoryError::Moved { branch: branch.clone(), found });
            }
            state.branches.insert(branch.clone(), place(&to));
            state.check_out(tree, &branch)
        });
        Box::pin(self.done("move_to", done))
    }

    fn discard(&self, tree: &Path, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change("discard".to_owned(), |state| {
            let found = state.heads.get(tree).cloned().unwrap_or_default();
            match found == branch {
                true => state.check_out(tree, &branch),
                false => Err(RepositoryError::Moved { branch, found }),
            }
        });
        Box::pin(self.done("discard", done))
    }

    fn unmark(&self, marks: Vec<String>) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let mut state = self.state();
        for mark in marks {
            state.marks.remove(&mark);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn changes(
        &self,
        from: Commit,
        to: Commit,
        limit: usize,
    ) -> BoxFuture<'_, Result<String, RepositoryError>> {
        let state = self.state();
        let (old, new) = (&state.commits[place(&from)].1, &state.commits[place(&to)].1);
        let mut text = String::new();
        for (path, bytes) in new.iter().filter(|(path, bytes)| old.get(*path) != Some(*bytes)) {
            let _ = writeln!(text, "+++ {path}\n+{}", String::from_utf8_lossy(bytes).trim_end());
        }
        for path in old.keys().filter(|path| !new.contains_key(*path)) {
            let _ = writeln!(text, "--- {path}");
        }
        text.truncate(text.floor_char_boundary(limit));
        Box::pin(std::future::ready(Ok(text)))
    }

    fn lately(&self, commits: usize) -> BoxFuture<'_, Result<Vec<PastChange>, RepositoryError>> {
        let state = self.state();
        let mut changes = Vec::new();
        for pair in state.commits.windows(2).rev().take(commits) {
            let changed = pair[1].1.iter().filter(|(path, bytes)| pair[0].1.get(*path) != Some(*bytes));
            let files = changed.map(|(path, _)| path.clone()).collect();
            changes
                .push(PastChange { subject: pair[1].0.lines().next().unwrap_or_default().to_owned(), files });
        }
        Box::pin(self.done("lately", Ok(changes)))
    }

    fn merge(&self, tree: &Path, merge: Merge) -> BoxFuture<'_, Result<Commit, RepositoryError>> {
        let Merge { from, into, message, squash } = merge;
        let how = if squash { "squash" } else { "merge" };
        let done = self.change(format!("{how} {from} into {into}"), |state| {
            state.clean(tree)?;
            let files = state.commits[state.branch(&from)?].1.clone();
            state.branch(&into)?;
            state.commits.push((message.lines().next().unwrap_or_default().to_owned(), files));
            let newest = state.commits.len() - 1;
            state.branches.insert(into.clone(), newest);
            state.check_out(tree, &into)?;
            Ok(name(newest))
        });
        Box::pin(self.done("merge", done))
    }

    fn push(&self, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("push {branch}"), |state| state.branch(&branch).map(drop));
        Box::pin(self.done("push", done))
    }

    fn drop_branch(&self, branch: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("drop {branch}"), |state| {
            state.branch(&branch)?;
            if state.heads.values().any(|head| *head == branch) {
                return Err(RepositoryError::Failed(format!("`{branch}` is checked out")));
            }
            state.branches.remove(&branch);
            Ok(())
        });
        Box::pin(self.done("drop_branch", done))
    }

    fn drop_tree(&self, tree: PathBuf, force: bool) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change("drop its tree".to_owned(), |state| {
            if !tree.exists() {
                state.heads.remove(&tree);
                return Ok(());
            }
            if !force {
                state.clean(&tree)?;
            }
            state.heads.remove(&tree);
            std::fs::remove_dir_all(&tree).map_err(|error| RepositoryError::Failed(error.to_string()))
        });
        Box::pin(self.done("drop_tree", done))
    }

    fn exclude(&self, pattern: String) -> BoxFuture<'_, Result<(), RepositoryError>> {
        let done = self.change(format!("exclude {pattern}"), |_| Ok(()));
        Box::pin(self.done("exclude", done))
    }
}

fn read(tree: &Path) -> Files {
    let mut files = Files::new();
    let mut directories = vec![tree.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let relative = path.strip_prefix(tree).expect("below the tree").to_string_lossy().into_owned();
            if IGNORED.contains(&relative.as_str()) {
                continue;
            }
            match path.is_dir() {
                true => directories.push(path),
                false => drop(files.insert(relative, std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    files
}

fn write(tree: &Path, files: &Files) {
    for path in read(tree).into_keys().filter(|path| !files.contains_key(path)) {
        std::fs::remove_file(tree.join(path)).expect("a file that can be removed");
    }
    for (path, bytes) in files {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().expect("below the tree")).expect("directories");
        std::fs::write(path, bytes).expect("a file");
    }
}
