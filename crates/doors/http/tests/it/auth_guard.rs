//! Under which name, from which page.

use crate::support::{Builder, House};

#[tokio::test]
async fn a_foreign_name_is_not_answered() {
    let house = House::new().await;
    let port = house.address.port();
    for host in [format!("localhost:{port}"), "desk.local".to_owned(), "[::1]:80".to_owned()] {
        house.ask_more("GET", "/v1/sessions", &format!("host: {host}\r\n"), "").await.ok(200);
    }
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1:3199"] {
        let refused = house.ask_more("GET", "/v1/sessions", &format!("host: {host}\r\n"), "").await;
        assert_eq!(refused.problem(), "403 forbidden", "{host}");
        // Not even about its health.
        let refused = house.ask_with("GET", "/v1/health", &format!("host: {host}\r\n"), "").await;
        assert_eq!(refused.problem(), "403 forbidden", "{host}");
    }
    let twice = house.ask_more("GET", "/v1/sessions", "host: localhost\r\nhost: localhost\r\n", "").await;
    assert_eq!(twice.problem(), "400 bad-request");
    let token = &house.token;
    let none = format!("GET /v1/sessions HTTP/1.0\r\nauthorization: Bearer {token}\r\n\r\n");
    assert_eq!(house.send(none.as_bytes()).await.problem(), "400 bad-request");
}

#[tokio::test]
async fn only_our_own_page_and_listed_ones_may_ask() {
    let house = Builder::new().origin("https://editor.example").start("").await;
    let own = format!("origin: http://{}\r\n", house.address);
    house.ask_more("GET", "/v1/sessions", &own, "").await.ok(200);
    let listed =
        house.ask_more("GET", "/v1/sessions", "origin: https://editor.example\r\n", "").await.ok(200);
    assert_eq!(listed.header("access-control-allow-origin"), Some("https://editor.example"));
    assert_eq!(listed.header("vary"), Some("origin"));
    for origin in ["https://evil.example", "null", "http://editor.example"] {
        let refused = house.ask_more("GET", "/v1/sessions", &format!("origin: {origin}\r\n"), "").await;
        assert_eq!(refused.problem(), "403 forbidden", "{origin}");
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn a_listed_page_may_ask_whether_it_may_ask() {
    let house = Builder::new().origin("https://editor.example").start("").await;
    let headers = "origin: https://editor.example\r\naccess-control-request-method: PUT\r\n";
    let answer = house.ask_with("OPTIONS", "/v1/models/current", headers, "").await.ok(204);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://editor.example"));
    assert!(answer.header("access-control-allow-headers").unwrap().contains("authorization"));
    let foreign = headers.replace("editor", "evil");
    assert_eq!(
        house.ask_with("OPTIONS", "/v1/models/current", &foreign, "").await.problem(),
        "403 forbidden"
    );
}

#[tokio::test]
async fn whoever_is_refused_is_told_which_setting_would_let_them_in() {
    let house = House::new().await;
    let detail = async |headers: &str| {
        let refused = house.ask_more("GET", "/v1/sessions", headers, "").await;
        assert_eq!(refused.problem(), "403 forbidden");
        refused.json()["detail"].as_str().unwrap().to_owned()
    };
    let host = detail("host: den.local:3199\r\n").await;
    assert!(host.contains("`server.hosts`") && host.contains("`den.local` to"), "{host}");
    let origin = detail("origin: https://editor.example:8443\r\n").await;
    assert!(
        origin.contains("`server.origins`") && origin.contains("`https://editor.example:8443` to"),
        "{origin}"
    );
    // What cannot be told from other pages is not offered.
    let null = detail("origin: null\r\n").await;
    assert!(!null.contains("server.origins"), "{null}");
}

#[tokio::test]
async fn our_own_page_has_the_scheme_of_the_connection() {
    let mut house = House::new().await;
    house.served_plainly().await;
    let address = house.address;
    house.ask_more("GET", "/v1/sessions", &format!("origin: http://{address}\r\n"), "").await.ok(200);
    let encrypted = format!("origin: https://{address}\r\n");
    let refused = house.ask_more("GET", "/v1/sessions", &encrypted, "").await;
    assert_eq!(refused.problem(), "403 forbidden");
    // A proxy that takes TLS off says so.
    let forwarded = format!("{encrypted}x-forwarded-proto: https\r\n");
    house.ask_more("GET", "/v1/sessions", &forwarded, "").await.ok(200);
    // A page cannot: it would have to ask first.
    let asks = format!(
        "{encrypted}access-control-request-method: POST\r\naccess-control-request-headers: x-forwarded-proto\r\n"
    );
    let refused = house.ask_with("OPTIONS", "/v1/sessions", &asks, "").await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn the_setting_that_was_told_lets_the_page_in() {
    let house = Builder::new().origin("https://editor.example:8443").start("").await;
    house.ask_more("GET", "/v1/sessions", "origin: https://editor.example:8443\r\n", "").await.ok(200);
}
