//! The program that tests start: the keeper of commands, or a child that is going to be killed.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next().as_deref().and_then(|word| word.to_str()), arguments.next()) {
        (Some("keep"), None) => loggia_wire::child::keep(),
        (Some("crash"), Some(directory)) => crash(directory.as_ref()),
        _ => ExitCode::FAILURE,
    }
}

fn crash(directory: &Path) -> ExitCode {
    let itself = std::env::current_exe().expect("the program's own path");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(loggia_tests::crash::child(directory, &itself));
    ExitCode::SUCCESS
}
