//! Pairing: a code on one screen, a token on another.

use loggia_http::Peer;

use crate::support::House;

async fn redeem(house: &House, code: &str, name: &str) -> crate::support::Answer {
    let body = format!(r#"{{"code":"{code}","client_name":"{name}"}}"#);
    house.ask_as(None, "POST", "/v1/pair", &body).await
}

#[tokio::test]
async fn a_code_gives_one_client_a_token_that_can_drive() {
    let house = House::new().await;
    let started = house.ask("POST", "/v1/pair/start", "").await.ok(200).json();
    let code = started["code"].as_str().unwrap();
    assert_eq!(code.len(), 8);
    assert!(started["expires_at"].as_str().unwrap().ends_with('Z'));
    // A name that cannot be used does not use the code up.
    assert_eq!(redeem(&house, code, "").await.problem(), "422 invalid-body /client_name");
    let paired = redeem(&house, &code.to_lowercase(), "phone").await.ok(200).json();
    assert_eq!(paired["scope"], "drive");
    let token = paired["token"].as_str().unwrap();
    house.ask_as(Some(token), "GET", "/v1/sessions", "").await.ok(200);
    assert_eq!(house.ask_as(Some(token), "GET", "/v1/tokens", "").await.problem(), "403 forbidden");
    let body = format!(r#"{{"workspace_id":"{}"}}"#, house.world.workspace.id);
    house.ask_as(Some(token), "POST", "/v1/sessions", &body).await.ok(201);
    assert_eq!(redeem(&house, code, "phone").await.problem(), "401 unauthorized");
    assert!(house.get("/v1/tokens").await.body.contains("phone"));
}

#[tokio::test]
async fn five_wrong_codes_end_the_right_one_and_more_mean_waiting() {
    let house = House::new().await;
    let started = house.ask("POST", "/v1/pair/start", "").await.ok(200).json();
    for _ in 0..5 {
        assert_eq!(redeem(&house, "WRONG222", "phone").await.problem(), "401 unauthorized");
    }
    assert_eq!(
        redeem(&house, started["code"].as_str().unwrap(), "phone").await.problem(),
        "401 unauthorized"
    );
    let mut last = redeem(&house, "WRONG222", "phone").await;
    for _ in 0..10 {
        last = redeem(&house, "WRONG222", "phone").await;
    }
    assert_eq!(last.problem(), "429 rate-limited");
}

#[tokio::test]
async fn whoever_is_unknown_cannot_make_the_server_hold_much() {
    let house = House::new().await;
    let body = format!(r#"{{"code":"{}","client_name":"x"}}"#, "A".repeat(10_000));
    assert_eq!(house.ask_as(None, "POST", "/v1/pair", &body).await.problem(), "413 too-large");
}

#[tokio::test]
async fn whoever_has_to_wait_uses_up_no_tries_of_others() {
    let mut house = House::new().await;
    let guess = |number: usize| format!("wrong{number}");
    for number in 0..12 {
        house.ask_as(Some(&guess(number)), "GET", "/v1/sessions", "").await;
    }
    let started = house.ask("POST", "/v1/pair/start", "").await.ok(200).json();
    let code = started["code"].as_str().unwrap();
    for _ in 0..10 {
        let refused = redeem(&house, "WRONG222", "phone").await;
        assert_eq!(refused.problem(), "429 rate-limited");
        assert!(refused.header("retry-after").is_some());
    }
    // Not even with the right code: waiting must not be a way to try.
    assert_eq!(redeem(&house, code, "phone").await.problem(), "429 rate-limited");
    house.seen_as(Peer::Tcp(([10, 0, 0, 2], 1).into())).await;
    let port = house.address.port();
    let body = format!(r#"{{"code":"{code}","client_name":"phone"}}"#);
    let headers = format!("host: localhost:{port}\r\ncontent-type: application/json\r\n");
    house.ask_with("POST", "/v1/pair", &headers, &body).await.ok(200);
}
