//! Addresses and headers that lead astray.

use crate::support::House;

#[tokio::test]
async fn ids_that_cannot_be_ids_are_things_that_are_not_there() {
    let house = House::new().await;
    for id in [
        "..",
        ".",
        "%2e%2e",
        "..%2f..%2fetc%2fpasswd",
        "ses_..%2f..",
        "%00",
        "ses_%00",
        "%ff%fe",
        "%ed%a0%80",
        "%",
        "%zz",
        "ses_0192F7C0A1B27C3D8E4F5A6B7C8D9E0F",
        "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f",
        "ws_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f",
        "tok_x",
        "'%20OR%201=1",
        &"x".repeat(5000),
    ] {
        for path in [
            format!("/v1/sessions/{id}"),
            format!("/v1/sessions/{id}/events"),
            format!("/v1/sessions/{id}/export"),
            format!("/v1/workspaces/{id}"),
            format!("/v1/workspaces/{id}/policy"),
            format!("/v1/workspaces/{id}/search?q=x"),
        ] {
            assert_eq!(house.get(&path).await.problem(), "404 not-found", "{path}");
        }
        for path in [format!("/v1/sessions/{id}"), format!("/v1/tokens/{id}")] {
            assert_eq!(house.ask("DELETE", &path, "").await.problem(), "404 not-found", "{path}");
        }
        let path = format!("/v1/workspaces/{id}/policy");
        let put = house.ask("PUT", &path, r#"{"revision":0,"preset":"full"}"#).await;
        assert_eq!(put.problem(), "404 not-found", "{path}");
    }
    let policies = house.world.data().join("policies");
    assert!(!policies.exists() || std::fs::read_dir(policies).unwrap().next().is_none());
}

#[tokio::test]
async fn queries_that_cannot_be_read_are_bad_requests() {
    let house = House::new().await;
    let session = house.session().await;
    for path in [
        "/v1/sessions?limit=-1".to_owned(),
        "/v1/sessions?limit=0".to_owned(),
        "/v1/workspaces?limit=0".to_owned(),
        "/v1/sessions?limit=many".to_owned(),
        "/v1/sessions?limit=99999999999999999999999".to_owned(),
        "/v1/sessions?limit=1&limit=2".to_owned(),
        "/v1/sessions?cursor=nonsense".to_owned(),
        "/v1/sessions?workspace_id=..%2f..".to_owned(),
        "/v1/workspaces?cursor=ws_x".to_owned(),
        format!("/v1/sessions/{session}/events?after=-5"),
        format!("/v1/sessions/{session}/events?after=0.5"),
        format!("/v1/sessions/{session}/events?after=+1"),
        format!("/v1/sessions/{session}/events?after=%2B1"),
        format!("/v1/sessions/{session}/events?after=%201"),
        format!("/v1/sessions/{session}/events?after="),
        format!("/v1/sessions/{session}/stream?after=+1"),
        "/v1/sessions?limit=%2B1".to_owned(),
        "/v1/workspaces?limit=+1".to_owned(),
        house.workspace_path("/search?q=x&limit=%2B1"),
        house.workspace_path("/search"),
        house.workspace_path("/search?q="),
        house.workspace_path("/search?q=x&kind=smell"),
        house.workspace_path("/search?q=a%0Ab"),
        house.workspace_path(&format!("/search?q={}", "x".repeat(5000))),
    ] {
        assert_eq!(house.get(&path).await.problem(), "400 bad-request", "{path}");
    }
    // Too much is asked for: as much as there is.
    house.get("/v1/sessions?limit=18446744073709551615").await.ok(200);
    house.get(&format!("/v1/sessions/{session}/events?after=18446744073709551615&limit=9")).await.ok(200);
}

#[tokio::test]
async fn ranges_are_ignored() {
    let house = House::new().await;
    let session = house.session().await;
    let whole = house.get(&format!("/v1/sessions/{session}/export")).await.ok(200);
    for range in
        ["bytes=0-0", "bytes=5-1", "bytes=-99999999999999999999", "bytes=0-,0-,0-,0-,0-,0-", "lines=1-2", "x"]
    {
        let headers = format!("range: {range}\r\nif-range: \"x\"\r\n");
        let answer = house.ask_more("GET", &format!("/v1/sessions/{session}/export"), &headers, "").await;
        assert_eq!((answer.status, &answer.body), (200, &whole.body), "{range}");
    }
}

#[tokio::test]
async fn a_head_is_an_answer_without_its_body() {
    let house = House::new().await;
    let answer = house.ask("HEAD", "/v1/sessions", "").await.ok(200);
    assert_eq!(answer.body, "");
    assert_eq!(house.ask_as(None, "HEAD", "/v1/sessions", "").await.status, 401);
}

#[tokio::test]
async fn another_method_is_answered_with_those_there_are() {
    let house = House::new().await;
    let session = house.session().await;
    for (method, path, allowed) in [
        ("PATCH", "/v1/sessions".to_owned(), "GET"),
        ("DELETE", "/v1/stream".to_owned(), "GET"),
        ("POST", format!("/v1/sessions/{session}/stream"), "GET"),
    ] {
        let answer = house.ask(method, &path, "").await;
        assert_eq!(answer.status, 405, "{method} {path}");
        assert!(answer.header("allow").is_some_and(|methods| methods.contains(allowed)), "{answer:?}");
    }
}
