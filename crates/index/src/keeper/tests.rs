//! What the keeper owes is done when its time has come; the time is moved by hand.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loggia_domain::{IndexBuild, IndexControl, IndexState};
use loggia_tree::{Root, RootSettings};

use super::{Keeper, Owed, Shared, Symbols};
use crate::disk::lock::Lock;
use crate::settings::IndexSettings;

fn keeper(files: &Path, data: &Path) -> Keeper {
    let root = Arc::new(Root::open(files, RootSettings::default()).unwrap());
    let shared = Arc::new(Shared::new(IndexSettings::new(data, root)));
    Keeper::new(shared, Lock::take(data).unwrap())
}

fn knows(shared: &Shared, path: &str) -> bool {
    shared.published().snapshot.is_some_and(|snapshot| snapshot.find(path).is_some())
}

/// Looks at the tree while somebody cancels without a pause.
fn look_and_cancel(keeper: &mut Keeper) {
    let shared = Arc::clone(&keeper.shared);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                shared.control.wish(IndexControl::Cancel);
            }
        });
        // Also where the look panics.
        let _over = SetOnDrop(&is_over);
        keeper.look();
    });
}

struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_look_at_the_tree_that_is_cancelled_is_made_up_for_later() {
    let (files, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |path: &str| std::fs::write(files.path().join(path), "orchard\n").unwrap();
    (0..1000).for_each(|number| write(&format!("{number}.txt")));
    let mut keeper = keeper(files.path(), data.path());
    keeper.build(IndexBuild::Rebuild, Symbols::OfAll).unwrap();
    // A look may be quicker than whoever cancels it; then there is a next one, for something else.
    let path = (0..100).map(|number| format!("z{number}.txt")).find(|path| {
        write(path);
        look_and_cancel(&mut keeper);
        !knows(&keeper.shared, path)
    });
    let path = path.expect("of a hundred looks one is cancelled");
    let told = keeper.shared.published();
    assert_eq!((told.state, told.was_cancelled, told.last_error), (IndexState::Stale, true, None));
    let owed = keeper.owed.expect("it is not forgotten");
    assert!(owed.at > Instant::now(), "whoever wants quiet has it for a while");
    keeper.owed = Some(Owed { at: Instant::now(), ..owed });
    let shared = Arc::clone(&keeper.shared);
    let running = std::thread::spawn(move || keeper.run());
    let patience = Instant::now() + Duration::from_secs(30);
    let is_made_up_for = || {
        let told = shared.published();
        knows(&shared, &path) && (told.state, told.was_cancelled) == (IndexState::Ready, false)
    };
    while !is_made_up_for() {
        assert!(Instant::now() < patience, "{path} is not found");
        std::thread::yield_now();
    }
    shared.inbox.stop();
    running.join().unwrap();
}
