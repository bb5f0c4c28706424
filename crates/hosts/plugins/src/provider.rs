//! Providers: a plugin as a place that tasks come from.

mod items;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use loggia_domain::{
    BoxFuture, GuestError, Page, Proposal, Proposed, ProviderAbility, TaskProvider, WorkItem, WorkQuery,
};
use loggia_protocol_mehrhof as wire;
use loggia_protocol_mehrhof::{
    AddComment, AddCommentParams, AddLabels, AttachmentId, BranchParams, CreatePr, CreatePrParams,
    DownloadAttachment, DownloadAttachmentParams, FetchComments, FetchCommentsParams, GetLinkedBranch,
    GetLinkedBranchParams, LabelsParams, LinkBranch, ListFilter, ListParams, ProviderFetch,
    ProviderFetchParams, ProviderList, ProviderMatch, ProviderMatchParams, ProviderParse,
    ProviderParseParams, ProviderParseResult, ProviderSnapshot, ProviderSnapshotParams, ReferenceId,
    RemoveLabels, UnlinkBranch, UpdateStatus, UpdateStatusParams,
};

use crate::error::{Fault, PluginError};
use crate::manifest::{ProviderRole, Role};
use crate::plugin::Plugin;

/// A plugin that brings tasks.
#[derive(Debug, Clone)]
pub struct GuestProvider {
    plugin: Plugin,
    role: ProviderRole,
}

impl GuestProvider {
    /// The provider in a plugin, if it is one.
    pub fn of(plugin: Plugin) -> Option<Self> {
        let role = match &plugin.manifest().role {
            Role::Provider(role) => role.clone(),
            _ => return None,
        };
        Some(Self { plugin, role })
    }

    /// The plugin it is in.
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    async fn parse(&self, input: String) -> Result<String, PluginError> {
        match self.plugin.call::<ProviderParse>(&ProviderParseParams { input }).await? {
            ProviderParseResult::Parsed(id) => Ok(id.0),
            ProviderParseResult::Refused(why) => {
                Err(self.plugin.complain("provider.parse", Fault::Refused(why)))
            }
        }
    }

    async fn list_page(&self, query: WorkQuery) -> Result<Page<WorkItem>, PluginError> {
        let offset = query.cursor.as_deref().map_or(Ok(0), str::parse::<u64>);
        let offset = offset.map_err(|_| {
            let problem = "the place to go on from is none it gave".to_owned();
            self.plugin.fail("provider.list", Fault::NotSent(problem), Vec::new())
        })?;
        // Also where it is empty: the specification shows it always, and scripts count on that.
        let filter = Some(ListFilter { status: query.status, labels: query.tags });
        let limit = Some(query.limit as u64).filter(|limit| *limit > 0);
        let listed =
            self.plugin.call::<ProviderList>(&ListParams { filter, limit, offset: Some(offset) }).await?;
        let shown = listed.items.len() as u64;
        // A page without items would be followed by itself.
        let next = (listed.has_more() && shown > 0).then(|| (offset + shown).to_string());
        let items = listed.items.into_iter().map(|unit| items::listed(unit, &self.role.name)).collect();
        Ok(Page { items, next })
    }

    async fn read_comments(&self, key: String) -> Result<Vec<(String, String)>, PluginError> {
        let params = FetchCommentsParams { work_unit_id: ReferenceId(key) };
        let comments = self.plugin.call::<FetchComments>(&params).await?;
        Ok(comments.comments.into_iter().map(items::comment).collect())
    }

    async fn download(&self, key: String, attachment: String) -> Result<Vec<u8>, PluginError> {
        let params = DownloadAttachmentParams {
            work_unit_id: ReferenceId(key),
            attachment_id: AttachmentId(attachment),
        };
        let answer = self.plugin.call::<DownloadAttachment>(&params).await?;
        BASE64_STANDARD.decode(answer.content.trim()).map_err(|error| {
            let problem = format!("content: no base64: {error}");
            self.plugin.complain("provider.downloadAttachment", Fault::WrongShape(problem))
        })
    }
}

impl TaskProvider for GuestProvider {
    fn name(&self) -> String {
        self.role.name.clone()
    }

    fn schemes(&self) -> Vec<String> {
        self.role.schemes.clone()
    }

    fn priority(&self) -> i64 {
        self.role.priority
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        self.plugin.has(&items::capability(ability))
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async { Ok(self.plugin.start().await?) })
    }

    fn claims(&self, reference: String) -> BoxFuture<'_, Result<bool, GuestError>> {
        Box::pin(async move {
            let params = ProviderMatchParams { input: reference };
            Ok(self.plugin.call::<ProviderMatch>(&params).await?.matches)
        })
    }

    fn resolve(&self, reference: String) -> BoxFuture<'_, Result<String, GuestError>> {
        Box::pin(async move { Ok(self.parse(reference).await?) })
    }

    fn fetch(&self, key: String) -> BoxFuture<'_, Result<WorkItem, GuestError>> {
        Box::pin(async move {
            let params = ProviderFetchParams { id: ReferenceId(key.clone()) };
            let unit = self.plugin.call::<ProviderFetch>(&params).await?;
            Ok(items::fetched(unit, key, &self.role.name))
        })
    }

    fn snapshot(&self, key: String) -> BoxFuture<'_, Result<String, GuestError>> {
        Box::pin(async move {
            let params = ProviderSnapshotParams { id: ReferenceId(key) };
            Ok(self.plugin.call::<ProviderSnapshot>(&params).await?.content)
        })
    }

    fn list(&self, query: WorkQuery) -> BoxFuture<'_, Result<Page<WorkItem>, GuestError>> {
        Box::pin(async move { Ok(self.list_page(query).await?) })
    }

    fn set_status(&self, key: String, status: String) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async move {
            let params = UpdateStatusParams::new(ReferenceId(key), status);
            let documented = UpdateStatusParams::documented;
            self.plugin.call_in_both_spellings::<UpdateStatus>(params, documented).await?;
            Ok(())
        })
    }

    fn comments(&self, key: String) -> BoxFuture<'_, Result<Vec<(String, String)>, GuestError>> {
        Box::pin(async move { Ok(self.read_comments(key).await?) })
    }

    fn comment(&self, key: String, text: String) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async move {
            let params = AddCommentParams::new(ReferenceId(key), text);
            self.plugin.call_in_both_spellings::<AddComment>(params, AddCommentParams::documented).await?;
            Ok(())
        })
    }

    fn set_tags(&self, key: String, tags: Vec<String>, on: bool) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async move {
            let params = LabelsParams { work_unit_id: ReferenceId(key), labels: tags };
            if on {
                self.plugin.call::<AddLabels>(&params).await?;
            } else {
                self.plugin.call::<RemoveLabels>(&params).await?;
            }
            Ok(())
        })
    }

    fn branch(&self, key: String) -> BoxFuture<'_, Result<Option<String>, GuestError>> {
        Box::pin(async move {
            let params = GetLinkedBranchParams { work_unit_id: ReferenceId(key) };
            let answer = self.plugin.call::<GetLinkedBranch>(&params).await?;
            Ok(answer.branch.filter(|branch| !branch.is_empty()))
        })
    }

    fn set_branch(&self, key: String, branch: String, tied: bool) -> BoxFuture<'_, Result<(), GuestError>> {
        Box::pin(async move {
            let params = BranchParams { work_unit_id: ReferenceId(key), branch };
            if tied {
                self.plugin.call::<LinkBranch>(&params).await?;
            } else {
                self.plugin.call::<UnlinkBranch>(&params).await?;
            }
            Ok(())
        })
    }

    fn propose(&self, proposal: Proposal) -> BoxFuture<'_, Result<Proposed, GuestError>> {
        Box::pin(async move {
            let Proposal { key, title, description, from, into, draft } = proposal;
            let params = CreatePrParams {
                work_unit_id: key.map(ReferenceId),
                title,
                description,
                source_branch: from,
                target_branch: into,
                draft: draft.then_some(true),
            };
            let wire::CreatePrResult { id, url, state, number } =
                self.plugin.call::<CreatePr>(&params).await?;
            let label = number.map(|number| format!("#{number}")).or(id);
            Ok(Proposed { label, location: url, state })
        })
    }

    fn attachment(&self, key: String, attachment: String) -> BoxFuture<'_, Result<Vec<u8>, GuestError>> {
        Box::pin(async move { Ok(self.download(key, attachment).await?) })
    }
}
