//! A text with front matter: what it says about itself, and the rest.
//!
//! Pure: text in, values out. Front matter is YAML between two lines of `---` at the very beginning. Values that are
//! written a little differently are taken; those nobody can use are an error that names the field.

use loggia_domain::{JsonText, WorkItem};
use serde_json::{Map, Value};

use crate::heading::{first_heading, shortened};
use crate::limits::MAX_FRONT_MATTER;

/// A text and what it says about itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    front: Map<String, Value>,
    pub(crate) body: String,
}

/// Where an item is from.
#[derive(Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) key: String,
    /// What it is called if it says nothing itself.
    pub(crate) name: String,
    pub(crate) location: String,
    pub(crate) provider: &'a str,
}

impl Document {
    /// A text that says nothing about itself.
    pub(crate) fn plain(body: String) -> Self {
        Self { front: Map::new(), body }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some((front, body)) = split(text) else { return Ok(Self::plain(text.to_owned())) };
        if front.len() > MAX_FRONT_MATTER {
            return Err(format!("the front matter has more than {MAX_FRONT_MATTER} bytes"));
        }
        let front: Option<Value> = serde_saphyr::from_str(front).map_err(|error| {
            let line = error.location().map(|place| place.line());
            // It begins in the file's second line.
            let place = line.map(|line| format!(", line {}", line + 1)).unwrap_or_default();
            format!("the front matter is no YAML{place}: {}", plain_words(error.without_snippet()))
        })?;
        match front {
            None | Some(Value::Null) => Ok(Self::plain(body.to_owned())),
            Some(Value::Object(front)) => Ok(Self { front, body: body.to_owned() }),
            Some(_) => Err("the front matter has no `key: value` lines".to_owned()),
        }
    }

    /// The item that it is.
    pub(crate) fn into_item(mut self, origin: Origin<'_>) -> Result<WorkItem, String> {
        let title = self.text("title")?.or_else(|| first_heading(&self.body)).unwrap_or(origin.name);
        let (label, kind, status) = (self.text("key")?, self.text("type")?, self.text("status")?);
        let (tags, priority) = (self.tags()?, self.priority()?);
        self.text("slug")?;
        self.check_agents()?;
        Ok(WorkItem {
            key: origin.key,
            label,
            kind,
            title: shortened(&title),
            description: self.body,
            status,
            priority,
            tags,
            location: Some(origin.location),
            provider: Some(origin.provider.to_owned()),
            more: JsonText(Value::Object(self.front).to_string()),
        })
    }

    /// A value that is a word or a number.
    fn text(&self, field: &str) -> Result<Option<String>, String> {
        match self.front.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match scalar(value) {
                Some(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
                None => Err(format!("`{field}` in the front matter must be one word or line")),
            },
        }
    }

    /// A list, or words with commas between them.
    fn tags(&self) -> Result<Vec<String>, String> {
        let wrong = || "`labels` in the front matter must be a list of words".to_owned();
        let all: Vec<String> = match self.front.get("labels") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => {
                values.iter().map(|value| scalar(value).ok_or_else(wrong)).collect::<Result<_, _>>()?
            }
            Some(value) => scalar(value).ok_or_else(wrong)?.split(',').map(str::to_owned).collect(),
        };
        Ok(all.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect())
    }

    /// From 1 to 5, or a word people use for it.
    fn priority(&self) -> Result<Option<i64>, String> {
        let Some(text) = self.text("priority")? else { return Ok(None) };
        let number = match text.to_ascii_lowercase().as_str() {
            "critical" | "urgent" | "highest" => Some(1),
            "high" => Some(2),
            "normal" | "medium" => Some(3),
            "low" => Some(4),
            "lowest" => Some(5),
            number => number.parse().ok(),
        };
        match number {
            Some(number) if (1..=5).contains(&number) => Ok(Some(number)),
            _ => Err(format!(
                "`priority` in the front matter is `{}`; it must be from 1, the most urgent, to 5",
                text.escape_debug()
            )),
        }
    }

    /// What says who works on it is used by others as it is, so it must have its shape.
    fn check_agents(&mut self) -> Result<(), String> {
        self.text("agent")?;
        match self.front.get_mut("agent_env") {
            None | Some(Value::Null) => {}
            Some(Value::Object(variables)) => {
                for (name, value) in variables.iter_mut() {
                    if name.is_empty() || name.contains(['=', '\0']) {
                        let name = name.escape_debug();
                        return Err(format!("`{name}` in `agent_env` in the front matter names no variable"));
                    }
                    let text = scalar(value)
                        .ok_or_else(|| format!("`agent_env.{name}` in the front matter must be one line"))?;
                    *value = Value::String(text);
                }
            }
            Some(_) => return Err("`agent_env` in the front matter must have `NAME: value` lines".to_owned()),
        }
        match self.front.get("agent_steps") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Object(steps))
                if steps
                    .values()
                    .all(|step| step.is_object() || step.is_null() || scalar(step).is_some()) =>
            {
                Ok(())
            }
            Some(_) => Err("`agent_steps` in the front matter must have `STEP: agent` lines".to_owned()),
        }
    }
}

/// Front matter and the rest; nothing without front matter. An end that is missing is none.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = first.len();
    for line in lines {
        let next = end + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[first.len()..end], text[next..].trim_start_matches(['\r', '\n'])));
        }
        end = next;
    }
    None
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first line of what the parser says, without the place, which is told apart.
fn plain_words(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let end = [" at line ", ", line ", " (line "].iter().filter_map(|mark| line.find(mark)).min();
    line[..end.unwrap_or(line.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Result<WorkItem, String> {
        let origin = Origin {
            key: "k".to_owned(),
            name: "name.md".to_owned(),
            location: "/w/name.md".to_owned(),
            provider: "file",
        };
        Document::parse(text)?.into_item(origin)
    }

    /// An item in one line.
    fn check(text: &str, expected: &str) {
        let told = match item(text) {
            Ok(item) => format!(
                "{} | {:?} {:?} {:?} {:?} {:?} | {:?} | {}",
                item.title,
                item.label,
                item.kind,
                item.status,
                item.priority,
                item.tags,
                item.description,
                item.more.0
            ),
            Err(why) => format!("error: {why}"),
        };
        assert_eq!(told.replace("Some(", "(").replace("None", "-"), expected, "{text:?}");
    }

    #[test]
    fn everything_that_front_matter_says_is_taken() {
        let text = "---\ntitle: Fix login\nkey: 42\ntype: bug\nslug: fix\nstatus: open\npriority: 2\n\
            labels: [a, 'b c', 3]\nagent: claude\nagent_steps:\n  planning: {name: opus}\n  reviewing: other\n\
            agent_env: {N: 1, T: x}\nunknown: {deep: [1, 2.5, true, null]}\n---\n\n# Heading\n\nWords\n";
        check(
            text,
            "Fix login | (\"42\") (\"bug\") (\"open\") (2) [\"a\", \"b c\", \"3\"] | \"# Heading\\n\\nWords\\n\" | \
             {\"title\":\"Fix login\",\"key\":42,\"type\":\"bug\",\"slug\":\"fix\",\"status\":\"open\",\"priority\":2,\
             \"labels\":[\"a\",\"b c\",3],\"agent\":\"claude\",\"agent_steps\":{\"planning\":{\"name\":\"opus\"},\
             \"reviewing\":\"other\"},\"agent_env\":{\"N\":\"1\",\"T\":\"x\"},\
             \"unknown\":{\"deep\":[1,2.5,true,null]}}",
        );
    }

    #[test]
    fn without_a_title_the_heading_and_then_the_name_is_one() {
        check(
            "---\ntitle:\n---\nwords\n## Deep\n",
            "Deep | - - - - [] | \"words\\n## Deep\\n\" | {\"title\":null}",
        );
        check("just words\n", "name.md | - - - - [] | \"just words\\n\" | {}");
        check("", "name.md | - - - - [] | \"\" | {}");
    }

    #[test]
    fn a_line_that_only_looks_like_front_matter_is_text() {
        check("---\nno end\n", "name.md | - - - - [] | \"---\\nno end\\n\" | {}");
        check(
            "\n---\ntitle: x\n---\n",
            "name.md | - - - - [] | \"\\n---\\ntitle: x\\n---\\n\" | {}"
                .replace("name.md", "title: x")
                .as_str(),
        );
        check("---\n---\nwords", "name.md | - - - - [] | \"words\" | {}");
        check("---\r\ntitle: T\r\n---\r\nwords\r\n", "T | - - - - [] | \"words\\r\\n\" | {\"title\":\"T\"}");
    }

    #[test]
    fn labels_and_priorities_may_be_words() {
        check(
            "---\nlabels: a, b ,,c\npriority: High\n---\n",
            "name.md | - - - (2) [\"a\", \"b\", \"c\"] | \"\" | \
            {\"labels\":\"a, b ,,c\",\"priority\":\"High\"}",
        );
    }

    #[test]
    fn what_nobody_can_use_is_named() {
        for (front, expected) in [
            ("title: [a]", "`title` in the front matter must be one word or line"),
            ("labels: {a: b}", "`labels` in the front matter must be a list of words"),
            ("labels: [[a]]", "`labels` in the front matter must be a list of words"),
            (
                "priority: 9",
                "`priority` in the front matter is `9`; it must be from 1, the most urgent, to 5",
            ),
            (
                "priority: soon",
                "`priority` in the front matter is `soon`; it must be from 1, the most urgent, to 5",
            ),
            ("agent_env: x", "`agent_env` in the front matter must have `NAME: value` lines"),
            ("agent_env: {A: [x]}", "`agent_env.A` in the front matter must be one line"),
            ("agent_env: {A=B: x}", "`A=B` in `agent_env` in the front matter names no variable"),
            ("agent_steps: [x]", "`agent_steps` in the front matter must have `STEP: agent` lines"),
            ("- a\n- b", "the front matter has no `key: value` lines"),
        ] {
            check(&format!("---\n{front}\n---\n"), &format!("error: {expected}"));
        }
        let broken = item("---\ntitle: ok\nkey: [1\n---\n").unwrap_err();
        assert!(broken.starts_with("the front matter is no YAML, line "), "{broken}");
        let large = item(&format!("---\nx: {}\n---\n", "x".repeat(MAX_FRONT_MATTER))).unwrap_err();
        assert!(large.contains("more than 65536 bytes"), "{large}");
    }

    #[test]
    fn yaml_that_grows_is_an_error_and_not_a_full_memory() {
        let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (name, before) in ('b'..='k').zip('a'..='j') {
            let many = vec![format!("*{before}"); 10].join(",");
            bomb += &format!("{name}: &{name} [{many}]\n");
        }
        let told = item(&format!("---\n{bomb}---\n")).unwrap_err();
        assert!(told.contains("the front matter is no YAML"), "{told}");
    }
}
