//! Catching panics without a word on the terminal, and keeping what they said.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs something; gives what it said if it panicked.
///
/// Other threads panic as they always did.
pub(super) fn caught(action: impl FnOnce()) -> Option<String> {
    install_hook();
    WATCHED.set(true);
    // What is left behind half-done belongs to the action and is dropped with it.
    let outcome = catch_unwind(AssertUnwindSafe(action));
    WATCHED.set(false);
    outcome.err().map(|_| SAID.take())
}

fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if WATCHED.get() {
                SAID.set(panic.to_string());
            } else {
                usual(panic);
            }
        }));
    });
}
