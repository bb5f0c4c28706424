//! How long a plugin may take for what, and how long its lines may be.

use std::time::Duration;

use loggia_protocol_mehrhof::limits as usual;

/// The limits of a host's plugins. Those of the protocol unless somebody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the first call.
    pub init: Duration,
    /// For questions that need no network.
    pub question: Duration,
    /// For what a provider does over the network.
    pub provider: Duration,
    /// For an agent at work: the longest silence while it waits for nothing of ours.
    pub run_silence: Duration,
    /// For an agent at work: all of it.
    pub run_total: Duration,
    /// For an agent that has said all: until it answers.
    pub run_answer: Duration,
    /// For a guard.
    pub guard: Duration,
    /// For an effect.
    pub effect: Duration,
    /// Stopping: until it answers.
    pub stop_answer: Duration,
    /// Stopping: until it leaves, once its input is closed.
    pub stop_exit: Duration,
    /// Stopping: until it leaves, once it is told by signal.
    pub stop_signal: Duration,
    /// The longest line that is read, in bytes.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            init: usual::INIT_LIMIT,
            question: usual::QUESTION_LIMIT,
            provider: usual::PROVIDER_LIMIT,
            run_silence: usual::RUN_SILENCE_LIMIT,
            run_total: usual::RUN_TOTAL_LIMIT,
            run_answer: usual::RUN_ANSWER_GRACE,
            guard: usual::GUARD_LIMIT,
            effect: usual::EFFECT_LIMIT,
            stop_answer: usual::SHUTDOWN_ANSWER_LIMIT,
            stop_exit: usual::SHUTDOWN_EXIT_LIMIT,
            stop_signal: usual::SHUTDOWN_SIGNAL_LIMIT,
            line: usual::MAX_LINE_BYTES,
        }
    }
}

impl Limits {
    /// How long a call may take.
    pub(crate) fn of(&self, method: &str) -> Duration {
        match method {
            "provider.init" | "agent.init" | "workflow.init" => self.init,
            "provider.match" | "provider.parse" | "agent.available" | "agent.tool_result" | "ping" => {
                self.question
            }
            "agent.run" => self.run_total,
            "workflow.evaluateGuard" => self.guard,
            "workflow.executeEffect" => self.effect,
            "shutdown" => self.stop_answer,
            _ => self.provider,
        }
    }
}

#[cfg(test)]
mod tests {
    use loggia_jsonrpc::Kind;
    use loggia_protocol_mehrhof::METHODS;

    use super::*;

    #[test]
    fn every_method_has_a_limit_of_its_kind() {
        let limits = Limits::default();
        for row in METHODS.iter().filter(|row| row.kind == Kind::Request) {
            let expected = match row.name {
                name if name.ends_with(".init") => limits.init,
                "agent.run" => limits.run_total,
                "workflow.evaluateGuard" => limits.guard,
                "workflow.executeEffect" => limits.effect,
                "shutdown" => limits.stop_answer,
                "provider.match" | "provider.parse" | "agent.available" | "agent.tool_result" | "ping" => {
                    limits.question
                }
                _ => limits.provider,
            };
            assert_eq!(limits.of(row.name), expected, "{}", row.name);
        }
    }
}
