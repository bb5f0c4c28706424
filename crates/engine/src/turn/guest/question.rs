//! An agent's question to people, asked as if it called a tool.
//!
//! Nobody answers while it works: it is told so, and what it asked is the end of its reply. The name and the shape are
//! those that agents use.

use loggia_domain::{
    ArgumentError, BoxFuture, Demand, JsonText, PreparedCall, Tool, ToolContext, ToolEffect, ToolError,
    ToolSpec,
};
use serde::Deserialize;

/// The tool's name.
pub(super) const ASK_PERSON: &str = "AskUserQuestion";

/// What an agent that asks is told.
const LATER: &str = "The question is put to the person you work for, who answers later, when you are not at work any \
                     more. Do not wait and do not guess: end your work here.";

/// Questions, as agents write them.
#[derive(Debug, Deserialize)]
struct Questions {
    questions: Vec<Asked>,
}

#[derive(Debug, Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    options: Vec<Choice>,
}

/// One of the answers that can be given.
#[derive(Debug, Deserialize)]
struct Choice {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// The questions of a call in words; none if it asks nothing that can be understood.
pub(super) fn in_words(arguments: &JsonText) -> Vec<String> {
    let Ok(Questions { questions }) = serde_json::from_str(&arguments.0) else { return Vec::new() };
    let asked = |asked: Asked| {
        let choice = |choice: Choice| match choice.description.filter(|text| !text.is_empty()) {
            Some(description) => format!("\n- {}: {description}", choice.label),
            None => format!("\n- {}", choice.label),
        };
        format!("{}{}", asked.question, asked.options.into_iter().map(choice).collect::<String>())
    };
    questions.into_iter().map(asked).collect()
}

/// Questions as the end of a reply.
pub(super) fn at_the_end(questions: &[String]) -> String {
    format!("\n\n{}", questions.join("\n\n"))
}

/// The tool.
pub(super) struct AskPerson {
    spec: ToolSpec,
}

impl AskPerson {
    pub(super) fn new() -> Self {
        let spec = ToolSpec {
            name: ASK_PERSON.to_owned(),
            description: "Asks the person a question, which is answered later.".to_owned(),
            parameters: JsonText(r#"{"type":"object","required":["questions"]}"#.to_owned()),
        };
        Self { spec }
    }
}

impl Tool for AskPerson {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, arguments: &JsonText) -> Result<Box<dyn PreparedCall>, ArgumentError> {
        match in_words(arguments).is_empty() {
            true => Err(ArgumentError("`questions` needs at least one with `question`".to_owned())),
            false => Ok(Box::new(Prepared)),
        }
    }
}

struct Prepared;

impl PreparedCall for Prepared {
    fn demand(&self) -> Demand {
        Demand::default()
    }

    fn run(self: Box<Self>, _: ToolContext) -> BoxFuture<'static, Result<ToolEffect, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolEffect::Output(LATER.to_owned()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_with_their_answers() {
        let check = |arguments: &str, expected: &[&str]| {
            assert_eq!(in_words(&JsonText(arguments.to_owned())), expected, "{arguments}");
        };
        check(
            r#"{"questions":[{"question":"Which?","header":"x","options":[{"label":"A","description":"first"},{"label":"B"}]}]}"#,
            &["Which?\n- A: first\n- B"],
        );
        check(r#"{"questions":[{"question":"One?"},{"question":"Two?"}]}"#, &["One?", "Two?"]);
        check(r#"{"questions":[]}"#, &[]);
        check("{}", &[]);
        check("nonsense", &[]);
    }
}
