//! The keeper of the plugins that tests start.

fn main() -> std::process::ExitCode {
    loggia_wire::child::keep()
}
