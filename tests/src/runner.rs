//! A runner for tests of what is around commands.

use std::time::Duration;

use loggia_domain::{
    BoxFuture, CapturedOutput, CommandEnd, CommandExit, CommandSpec, OutputSink, OutputStream, RunError,
    Runner, SandboxLevel,
};

/// Runs no commands: gives back what the line asks for.
///
/// `say TEXT` prints it, `fail` prints ten lines and ends with 3, `hang` prints `started` and never ends; any other line
/// prints itself.
#[derive(Debug, Clone, Copy)]
pub struct PretendRunner;

impl Runner for PretendRunner {
    fn run(
        &self,
        command: CommandSpec,
        output: OutputSink,
    ) -> BoxFuture<'static, Result<CommandEnd, RunError>> {
        Box::pin(async move {
            let (text, code) = match command.line.as_str() {
                "hang" => {
                    output(OutputStream::Stdout, "started\n");
                    std::future::pending().await
                }
                "fail" => ((1..=10).map(|number| format!("line {number}\n")).collect(), 3),
                line => (format!("{}\n", line.trim_start_matches("say ")), 0),
            };
            output(OutputStream::Stdout, &text);
            Ok(CommandEnd {
                exit: CommandExit::Code(code),
                stdout: CapturedOutput { head: text, ..CapturedOutput::default() },
                stderr: CapturedOutput::default(),
                sandbox: SandboxLevel::Confined,
                took: Duration::ZERO,
            })
        })
    }
}
