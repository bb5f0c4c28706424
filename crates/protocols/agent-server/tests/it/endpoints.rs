use std::collections::BTreeSet;

use loggia_jsonrpc::Origin;
use loggia_protocol_agent_server::{BODIES, ENDPOINTS, Endpoint, STRICT_BODIES, Scope, Verb};

/// The endpoints of one origin, one per line: verb, path, scope.
fn listing(origin: Origin) -> String {
    let line = |endpoint: &Endpoint| {
        let scope = match endpoint.scope {
            None => "open",
            Some(Scope::Read) => "read",
            Some(Scope::Drive) => "drive",
            Some(Scope::Admin) => "admin",
        };
        format!("{:?} {} {scope}", endpoint.verb, endpoint.path)
    };
    let lines: Vec<_> = ENDPOINTS.iter().filter(|endpoint| endpoint.origin == origin).map(line).collect();
    lines.join("\n")
}

#[test]
fn every_endpoint_of_the_specification_is_listed_with_its_scope() {
    let expected = "\
Get /v1/health open
Get /v1/workspaces read
Post /v1/workspaces/register admin
Get /v1/workspaces/{workspace_id} read
Get /v1/workspaces/{workspace_id}/policy read
Put /v1/workspaces/{workspace_id}/policy admin
Post /v1/workspaces/{workspace_id}/index/rebuild drive
Post /v1/workspaces/{workspace_id}/index/refresh drive
Post /v1/workspaces/{workspace_id}/index/incremental drive
Get /v1/workspaces/{workspace_id}/index/status read
Post /v1/sessions drive
Get /v1/sessions read
Get /v1/sessions/{session_id} read
Delete /v1/sessions/{session_id} drive
Get /v1/models read
Get /v1/models/current read
Put /v1/models/current admin
WebSocket /v1/sessions/{session_id}/stream read";
    assert_eq!(listing(Origin::Specification), expected);
}

#[test]
fn endpoints_beyond_the_specification_are_listed_with_their_scope() {
    let expected = "\
Get /v1/sessions/{session_id}/events read
Post /v1/sessions/{session_id}/rename drive
Post /v1/sessions/{session_id}/model drive
Post /v1/sessions/{session_id}/fork drive
Post /v1/sessions/{session_id}/undo drive
Post /v1/sessions/{session_id}/redo drive
Post /v1/sessions/{session_id}/continue drive
Post /v1/sessions/{session_id}/cancel drive
Get /v1/sessions/{session_id}/export read
Post /v1/sessions/import drive
Post /v1/workspaces/{workspace_id}/policy/check read
Get /v1/workspaces/{workspace_id}/index/skipped read
Post /v1/workspaces/{workspace_id}/index/pause drive
Post /v1/workspaces/{workspace_id}/index/resume drive
Post /v1/workspaces/{workspace_id}/index/cancel drive
Delete /v1/workspaces/{workspace_id}/index drive
Get /v1/workspaces/{workspace_id}/search read
Get /v1/workspaces/{workspace_id}/references read
Get /v1/workspaces/{workspace_id}/trust read
Post /v1/workspaces/{workspace_id}/trust admin
Delete /v1/workspaces/{workspace_id}/trust admin
Get /v1/plugins read
Post /v1/plugins/install admin
Get /v1/plugins/{plugin} read
Delete /v1/plugins/{plugin} admin
Post /v1/plugins/{plugin}/enable admin
Post /v1/plugins/{plugin}/disable admin
Post /v1/plugins/{plugin}/validate admin
Get /v1/tasks read
Post /v1/tasks drive
Post /v1/tasks/auto drive
Get /v1/tasks/browse drive
Get /v1/tasks/{task_id} read
Post /v1/tasks/{task_id}/plan drive
Post /v1/tasks/{task_id}/implement drive
Post /v1/tasks/{task_id}/review drive
Post /v1/tasks/{task_id}/resume drive
Post /v1/tasks/{task_id}/finish drive
Post /v1/tasks/{task_id}/abandon drive
Post /v1/tasks/{task_id}/note drive
Post /v1/tasks/{task_id}/answer drive
Post /v1/tasks/{task_id}/metadata drive
Post /v1/tasks/{task_id}/undo drive
Post /v1/tasks/{task_id}/redo drive
Post /v1/tasks/{task_id}/override admin
Get /v1/messages read
Post /v1/messages drive
Get /v1/messages/schema read
Get /v1/messages/{message_id} read
Delete /v1/messages/{message_id} drive
Get /v1/messages/{message_id}/text read
Put /v1/messages/{message_id}/text drive
Get /v1/messages/{message_id}/value read
Post /v1/messages/{message_id}/patch drive
Post /v1/messages/{message_id}/undo drive
Post /v1/messages/{message_id}/redo drive
Post /v1/messages/{message_id}/save drive
Get /v1/messages/{message_id}/validation read
Get /v1/extensions read
Post /v1/extensions/start admin
Get /v1/extensions/{extension} read
Get /v1/extensions/{extension}/logs read
Post /v1/extensions/{extension}/restart admin
Post /v1/extensions/{extension}/stop admin
Post /v1/extensions/{extension}/run drive
Post /v1/pair/start admin
Post /v1/pair open
Post /v1/page/code admin
Get /v1/page/session read
Post /v1/page/session open
Delete /v1/page/session read
Get /v1/tokens admin
Post /v1/tokens admin
Delete /v1/tokens/{token_id} admin
Delete /v1/models/current admin
Post /v1/models/test drive
Get /v1/doctor admin
Post /v1/stop admin
WebSocket /v1/stream read
Get /v1/openapi.json read
Get /v1/schemas/{name} read
Get /metrics read
Get / open
Get /page/{file} open";
    assert_eq!(listing(Origin::Peers), expected);
}

#[test]
fn no_endpoint_is_listed_twice() {
    let mut seen = BTreeSet::new();
    for endpoint in ENDPOINTS {
        assert!(seen.insert((format!("{:?}", endpoint.verb), endpoint.path)), "{endpoint:?}");
    }
}

#[test]
fn endpoints_and_bodies_name_each_other() {
    let bodies: BTreeSet<&str> = BODIES.iter().chain(STRICT_BODIES).map(|body| body.name).collect();
    let used: BTreeSet<&str> =
        ENDPOINTS.iter().flat_map(|endpoint| [endpoint.request, endpoint.answer]).flatten().collect();
    assert_eq!(used.difference(&bodies).collect::<Vec<_>>(), Vec::<&&str>::new());
    // A problem is every endpoint's bad answer and is named by none.
    assert_eq!(bodies.difference(&used).copied().collect::<Vec<_>>(), ["problem"]);
}

#[test]
fn only_what_changes_something_takes_a_body() {
    for endpoint in ENDPOINTS {
        let reads = matches!(endpoint.verb, Verb::Get | Verb::Delete | Verb::WebSocket);
        assert!(!(reads && endpoint.request.is_some()), "{endpoint:?}");
    }
}
