//! Agents under other names, and the variables that agents get: what Mehrhof's users configured about them.
//!
//! Knows names and values. Refuses to know plugins: whoever asks says which agents there are. What is left out because
//! it makes no sense is told, and keeps nobody from working.

use serde_json::Value;

/// Variables: names and values.
pub(crate) type Variables = Vec<(String, String)>;

/// More names than anybody follows from alias to alias.
const MAX_CHAIN: usize = 16;

/// What agents get besides what their plugins are told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentSettings {
    /// Other names of agents.
    pub aliases: Vec<AgentAlias>,
    /// Variables of agents: each begins with the agent's name in capitals and `_`, which the agent does not see.
    pub variables: Vec<(String, String)>,
}

/// An agent under another name, with variables of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentAlias {
    /// Its name.
    pub name: String,
    /// The agent, or another alias, that it is.
    pub extends: String,
    /// What it is for, in words.
    pub description: Option<String>,
    /// Its variables. `${NAME}` in a value stands for a variable of the host's.
    pub variables: Vec<(String, String)>,
}

/// What an alias comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resolved<'a> {
    /// The agent.
    pub(crate) agent: &'a str,
    /// What it gets besides what it has anyway, with nothing put in yet; later ones count.
    pub(crate) variables: Variables,
}

impl AgentSettings {
    /// Reads the `agents` and the `env` of a configuration, and tells what is left out.
    pub(crate) fn read(agents: Option<&Value>, env: Option<&Value>, problems: &mut Vec<String>) -> Self {
        let mut aliases = Vec::new();
        for (name, entry) in agents.and_then(Value::as_object).into_iter().flatten() {
            match alias(name, entry, problems) {
                Some(alias) => aliases.push(alias),
                None => {
                    problems.push(format!("`agents.{name}` is left out: it does not say what it `extends`"));
                }
            }
        }
        Self { aliases, variables: variables("env", env, problems) }
    }

    /// The variables for an agent of this name, as it sees them.
    pub(crate) fn of_agent(&self, agent: &str) -> Variables {
        let prefix = format!("{}_", agent.to_uppercase());
        let own = |(name, value): &(String, String)| {
            let name = name.strip_prefix(&prefix).filter(|name| !name.is_empty())?;
            Some((name.to_owned(), value.clone()))
        };
        self.variables.iter().filter_map(own).collect()
    }

    /// Which agent an alias is in the end; if none, why. An agent's own name counts before an alias.
    pub(crate) fn resolve<'a>(
        &'a self,
        alias: &'a AgentAlias,
        is_agent: impl Fn(&str) -> bool,
    ) -> Result<Resolved<'a>, String> {
        let mut chain = vec![alias];
        loop {
            let last = chain[chain.len() - 1];
            if is_agent(&last.extends) {
                let named = chain.iter().rev().flat_map(|alias| self.of_agent(&alias.name));
                let own = chain.iter().rev().flat_map(|alias| alias.variables.clone());
                return Ok(Resolved { agent: &last.extends, variables: named.chain(own).collect() });
            }
            let Some(next) = self.aliases.iter().find(|alias| alias.name == last.extends) else {
                return Err(format!("it extends `{}`, and no plugin's agent is called so", last.extends));
            };
            if chain.contains(&next) || chain.len() == MAX_CHAIN {
                let names: Vec<String> = chain.iter().map(|alias| format!("`{}`", alias.name)).collect();
                return Err(format!("what it extends leads nowhere: {}, `{}`", names.join(", "), next.name));
            }
            chain.push(next);
        }
    }
}

/// Puts variables into the `${NAME}` of a text. Those that are not set are nothing, and noted.
pub(crate) fn expand(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
    unset: &mut Vec<String>,
) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        // Without an end it is no name, but text.
        let Some((name, after)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
            expanded.push_str(before);
            expanded.push_str("${");
            rest = after;
            continue;
        };
        expanded.push_str(before);
        match variable(name) {
            Some(value) => expanded.push_str(&value),
            None => unset.push(name.to_owned()),
        }
        rest = after;
    }
    expanded.push_str(rest);
    expanded
}

/// Variables with later ones of a name in the place of earlier ones.
pub(crate) fn merged(variables: impl IntoIterator<Item = (String, String)>) -> Variables {
    let mut merged: Variables = Vec::new();
    for (name, value) in variables {
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => merged.push((name, value)),
        }
    }
    merged
}

fn alias(name: &str, entry: &Value, problems: &mut Vec<String>) -> Option<AgentAlias> {
    let word = |key: &str| entry.get(key)?.as_str().map(str::trim).filter(|word| !word.is_empty());
    let extends = word("extends")?.to_owned();
    if entry.get("args").and_then(Value::as_array).is_some_and(|args| !args.is_empty()) {
        problems.push(format!("the `args` of `agents.{name}` are left out: agents of plugins take none"));
    }
    Some(AgentAlias {
        name: name.to_owned(),
        extends,
        description: word("description").map(str::to_owned),
        variables: variables(&format!("agents.{name}.env"), entry.get("env"), problems),
    })
}

/// Reads variables; what cannot be one is left out and told, without its value.
fn variables(place: &str, entries: Option<&Value>, problems: &mut Vec<String>) -> Variables {
    let mut variables = Vec::new();
    for (name, value) in entries.and_then(Value::as_object).into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Array(_) | Value::Object(_) => None,
        };
        match text.filter(|text| !text.contains('\0')) {
            Some(text) if !name.is_empty() && !name.contains(['=', '\0']) => {
                variables.push((name.clone(), text));
            }
            _ => problems.push(format!("`{place}.{name}` is left out: it is no variable with a text")),
        }
    }
    variables
}

fn is_name(name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    !name.is_empty() && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(agents: &Value, env: &Value) -> (AgentSettings, Vec<String>) {
        let mut problems = Vec::new();
        let settings = AgentSettings::read(Some(agents), Some(env), &mut problems);
        (settings, problems)
    }

    fn pairs(variables: &[(String, String)]) -> Vec<String> {
        variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn variables_of_an_agent_have_its_name_in_capitals_before_them() {
        let env =
            json!({"CLAUDE_KEY": "k", "CLAUDE_MAX": 4096, "CLAUDE_": "x", "OPENAI_KEY": "o", "OTHER": true});
        let (settings, problems) = read(&Value::Null, &env);
        assert_eq!(problems, [""; 0]);
        assert_eq!(pairs(&settings.of_agent("Claude")), ["KEY=k", "MAX=4096"]);
        assert_eq!(pairs(&settings.of_agent("openai")), ["KEY=o"]);
        assert_eq!(pairs(&settings.of_agent("other")), [""; 0]);
    }

    #[test]
    fn an_alias_is_followed_to_its_agent_and_nearer_variables_count() {
        let agents = json!({
            "slow": {"extends": "echo", "env": {"A": "1", "B": "1"}},
            "slower": {"extends": "slow", "env": {"B": "2"}, "description": "takes its time"},
            "lost": {"extends": "claude"},
            "round": {"extends": "about"},
            "about": {"extends": "round"},
        });
        let (settings, problems) = read(&agents, &json!({"SLOWER_A": "e", "SLOW_C": "3"}));
        assert_eq!(problems, [""; 0]);
        let resolve = |name: &str| {
            let alias = settings.aliases.iter().find(|alias| alias.name == name).unwrap();
            let resolved = settings.resolve(alias, |agent| agent == "echo")?;
            Ok((resolved.agent, pairs(&merged(resolved.variables))))
        };
        let expected = ["C=3", "A=1", "B=2"].map(str::to_owned).to_vec();
        assert_eq!(resolve("slower"), Ok(("echo", expected)));
        let lost = "it extends `claude`, and no plugin's agent is called so".to_owned();
        assert_eq!(resolve("lost"), Err(lost));
        assert_eq!(
            resolve("round"),
            Err("what it extends leads nowhere: `round`, `about`, `round`".to_owned())
        );
    }

    #[test]
    fn what_makes_no_sense_is_left_out_and_told() {
        let agents = json!({
            "a": {"extends": "echo", "args": ["--fast"], "env": {"X=Y": "1", "": "1", "L": [1], "N": null, "Z": "z"}},
            "b": {"env": {}},
            "c": 7,
        });
        let (settings, problems) = read(&agents, &json!([1]));
        let [alias] = &settings.aliases[..] else { panic!("one alias") };
        assert_eq!((pairs(&alias.variables), settings.variables.len()), (vec!["Z=z".to_owned()], 0));
        assert_eq!(
            problems,
            [
                "the `args` of `agents.a` are left out: agents of plugins take none",
                "`agents.a.env.X=Y` is left out: it is no variable with a text",
                "`agents.a.env.` is left out: it is no variable with a text",
                "`agents.a.env.L` is left out: it is no variable with a text",
                "`agents.b` is left out: it does not say what it `extends`",
                "`agents.c` is left out: it does not say what it `extends`",
            ]
        );
    }

    #[test]
    fn names_in_braces_are_put_in() {
        for (text, expected, missing) in [
            ("${A}", "1", ""),
            ("x${A}y${A}z", "x1y1z", ""),
            ("$A ${} ${A", "$A ${} ${A", ""),
            ("${B}-${A}", "-1", "B"),
            ("${not a name}${A}", "${not a name}1", ""),
            ("${${A}}", "${1}", ""),
        ] {
            let mut unset = Vec::new();
            let variable = |name: &str| (name == "A").then(|| "1".to_owned());
            assert_eq!(expand(text, variable, &mut unset), expected, "{text}");
            assert_eq!(unset.join(" "), missing, "{text}");
        }
    }
}
