//! Which agent does a step.
//!
//! The first that was named counts: with the step, with the task for the step, with the task, in the item's own file for
//! the step, in that file, in the settings for the step, in the settings, in the workspace's own files; else what the
//! session began with.

use loggia_domain::{ModelName, TaskAgents};
use serde_json::Value;

use super::line::{IMPLEMENTING, PLANNING, REVIEWING};

/// What models of guests are called by.
const GUEST: &str = "plugin:";

/// What was chosen for a step, if anything was.
pub(super) fn chosen<'a>(
    step: &str,
    with_step: Option<&'a str>,
    with_task: &'a TaskAgents,
    in_settings: &'a TaskAgents,
) -> Option<&'a str> {
    with_step
        .or_else(|| of_step(with_task, step))
        .or(with_task.any.as_deref())
        .or_else(|| of_step(in_settings, step))
        .or(in_settings.any.as_deref())
        .filter(|agent| !agent.is_empty())
}

/// Whom the workspace's own files name for a step, if anybody.
pub(super) fn of_workspace<'a>(step: &str, named: &'a TaskAgents) -> Option<&'a str> {
    of_step(named, step).or(named.any.as_deref())
}

fn of_step<'a>(agents: &'a TaskAgents, step: &str) -> Option<&'a str> {
    match step {
        PLANNING => agents.planning.as_deref(),
        IMPLEMENTING => agents.implementing.as_deref(),
        REVIEWING => agents.reviewing.as_deref(),
        _ => None,
    }
}

/// What was said with the task, and then what its own file says: the latter only where the former says nothing at all
/// about a step.
pub(super) fn with_file(said: TaskAgents, more: &str) -> TaskAgents {
    let more: Value = serde_json::from_str(more).unwrap_or_default();
    let word = |value: Option<&Value>| value.and_then(Value::as_str).map(str::trim).map(str::to_owned);
    let steps = more.get("agent_steps");
    let of = |step: &str| {
        let entry = steps.and_then(|steps| steps.get(step));
        // Either the agent's name, or an object that has it.
        word(entry).or_else(|| word(entry.and_then(|entry| entry.get("name").or_else(|| entry.get("agent")))))
    };
    // What was said for all steps counts before what the file says of one.
    let from_file = |step: &str| if said.any.is_some() { None } else { of(step) };
    TaskAgents {
        planning: said.planning.or_else(|| from_file(PLANNING)),
        implementing: said.implementing.or_else(|| from_file(IMPLEMENTING)),
        reviewing: said.reviewing.or_else(|| from_file(REVIEWING)),
        any: said.any.clone().or_else(|| word(more.get("agent"))),
    }
}

/// The variables that an item's own file has for agents.
pub(super) fn environment(more: &str) -> Vec<(String, String)> {
    let more: Value = serde_json::from_str(more).unwrap_or_default();
    let variables = more.get("agent_env").and_then(Value::as_object).into_iter().flatten();
    variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

/// An agent's name as the name of a model: one without a provider is a guest's, if there is such a guest.
pub(super) fn model(agent: &str, guests: &[String]) -> ModelName {
    match !agent.contains(':') && guests.iter().any(|guest| guest == agent) {
        true => ModelName(format!("{GUEST}{agent}")),
        false => ModelName(agent.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(text: &str) -> TaskAgents {
        let mut agents = TaskAgents::default();
        for pair in text.split_whitespace() {
            let (step, agent) = pair.split_once('=').unwrap();
            let place = match step {
                "any" => &mut agents.any,
                PLANNING => &mut agents.planning,
                IMPLEMENTING => &mut agents.implementing,
                REVIEWING => &mut agents.reviewing,
                other => panic!("{other}"),
            };
            *place = Some(agent.to_owned());
        }
        agents
    }

    #[test]
    fn the_first_choice_counts() {
        let file = r#"{"agent":"f","agent_steps":{"planning":"fp","reviewing":{"name":"fr"}}}"#;
        for (with_step, with_task, file, settings, step, expected) in [
            (Some("s"), "any=a planning=p", file, "any=x", PLANNING, Some("s")),
            (None, "any=a planning=p", file, "any=x", PLANNING, Some("p")),
            (None, "any=a planning=p", file, "any=x", IMPLEMENTING, Some("a")),
            (None, "any=a", file, "any=x", PLANNING, Some("a")),
            (None, "", file, "any=x", PLANNING, Some("fp")),
            (None, "", file, "any=x", REVIEWING, Some("fr")),
            (None, "", file, "implementing=xi", IMPLEMENTING, Some("f")),
            (None, "", "{}", "any=x implementing=xi", IMPLEMENTING, Some("xi")),
            (None, "", "{}", "any=x", REVIEWING, Some("x")),
            (None, "", "no json", "", REVIEWING, None),
        ] {
            let (task, settings) = (with_file(agents(with_task), file), agents(settings));
            assert_eq!(chosen(step, with_step, &task, &settings), expected, "{with_task} {step}");
        }
    }

    #[test]
    fn a_name_without_a_provider_may_be_a_guests() {
        let guests = ["helper".to_owned()];
        for (agent, expected) in [
            ("helper", "plugin:helper"),
            ("plugin:other", "plugin:other"),
            ("small", "small"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(model(agent, &guests).0, expected);
        }
    }
}
