//! Places that tasks come from.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loggia_jsonrpc::{Json, Method, NoParams};
use loggia_protocol_mehrhof as p;
use loggia_protocol_mehrhof::{ProviderCapability, ProviderParseResult, ReferenceId, WorkUnit};
use serde_json::value::RawValue;

use crate::error::PluginError;
use crate::plugin::{needed, reply};

/// A place that tasks come from. What is beyond `schemes` and `fetch` can be left as it is; what is written belongs into
/// `capabilities`.
pub trait Provider {
    /// What references begin with, without the colon.
    fn schemes(&self) -> Vec<String>;

    /// What it can do besides fetching tasks.
    fn capabilities(&self) -> Vec<ProviderCapability> {
        Vec::new()
    }

    /// Called first, with what the user configured, an object.
    ///
    /// # Errors
    /// When it cannot work with that.
    fn init(&mut self, config: &Json) -> Result<(), PluginError> {
        let _ = config;
        Ok(())
    }

    /// Whether a reference is one of ours. As it is, those with our schemes are.
    ///
    /// # Errors
    /// When that cannot be told.
    fn matches(&mut self, input: &str) -> Result<bool, PluginError> {
        let scheme = input.split_once(':').map(|(scheme, _)| scheme);
        Ok(scheme.is_some_and(|scheme| self.schemes().iter().any(|ours| ours == scheme)))
    }

    /// Which task a reference means, or why none. As it is, what follows the scheme.
    ///
    /// # Errors
    /// When that cannot be told; a reference that means nothing is no error.
    fn parse(&mut self, input: &str) -> Result<ProviderParseResult, PluginError> {
        let rest = match input.split_once(':') {
            Some((scheme, rest)) if self.schemes().iter().any(|ours| ours == scheme) => rest,
            _ => input,
        };
        Ok(match rest.trim() {
            "" => ProviderParseResult::Refused(format!("`{input}` names no task")),
            _ => ProviderParseResult::Parsed(ReferenceId(rest.to_owned())),
        })
    }

    /// The task that `parse` named.
    ///
    /// # Errors
    /// [`PluginError::not_found`] if there is none.
    fn fetch(&mut self, id: &ReferenceId) -> Result<WorkUnit, PluginError>;

    /// The task's text, for keeping; usually Markdown.
    ///
    /// # Errors
    /// As `fetch`.
    fn snapshot(&mut self, id: &ReferenceId) -> Result<String, PluginError> {
        let _ = id;
        Err(lacks("snapshot"))
    }

    /// Tasks; sparse ones will do.
    ///
    /// # Errors
    /// When they cannot be listed.
    fn list(&mut self, wanted: &p::ListParams) -> Result<p::ListResult, PluginError> {
        let _ = wanted;
        Err(lacks("list"))
    }

    /// Says something about a task.
    ///
    /// # Errors
    /// When it was not said.
    fn add_comment(&mut self, id: &ReferenceId, words: &str) -> Result<(), PluginError> {
        let _ = (id, words);
        Err(lacks("comment"))
    }

    /// Moves a task on.
    ///
    /// # Errors
    /// When it was not moved.
    fn update_status(&mut self, id: &ReferenceId, status: &str) -> Result<(), PluginError> {
        let _ = (id, status);
        Err(lacks("update_status"))
    }

    /// What was said about a task.
    ///
    /// # Errors
    /// As `fetch`.
    fn fetch_comments(&mut self, id: &ReferenceId) -> Result<Vec<p::Comment>, PluginError> {
        let _ = id;
        Err(lacks("fetch_comments"))
    }

    /// Adds labels.
    ///
    /// # Errors
    /// When they were not added.
    fn add_labels(&mut self, id: &ReferenceId, labels: &[String]) -> Result<(), PluginError> {
        let _ = (id, labels);
        Err(lacks("manage_labels"))
    }

    /// Removes labels.
    ///
    /// # Errors
    /// When they were not removed.
    fn remove_labels(&mut self, id: &ReferenceId, labels: &[String]) -> Result<(), PluginError> {
        let _ = (id, labels);
        Err(lacks("manage_labels"))
    }

    /// Ties a task to a branch.
    ///
    /// # Errors
    /// When it was not tied.
    fn link_branch(&mut self, id: &ReferenceId, branch: &str) -> Result<(), PluginError> {
        let _ = (id, branch);
        Err(lacks("link_branch"))
    }

    /// Unties them.
    ///
    /// # Errors
    /// When they were not untied.
    fn unlink_branch(&mut self, id: &ReferenceId, branch: &str) -> Result<(), PluginError> {
        let _ = (id, branch);
        Err(lacks("link_branch"))
    }

    /// The branch a task is tied to.
    ///
    /// # Errors
    /// As `fetch`.
    fn linked_branch(&mut self, id: &ReferenceId) -> Result<Option<String>, PluginError> {
        let _ = id;
        Err(lacks("link_branch"))
    }

    /// Proposes a branch for merging.
    ///
    /// # Errors
    /// When it was not proposed.
    fn create_pr(&mut self, wanted: &p::CreatePrParams) -> Result<p::CreatePrResult, PluginError> {
        let _ = wanted;
        Err(lacks("create_pr"))
    }

    /// The bytes of an attachment.
    ///
    /// # Errors
    /// As `fetch`.
    fn download_attachment(
        &mut self,
        id: &ReferenceId,
        attachment: &p::AttachmentId,
    ) -> Result<Vec<u8>, PluginError> {
        let _ = (id, attachment);
        Err(lacks("download_attachment"))
    }
}

fn lacks(capability: &str) -> PluginError {
    PluginError::missing_capability(format!("this provider has no `{capability}`"))
}

pub(crate) fn answer(
    provider: &mut dyn Provider,
    method: &str,
    params: &str,
) -> Result<Box<RawValue>, PluginError> {
    match method {
        p::ProviderInit::NAME => reply::<p::ProviderInit>(params, |given| {
            provider.init(&given.config)?;
            let mut capabilities = vec![ProviderCapability::Read];
            capabilities
                .extend(provider.capabilities().into_iter().filter(|word| *word != ProviderCapability::Read));
            Ok(p::ProviderInitResult { capabilities: Some(capabilities) })
        }),
        p::ProviderMatch::NAME => reply::<p::ProviderMatch>(params, |given| {
            Ok(p::ProviderMatchResult { matches: provider.matches(&given.input)? })
        }),
        p::ProviderParse::NAME => reply::<p::ProviderParse>(params, |given| provider.parse(&given.input)),
        p::ProviderFetch::NAME => reply::<p::ProviderFetch>(params, |given| provider.fetch(&given.id)),
        p::ProviderSnapshot::NAME => reply::<p::ProviderSnapshot>(params, |given| {
            Ok(p::ProviderSnapshotResult { content: provider.snapshot(&given.id)?, metadata: None })
        }),
        p::ProviderList::NAME => reply::<p::ProviderList>(params, |given| provider.list(&given)),
        _ => answer_more(provider, method, params),
    }
}

/// The methods that only existing peers define, in either spelling.
fn answer_more(
    provider: &mut dyn Provider,
    method: &str,
    params: &str,
) -> Result<Box<RawValue>, PluginError> {
    match method {
        p::AddComment::NAME => reply::<p::AddComment>(params, |given| {
            provider.add_comment(needed(given.task(), "id")?, needed(given.words(), "comment")?)?;
            Ok(p::AddCommentResult::Unspecified(NoParams {}))
        }),
        p::UpdateStatus::NAME => reply::<p::UpdateStatus>(params, |given| {
            provider.update_status(needed(given.task(), "id")?, &given.status)?;
            Ok(NoParams {})
        }),
        p::FetchComments::NAME => reply::<p::FetchComments>(params, |given| {
            Ok(p::FetchCommentsResult { comments: provider.fetch_comments(&given.work_unit_id)? })
        }),
        p::AddLabels::NAME => reply::<p::AddLabels>(params, |given| {
            provider.add_labels(&given.work_unit_id, &given.labels)?;
            Ok(NoParams {})
        }),
        p::RemoveLabels::NAME => reply::<p::RemoveLabels>(params, |given| {
            provider.remove_labels(&given.work_unit_id, &given.labels)?;
            Ok(NoParams {})
        }),
        p::LinkBranch::NAME => reply::<p::LinkBranch>(params, |given| {
            provider.link_branch(&given.work_unit_id, &given.branch)?;
            Ok(NoParams {})
        }),
        p::UnlinkBranch::NAME => reply::<p::UnlinkBranch>(params, |given| {
            provider.unlink_branch(&given.work_unit_id, &given.branch)?;
            Ok(NoParams {})
        }),
        p::GetLinkedBranch::NAME => reply::<p::GetLinkedBranch>(params, |given| {
            Ok(p::GetLinkedBranchResult { branch: provider.linked_branch(&given.work_unit_id)? })
        }),
        p::CreatePr::NAME => reply::<p::CreatePr>(params, |given| provider.create_pr(&given)),
        p::DownloadAttachment::NAME => reply::<p::DownloadAttachment>(params, |given| {
            let bytes = provider.download_attachment(&given.work_unit_id, &given.attachment_id)?;
            Ok(p::DownloadAttachmentResult { content: STANDARD.encode(bytes) })
        }),
        _ => Err(PluginError::method_not_found(method)),
    }
}
