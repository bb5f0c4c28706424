//! Extensions end with whoever started them, however that ends.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::extensions::{house, starts};
use crate::plugins::until_gone;

/// How long guests may take to leave, as the server has it, and what a busy machine adds.
const LONGEST: Duration = Duration::from_secs(15 + 15);

#[test]
fn extensions_are_let_go_one_beside_the_other_in_bounded_time() {
    let house = house(&[("good", &[]), ("one", &["stay"]), ("two", &["stay", "spin"])]);
    house.done(&["ext", "start"]);
    let all: Vec<i32> = ["good", "one", "two"].iter().flat_map(|name| starts(&house, name)).collect();
    assert_eq!(all.len(), 3);
    let begin = Instant::now();
    house.server.signal(Signal::TERM);
    let (code, _, said) = house.server.wait();
    assert_eq!(code, Some(0), "{said}");
    assert!(begin.elapsed() < LONGEST, "{:?}", begin.elapsed());
    until_gone(&all);
    assert!(house.stage.0.path("outside/good/ends.log").exists());
}

#[test]
fn a_server_that_is_killed_leaves_no_extension() {
    let house = house(&[("good", &[]), ("spins", &["stay", "spin"])]);
    house.done(&["ext", "start"]);
    let all: Vec<i32> = ["good", "spins"].iter().flat_map(|name| starts(&house, name)).collect();
    assert_eq!(all.len(), 2);
    house.server.signal(Signal::KILL);
    assert_eq!(house.server.wait().0, None);
    until_gone(&all);
}
