//! Calls that run a command: on this machine, confined and watched, or in a client's terminal.

use std::time::{Duration, Instant};

use loggia_domain::{
    Actor, CapturedOutput, ClientId, CommandEnd, CommandExit, CommandMode, CommandReport, CommandRequest,
    CommandSummary, EventBody, Executor, Policy, ToolOutcome,
};

use crate::session::Halt;
use crate::turn::Turn;
use crate::turn::called::Called;
use crate::turn::output::Output;

/// What a client may take beyond a command's own limit, to start it and to report.
const REPORT_GRACE: Duration = Duration::from_secs(15);

impl Turn {
    /// Runs a command that may run, wherever the policy says.
    pub(super) async fn command(
        &self,
        open: &Called,
        request: CommandRequest,
        decided: Option<Actor>,
    ) -> Result<(), Halt> {
        let policy = match self.workspace.policy(&self.shared).await {
            Ok(policy) => policy,
            Err(error) => return self.end(open, ToolOutcome::Denied { reason: error.to_string() }).await,
        };
        let limit = time_limit(&request, &policy);
        let executor = match policy.command_mode {
            CommandMode::ServerRunner => Executor::Server,
            CommandMode::LocalTerminal => {
                self.link.executor(decided, |abilities| abilities.runs_commands).await?
            }
        };
        let stranded = policy.command_mode == CommandMode::LocalTerminal && !policy.fallback_to_server_runner;
        match executor {
            Executor::Client(client) => self.in_clients_terminal(open, client, &policy, limit).await,
            Executor::Server if stranded => {
                let reason =
                    "commands run in a client's terminal here, and no client that can run one is connected";
                self.end(open, ToolOutcome::Denied { reason: reason.to_owned() }).await
            }
            Executor::Server => self.on_this_machine(open, request, &policy, limit).await,
        }
    }

    async fn in_clients_terminal(
        &self,
        open: &Called,
        client: ClientId,
        policy: &Policy,
        limit: Duration,
    ) -> Result<(), Halt> {
        let began = Instant::now();
        let report = self.link.expect_command_report(open.call.id, client).await?;
        let executor = Executor::Client(client);
        self.link.record(vec![EventBody::ToolStarted { call: open.call.id, executor }]).await?;
        let Ok(report) = tokio::time::timeout(limit.saturating_add(REPORT_GRACE), report).await else {
            let message =
                format!("the client that was to run it did not report within {} s", limit.as_secs());
            let event = open.ended(ToolOutcome::Failed { message }, Vec::new(), None, began);
            return self.link.record(vec![event]).await;
        };
        let CommandReport { exit, stdout, stderr, .. } = report.map_err(|_| Halt)?;
        let most = usize::try_from(policy.limits.output_bytes).unwrap_or(usize::MAX);
        let (stdout, stderr) = (ends_of(stdout, most), ends_of(stderr, most));
        let summary =
            CommandSummary { exit, sandbox: None, left_out: stdout.left_out.saturating_add(stderr.left_out) };
        let outcome = self.outcome(exit, &stdout.text(), &stderr.text());
        self.link.record(vec![open.ended(outcome, Vec::new(), Some(summary), began)]).await
    }

    async fn on_this_machine(
        &self,
        open: &Called,
        request: CommandRequest,
        policy: &Policy,
        limit: Duration,
    ) -> Result<(), Halt> {
        let began = Instant::now();
        let spec = match self.workspace.command_spec(&self.shared, request, policy, limit).await {
            Ok(spec) => spec,
            Err(message) => return self.end(open, ToolOutcome::Denied { reason: message }).await,
        };
        self.link
            .record(vec![EventBody::ToolStarted { call: open.call.id, executor: Executor::Server }])
            .await?;
        let watch = self.workspace.watch(self.session, open.call.id).await;
        self.link.command_runs(open.call.id, watch.clone()).await?;
        let output = Output::new(&self.feed, open.call.id, &self.shared.masker);
        let run = self.shared.parts.runner.run(spec, output.sink()).await;
        output.finish(&self.shared.masker);
        let found = watch.changes(&self.shared.parts.store).await;
        let checkpoint = self.checkpoint().await?.is_some();
        let mut events = found.events(open.call.id, checkpoint);
        let (outcome, summary) = match run {
            Ok(end) => (self.outcome(end.exit, &end.stdout.text(), &end.stderr.text()), Some(summary(&end))),
            Err(error) => (ToolOutcome::Denied { reason: error.to_string() }, None),
        };
        let files = found.files();
        events.push(open.ended(outcome, files, summary, began));
        self.link.record(events).await
    }

    fn outcome(&self, exit: CommandExit, stdout: &str, stderr: &str) -> ToolOutcome {
        let end = match exit {
            CommandExit::Code(code) => format!("Exit code {code}."),
            CommandExit::Signal(signal) => format!("Ended by signal {signal}."),
            CommandExit::TimedOut => "It took too long and was killed.".to_owned(),
        };
        let mut text = end;
        for (name, output) in [("stdout", stdout), ("stderr", stderr)] {
            if !output.is_empty() {
                text.push_str(&format!("\n{name}:\n{}", self.shared.masker.mask(output)));
            }
        }
        match exit {
            CommandExit::Code(0) => ToolOutcome::Succeeded { output: text },
            CommandExit::Code(_) | CommandExit::Signal(_) | CommandExit::TimedOut => {
                ToolOutcome::Failed { message: text }
            }
        }
    }
}

fn summary(end: &CommandEnd) -> CommandSummary {
    let left_out = end.stdout.left_out.saturating_add(end.stderr.left_out);
    CommandSummary { exit: end.exit, sandbox: Some(end.sandbox), left_out }
}

/// The beginning and the end of what a client reports, within the policy's limit.
fn ends_of(text: String, most: usize) -> CapturedOutput {
    if text.len() <= most {
        return CapturedOutput { head: text, ..CapturedOutput::default() };
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    CapturedOutput {
        head: text[..head].to_owned(),
        tail: text[tail..].to_owned(),
        left_out: (tail - head) as u64,
    }
}

/// The model may ask for less time than the policy allows, not for more.
fn time_limit(request: &CommandRequest, policy: &Policy) -> Duration {
    let most = policy.limits.command_timeout_s;
    Duration::from_secs(request.timeout_s.unwrap_or(most).min(most))
}
