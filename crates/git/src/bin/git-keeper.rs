//! The keeper of the programs that tests start.

fn main() -> std::process::ExitCode {
    loggia_wire::child::keep()
}
