//! Tasks from Markdown files: `starter-name:hello` is the file `tasks/hello.md` in the plugin's directory.

use std::path::PathBuf;
use std::process::ExitCode;

use loggia_plugin_kit::protocol::{
    ListParams, ListResult, ProviderCapability, ProviderParseResult, ReferenceId, Source, WorkUnit,
};
use loggia_plugin_kit::{Json, Plugin, PluginError, Provider, run};

const NAME: &str = "starter-name";

struct Tasks {
    directory: PathBuf,
}

impl Tasks {
    fn file(&self, id: &ReferenceId) -> Result<PathBuf, PluginError> {
        let file = self.directory.join(format!("{}.md", id.0));
        // What was not made by `parse` may lead anywhere.
        let found = file.parent() == Some(&*self.directory) && file.is_file();
        found.then_some(file).ok_or_else(|| PluginError::not_found(format!("there is no task `{}`", id.0)))
    }
}

impl Provider for Tasks {
    fn schemes(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn capabilities(&self) -> Vec<ProviderCapability> {
        vec![ProviderCapability::Snapshot, ProviderCapability::List]
    }

    fn init(&mut self, config: &Json) -> Result<(), PluginError> {
        // Whatever people write below `plugins.config.starter-name` of their configuration.
        if let Some(directory) = config.0.get("directory").and_then(|value| value.as_str()) {
            self.directory = PathBuf::from(directory);
        }
        Ok(())
    }

    fn parse(&mut self, input: &str) -> Result<ProviderParseResult, PluginError> {
        let id = input.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(':')).unwrap_or(input);
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        Ok(if !id.is_empty() && id.chars().all(plain) {
            ProviderParseResult::Parsed(ReferenceId(id.to_owned()))
        } else {
            ProviderParseResult::Refused(format!("`{id}` is no name of a task: letters, digits, `-` and `_`"))
        })
    }

    fn fetch(&mut self, id: &ReferenceId) -> Result<WorkUnit, PluginError> {
        let text = self.snapshot(id)?;
        let (title, description) = text.split_once('\n').unwrap_or((&text, ""));
        Ok(WorkUnit {
            external_key: Some(id.0.clone()),
            provider: Some(NAME.to_owned()),
            description: Some(description.trim().to_owned()),
            status: Some("open".to_owned()),
            task_type: Some("task".to_owned()),
            source: Some(Source { reference: Some(format!("{NAME}:{}", id.0)), url: None }),
            ..WorkUnit::new(&id.0, title.trim_start_matches(['#', ' ']).trim())
        })
    }

    fn snapshot(&mut self, id: &ReferenceId) -> Result<String, PluginError> {
        Ok(std::fs::read_to_string(self.file(id)?)?)
    }

    fn list(&mut self, wanted: &ListParams) -> Result<ListResult, PluginError> {
        let entries = std::fs::read_dir(&self.directory)?.flatten().map(|entry| entry.path());
        let markdown = entries.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        let mut ids: Vec<ReferenceId> =
            markdown.filter_map(|path| Some(ReferenceId(path.file_stem()?.to_str()?.to_owned()))).collect();
        ids.sort();
        let offset = usize::try_from(wanted.offset.unwrap_or(0)).unwrap_or(usize::MAX);
        let limit = usize::try_from(wanted.limit.unwrap_or(20)).unwrap_or(usize::MAX);
        let page: Vec<&ReferenceId> = ids.iter().skip(offset).take(limit).collect();
        let has_more = offset.saturating_add(page.len()) < ids.len();
        let items = page.into_iter().map(|id| self.fetch(id)).collect::<Result<_, _>>()?;
        Ok(ListResult { items, total: Some(ids.len() as u64), has_more: Some(has_more) })
    }
}

fn main() -> ExitCode {
    // A host starts a plugin in the plugin's own directory.
    run(Plugin::provider(Tasks { directory: PathBuf::from("tasks") }))
}
