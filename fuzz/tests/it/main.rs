//! The targets on their samples and some broken ones, and the runner on a target that breaks.

use loggia_fuzz::runner::{self, Budget, Failure, Plan, Report};
use loggia_fuzz::targets::{self, TARGETS, Target};

/// Enough to reach every branch of the mutator, few enough for every `cargo test`.
const INPUTS: u64 = 2_000;

fn run(target: &'static Target, inputs: u64) -> Report {
    let plan = Plan { seed: 1, budget: Budget::Inputs(inputs), careful: None };
    runner::run(target, &plan, |_| {}).expect("the samples are there")
}

/// Fails with the input as text that can be pasted into a test.
fn check(name: &str) {
    let report = run(targets::find(name).expect("a target of that name"), INPUTS);
    if let Some(Failure { message, input }) = report.failure {
        panic!("`{name}` does not hold for b\"{}\": {message}", input.escape_ascii());
    }
    assert!(report.inputs > INPUTS, "the samples were not tried");
}

#[test]
fn content_length_frames_hold() {
    check("content_length");
}

#[test]
fn lines_hold() {
    check("lines");
}

#[test]
fn length_prefixed_frames_hold() {
    check("length_prefixed");
}

#[test]
fn round_trips_hold() {
    check("round_trip");
}

#[test]
fn envelopes_hold() {
    check("envelope");
}

#[test]
fn peers_hold() {
    check("peer");
}

#[test]
fn protocol_messages_hold() {
    check("protocols");
}

#[test]
fn paths_into_messages_hold() {
    check("message_paths");
}

#[test]
fn documents_in_four_formats_hold() {
    check("messages");
}

#[test]
fn every_target_has_its_libfuzzer_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for target in TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{}.rs\"", target.name)), "{}", target.name);
        let program =
            std::fs::read_to_string(folder.join("fuzz_targets").join(target.name).with_extension("rs"));
        assert!(program.unwrap().contains(&format!("targets::{}::target(data)", target.name)));
    }
    assert_eq!(manifest.matches("required-features = [\"libfuzzer\"]").count(), TARGETS.len());
}

/// Holds for everything but a `}` somewhere behind a `{`.
static BREAKS: Target = Target {
    name: "breaks",
    about: "",
    run: |data| {
        let open = data.iter().position(|byte| *byte == b'{');
        assert!(open.is_none_or(|open| !data[open..].contains(&b'}')), "a brace was closed");
    },
    samples: || Ok(vec![b"{ some words and no end".to_vec()]),
};

#[test]
fn what_does_not_hold_is_found_shrunk_and_kept() {
    let report = run(&BREAKS, 100_000);
    let failure = report.failure.expect("found");
    assert_eq!(failure.input, b"{}");
    assert!(failure.message.contains("a brace was closed"), "{}", failure.message);
    assert!(failure.message.contains("main.rs"), "says where: {}", failure.message);

    let directory = tempfile::tempdir().unwrap();
    let path = failure.keep(&directory.path().join("artifacts"), report.target).unwrap();
    assert!(path.file_name().unwrap().to_str().unwrap().starts_with("breaks-"));
    let kept = std::fs::read(path).unwrap();
    assert!(runner::try_one(&BREAKS, &kept).is_some());
}

#[test]
fn the_same_seed_gives_the_same_inputs() {
    let found = || {
        let report = run(&BREAKS, 100_000);
        (report.inputs, report.failure.map(|failure| failure.input))
    };
    assert_eq!(found(), found());
}

#[test]
fn a_careful_run_keeps_the_input_it_is_at() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("last");
    let plan = Plan { seed: 1, budget: Budget::Inputs(100_000), careful: Some(file.clone()) };
    let report = runner::run(&BREAKS, &plan, |_| {}).unwrap();
    assert!(report.failure.is_some());
    assert!(runner::try_one(&BREAKS, &std::fs::read(file).unwrap()).is_some());
}
