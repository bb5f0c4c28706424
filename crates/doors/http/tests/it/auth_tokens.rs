//! Tokens: shown, made, revoked, guessed.

use loggia_http::Peer;
use serde_json::json;

use crate::support::{Builder, House};

#[tokio::test]
async fn the_first_token_opens_everything_and_no_token_nothing() {
    let house = House::new().await;
    house.get("/v1/tokens").await.ok(200);
    let refused = house.ask_as(None, "GET", "/v1/sessions", "").await;
    assert_eq!(refused.problem(), "401 unauthorized");
    assert_eq!(refused.header("www-authenticate"), Some("Bearer realm=\"loggia\""));
    // Health says nothing that needs one.
    house.ask_as(None, "GET", "/v1/health", "").await.ok(200);
}

#[tokio::test]
async fn unknown_wrong_and_garbled_tokens_get_the_same_answer() {
    let house = House::new().await;
    let absent = house.ask_as(None, "GET", "/v1/sessions", "").await;
    let mut almost = house.token.clone();
    let last = if almost.pop() == Some('0') { '1' } else { '0' };
    almost.push(last);
    for header in [
        format!("authorization: Bearer {almost}\r\n"),
        "authorization: Bearer x\r\n".to_owned(),
        "authorization: Basic dXNlcjpwYXNz\r\n".to_owned(),
        format!("authorization: Bearer {0}\r\nauthorization: Bearer {0}\r\n", house.token),
    ] {
        let refused = house.ask_with("GET", "/v1/sessions", &header, "").await;
        assert_eq!((refused.status, &refused.body), (401, &absent.body), "{header}");
    }
}

#[tokio::test]
async fn a_token_is_made_used_listed_and_revoked() {
    let house = House::new().await;
    let made = house.ask("POST", "/v1/tokens", r#"{"name":"my editor","scope":"read"}"#).await.ok(201).json();
    let token = made["token"].as_str().unwrap().to_owned();
    let id = made["info"]["token_id"].as_str().unwrap().to_owned();
    assert_eq!((&made["info"]["name"], &made["info"]["scope"]), (&json!("my editor"), &json!("read")));
    assert!(made["info"].get("last_used_at").is_none());
    house.ask_as(Some(&token), "GET", "/v1/sessions", "").await.ok(200);
    let list = house.get("/v1/tokens").await.ok(200);
    assert!(!list.body.contains(&token) && !list.body.contains(&house.token), "{}", list.body);
    let list = list.json();
    let listed = list["tokens"].as_array().unwrap().iter().find(|listed| listed["token_id"] == *id).unwrap();
    assert!(listed["last_used_at"].is_string(), "{listed}");
    let path = format!("/v1/tokens/{id}");
    assert_eq!(house.ask("DELETE", &path, "").await.ok(204).body, "");
    assert_eq!(house.ask_as(Some(&token), "GET", "/v1/sessions", "").await.problem(), "401 unauthorized");
    assert_eq!(house.ask("DELETE", &path, "").await.problem(), "404 not-found");
    for (body, fault) in [
        (r#"{"name":"","scope":"read"}"#, "422 invalid-body /name"),
        (r#"{"name":"a\u0000","scope":"read"}"#, "422 invalid-body /name"),
        (r#"{"name":"a","scope":"root"}"#, "422 invalid-body /scope"),
    ] {
        assert_eq!(house.ask("POST", "/v1/tokens", body).await.problem(), fault);
    }
}

#[tokio::test]
async fn guessing_is_slowed_down_and_the_right_token_still_works() {
    let house = House::new().await;
    let mut refused = Vec::new();
    for number in 0..15 {
        refused.push(house.ask_as(Some(&format!("wrong{number}")), "GET", "/v1/sessions", "").await);
    }
    assert_eq!(refused[0].problem(), "401 unauthorized");
    let last = refused.last().unwrap();
    assert_eq!(last.problem(), "429 rate-limited");
    assert!(last.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // Others on the same machine are not locked out by it.
    house.get("/v1/sessions").await.ok(200);
}

#[tokio::test]
async fn a_process_of_the_same_user_needs_no_token_but_a_wrong_one_is_wrong() {
    let house = Builder::new().peer(Peer::SameUser).start("").await;
    // There is no name to check on a Unix socket either.
    house.ask_with("GET", "/v1/tokens", "host: anything\r\n", "").await.ok(200);
    let read = house.token("read").await;
    assert_eq!(house.ask_as(Some(&read), "GET", "/v1/tokens", "").await.problem(), "403 forbidden");
    assert_eq!(house.ask_as(Some("wrong"), "GET", "/v1/tokens", "").await.problem(), "401 unauthorized");
}

#[tokio::test]
async fn a_token_in_the_address_is_refused_with_a_hint() {
    let house = House::new().await;
    for path in [
        format!("/v1/sessions?token={}", house.token),
        format!("/v1/sessions?access_token={}", house.token),
        format!("/v1/sessions?x={}", house.token),
        format!("/v1/sessions/{}", house.token),
    ] {
        let refused = house.get(&path).await;
        assert_eq!(refused.problem(), "400 bad-request", "{path}");
        assert!(refused.json()["detail"].as_str().unwrap().contains("authorization: Bearer"), "{refused:?}");
    }
}
