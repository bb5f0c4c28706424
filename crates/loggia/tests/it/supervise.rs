//! The hidden `__supervise`: the built binary is a keeper that the `wire` crate can use.

use loggia_wire::child::{ChildSpec, Exit, Keeper, spawn};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::stage::Stage;

fn keeper() -> Keeper {
    Keeper::new(env!("CARGO_BIN_EXE_loggia"), ["__supervise"])
}

#[tokio::test]
async fn a_program_runs_under_the_binary_and_its_exit_comes_back() {
    let spec = ChildSpec::new("echo", "sh").args(["-c", "read line; echo got $line; exit 7"]);
    let mut child = spawn(&keeper(), spec).await.unwrap();
    let (mut stdout, mut stdin) = child.take_streams().unwrap();
    stdin.write_all(b"this\n").await.unwrap();
    let mut said = String::new();
    stdout.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "got this\n");
    assert_eq!(child.exited().await, Exit::Code(7));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let error = spawn(&keeper(), ChildSpec::new("nobody", "/no/such/program")).await.unwrap_err();
    assert!(error.to_string().contains("/no/such/program"), "{error}");
}

#[test]
fn without_a_socket_the_keeper_leaves_with_a_failure_and_no_words() {
    let shown = Stage::new().run(&["__supervise"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_broken_configuration_does_not_stop_the_keeper() {
    let stage = Stage::new();
    stage.user_file("this is not TOML");
    let shown = stage.run_with(&[("LOGGIA_NONSENSE", "1")], &["__supervise"]);
    assert!(!shown.stderr.contains("TOML") && !shown.stderr.contains("NONSENSE"), "{shown}");
}
