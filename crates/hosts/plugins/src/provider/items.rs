//! Work units of the protocol as work items of ours.

use loggia_domain::{JsonText, ProviderAbility, WorkItem};
use loggia_protocol_mehrhof::{Comment, ProviderCapability, WorkUnit};

/// A unit that was fetched with a key, which is the only name its provider knows it by.
pub(super) fn fetched(unit: WorkUnit, key: String, provider: &str) -> WorkItem {
    // Written by a type we own, which is always JSON.
    let more = serde_json::to_string(&unit).unwrap_or_else(|_| "{}".to_owned());
    let title = unit.headline().to_owned();
    let source = unit.source.unwrap_or_default();
    WorkItem {
        key,
        label: unit.external_key.filter(|text| !text.is_empty()),
        kind: unit.task_type.filter(|text| !text.is_empty()),
        title,
        description: unit.description.unwrap_or_default(),
        status: unit.status.filter(|text| !text.is_empty()),
        priority: unit.priority,
        tags: unit.labels,
        location: source.url.or(source.reference),
        provider: unit.provider.or_else(|| Some(provider.to_owned())),
        more: JsonText(more),
    }
}

/// A unit of a list. What it is called where it is from is more likely to be understood again than its internal name.
pub(super) fn listed(unit: WorkUnit, provider: &str) -> WorkItem {
    let key = unit.external_id.clone().filter(|text| !text.is_empty()).unwrap_or_else(|| unit.id.0.clone());
    fetched(unit, key, provider)
}

/// Who said what.
pub(super) fn comment(comment: Comment) -> (String, String) {
    let author = comment.author.unwrap_or_default();
    let named = [author.name, author.username, author.email, author.id];
    let name = named.into_iter().flatten().find(|text| !text.is_empty());
    (name.unwrap_or_else(|| "somebody".to_owned()), comment.body)
}

/// The protocol's word for an ability.
pub(super) fn capability(ability: ProviderAbility) -> ProviderCapability {
    match ability {
        ProviderAbility::Snapshot => ProviderCapability::Snapshot,
        ProviderAbility::List => ProviderCapability::List,
        ProviderAbility::Comment => ProviderCapability::Comment,
        ProviderAbility::Comments => ProviderCapability::FetchComments,
        ProviderAbility::Status => ProviderCapability::UpdateStatus,
        ProviderAbility::Tags => ProviderCapability::ManageLabels,
        ProviderAbility::Branches => ProviderCapability::LinkBranch,
        ProviderAbility::Propose => ProviderCapability::CreatePr,
        ProviderAbility::Attachments => ProviderCapability::DownloadAttachment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> WorkUnit {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_sparse_unit_is_an_item_all_the_same() {
        let item = fetched(unit(r#"{"id":"abc"}"#), "K-1".to_owned(), "jira");
        assert_eq!((item.key.as_str(), item.title.as_str(), item.description.as_str()), ("K-1", "abc", ""));
        assert_eq!((item.provider.as_deref(), item.more.0.as_str()), (Some("jira"), r#"{"id":"abc"}"#));
    }

    #[test]
    fn a_listed_unit_is_known_by_its_external_name() {
        assert_eq!(listed(unit(r#"{"id":"abc","externalId":"https://x/1"}"#), "p").key, "https://x/1");
        assert_eq!(listed(unit(r#"{"id":"PROJ-1","title":"Bug"}"#), "p").key, "PROJ-1");
    }

    #[test]
    fn a_comment_has_a_name_however_little_is_known() {
        let read = |text| comment(serde_json::from_str(text).unwrap());
        assert_eq!(read(r#"{"body":"b"}"#), ("somebody".to_owned(), "b".to_owned()));
        assert_eq!(read(r#"{"body":"b","author":{"name":"","username":"u"}}"#).0, "u");
    }
}
