//! An agent that repeats its prompt into a file. Put your model where the comment says so.

use std::process::ExitCode;

use loggia_plugin_kit::protocol::{AgentCapability, AgentInitResult, AgentRunParams, UsageEvent};
use loggia_plugin_kit::{Agent, Json, Plugin, PluginError, Run, json, run};

const NAME: &str = "starter-name";

struct Parrot;

impl Agent for Parrot {
    fn init(&mut self, _config: &Json) -> Result<AgentInitResult, PluginError> {
        Ok(AgentInitResult {
            name: Some(NAME.to_owned()),
            model: Some("parrot-1".to_owned()),
            capabilities: Some(vec![AgentCapability::Streaming, AgentCapability::ToolUse]),
            metadata: None,
        })
    }

    fn available(&mut self) -> Result<(), String> {
        // A real agent looks for its key here, and says which one is missing.
        match std::env::var_os("PARROT_ASLEEP") {
            Some(_) => Err("PARROT_ASLEEP is set".to_owned()),
            None => Ok(()),
        }
    }

    fn run(&mut self, asked: &AgentRunParams, run: &mut Run) -> Result<Option<u64>, PluginError> {
        run.thinking("What is in the way of `PARROT.md`?")?;
        if asked.tools.iter().any(|tool| tool.name == "list_files") {
            // The host runs the tool, under the workspace's policy, and this waits for what comes out.
            let files = run.call("list_files", json!({ "path": "." }))?;
            run.text(format!("I looked around: {} lines of files. ", files.lines().count()))?;
        }
        // Ask your model here, and tell what it says as it comes.
        let words: Vec<&str> = asked.prompt.split_whitespace().collect();
        for word in &words {
            run.text(format!("{word} "))?;
        }
        run.file("PARROT.md", format!("{}\n", asked.prompt))?;
        let count = words.len() as u64;
        run.usage(UsageEvent { input_tokens: count, output_tokens: count, cache_read_input_tokens: None })?;
        Ok(None)
    }
}

fn main() -> ExitCode {
    run(Plugin::agent(Parrot))
}
