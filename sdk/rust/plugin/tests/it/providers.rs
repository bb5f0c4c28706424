//! Every method of a provider.

use loggia_plugin_kit::protocol::{
    AttachmentId, Comment, CreatePrParams, CreatePrResult, ListParams, ListResult, ProviderCapability,
    ReferenceId, WorkUnit,
};
use loggia_plugin_kit::{Json, Plugin, PluginError, Provider};

use crate::support::talk;

/// Says what it was asked as the name of a task, or as an error.
#[derive(Default)]
struct Recorder {
    config: String,
}

fn told(words: String) -> PluginError {
    PluginError::new(words)
}

impl Provider for Recorder {
    fn schemes(&self) -> Vec<String> {
        vec!["rec".to_owned()]
    }
    fn capabilities(&self) -> Vec<ProviderCapability> {
        vec![ProviderCapability::Read, ProviderCapability::Snapshot, ProviderCapability::List]
    }
    fn init(&mut self, config: &Json) -> Result<(), PluginError> {
        self.config = config.0.to_string();
        Ok(())
    }
    fn fetch(&mut self, id: &ReferenceId) -> Result<WorkUnit, PluginError> {
        Ok(WorkUnit::new(&id.0, &self.config))
    }
    fn snapshot(&mut self, id: &ReferenceId) -> Result<String, PluginError> {
        Ok(format!("# {}", id.0))
    }
    fn list(&mut self, wanted: &ListParams) -> Result<ListResult, PluginError> {
        let items = vec![WorkUnit::new(format!("{wanted:?}"), "t")];
        Ok(ListResult { items, total: Some(1), has_more: Some(false) })
    }
    fn add_comment(&mut self, id: &ReferenceId, words: &str) -> Result<(), PluginError> {
        Err(told(format!("{} {words}", id.0)))
    }
    fn update_status(&mut self, id: &ReferenceId, status: &str) -> Result<(), PluginError> {
        Err(told(format!("{} {status}", id.0)))
    }
    fn fetch_comments(&mut self, id: &ReferenceId) -> Result<Vec<Comment>, PluginError> {
        Ok(vec![Comment { id: None, body: id.0.clone(), author: None, created_at: None }])
    }
    fn add_labels(&mut self, id: &ReferenceId, labels: &[String]) -> Result<(), PluginError> {
        Err(told(format!("{} {labels:?}", id.0)))
    }
    fn link_branch(&mut self, _id: &ReferenceId, _branch: &str) -> Result<(), PluginError> {
        Ok(())
    }
    fn linked_branch(&mut self, id: &ReferenceId) -> Result<Option<String>, PluginError> {
        Ok(Some(format!("task/{}", id.0)))
    }
    fn create_pr(&mut self, wanted: &CreatePrParams) -> Result<CreatePrResult, PluginError> {
        Ok(CreatePrResult { url: Some(wanted.title.clone()), number: Some(7), ..Default::default() })
    }
    fn download_attachment(&mut self, _: &ReferenceId, _: &AttachmentId) -> Result<Vec<u8>, PluginError> {
        Ok(vec![0, 255])
    }
}

fn check(method: &str, params: &str, expected: &str) {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"provider.{method}","params":{params}}}"#);
    let said = talk(|| Plugin::provider(Recorder::default()), &line);
    assert_eq!(said, format!(r#"{{"jsonrpc":"2.0","id":1,{expected}}}"#));
}

#[test]
fn every_method_reaches_the_provider() {
    check("init", r#"{"config":{"a":1}}"#, r#""result":{"capabilities":["read","snapshot","list"]}"#);
    check("match", r#"{"input":"rec:1"}"#, r#""result":{"matches":true}"#);
    check("match", r#"{"input":"REC:1"}"#, r#""result":{"matches":false}"#);
    check("parse", r#"{"input":"rec:1:2"}"#, r#""result":{"id":"1:2"}"#);
    check("parse", r#"{"input":"rec: "}"#, r#""result":{"error":"`rec: ` names no task"}"#);
    check("fetch", r#"{"id":"1"}"#, r#""result":{"id":"1","title":""}"#);
    check("snapshot", r#"{"id":"1"}"#, r##""result":{"content":"# 1"}"##);
    check(
        "list",
        r#"{"filter":{"status":"open"},"limit":2}"#,
        r#""result":{"items":[{"id":"ListParams { filter: Some(ListFilter { status: Some(\"open\"), labels: [] }), limit: Some(2), offset: None }","title":"t"}],"total":1,"hasMore":false}"#,
    );
    check("fetchComments", r#"{"workUnitId":"1"}"#, r#""result":[{"body":"1"}]"#);
    check("linkBranch", r#"{"workUnitId":"1","branch":"b"}"#, r#""result":{}"#);
    check("getLinkedBranch", r#"{"workUnitId":"1"}"#, r#""result":{"branch":"task/1"}"#);
    check(
        "createPR",
        r#"{"title":"t","description":"","sourceBranch":"a","targetBranch":"b"}"#,
        r#""result":{"url":"t","number":7}"#,
    );
    check("downloadAttachment", r#"{"workUnitId":"1","attachmentId":"2"}"#, r#""result":{"content":"AP8="}"#);
}

#[test]
fn both_spellings_are_read() {
    let expected = |words: &str| format!(r#""error":{{"code":-32000,"message":"{words}"}}"#);
    check("addComment", r#"{"id":"1","comment":"a"}"#, &expected("1 a"));
    check("addComment", r#"{"workUnitId":"1","body":"a"}"#, &expected("1 a"));
    check("updateStatus", r#"{"workUnitId":"1","status":"done"}"#, &expected("1 done"));
    check("addLabels", r#"{"workUnitId":"1","labels":["x"]}"#, &expected(r#"1 [\"x\"]"#));
    check(
        "addComment",
        r#"{"id":"1"}"#,
        r#""error":{"code":-32602,"message":"Invalid params: `comment` is required"}"#,
    );
}

#[test]
fn what_is_not_written_is_a_missing_capability() {
    let expected = r#""error":{"code":-32002,"message":"this provider has no `link_branch`"}"#;
    check("unlinkBranch", r#"{"workUnitId":"1","branch":"b"}"#, expected);
}
