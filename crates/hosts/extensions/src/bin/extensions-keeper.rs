//! The keeper of the extensions that tests start.

fn main() -> std::process::ExitCode {
    loggia_wire::child::keep()
}
