//! The page: its files, and how a browser is let in and out.

use std::time::Duration;

use loggia_http::Peer;
use loggia_protocol_agent_server::PAGE_CODE_LIFETIME;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::stream_support::{Client, Transcript, says};
use crate::support::{Answer, Builder, House};

/// A browser that has our page open: it sends its origin, and its cookie once it has one.
struct Browser<'a> {
    house: &'a House,
    cookie: String,
}

impl<'a> Browser<'a> {
    fn new(house: &'a House) -> Self {
        Self { house, cookie: String::new() }
    }

    /// One that has been let in with a code of this scope.
    async fn let_in(house: &'a House, scope: &str) -> Self {
        let mut browser = Self::new(house);
        browser.trade(&code(house, scope).await, "browser").await.ok(200);
        browser
    }

    fn origin(&self) -> String {
        format!("origin: http://{}\r\n", self.house.address)
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask_from(&self.origin(), method, path, body).await
    }

    async fn ask_from(&self, headers: &str, method: &str, path: &str, body: &str) -> Answer {
        let json = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        let headers = format!("{headers}{}{json}", self.cookie);
        self.house.ask_with(method, path, &headers, body).await
    }

    /// Trades a code, and keeps the cookie as browsers do.
    async fn trade(&mut self, code: &str, name: &str) -> Answer {
        let body = json!({"code": code, "client_name": name}).to_string();
        let answer = self.ask("POST", "/v1/page/session", &body).await;
        if let Some(cookie) = answer.header("set-cookie") {
            self.cookie = format!("cookie: {}\r\n", cookie.split(';').next().unwrap());
        }
        answer
    }

    /// Opens a session's stream as scripts do: with nothing but the subprotocol.
    async fn stream(&self, session: &str, origin: Option<String>) -> Result<Client, Error> {
        let address = self.house.address;
        let url = format!("ws://{address}/v1/sessions/{session}/stream?after=0");
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", "loggia.v1".parse().unwrap());
        let cookie = self.cookie.trim().strip_prefix("cookie: ").unwrap();
        headers.insert("cookie", cookie.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert("origin", origin.parse().unwrap());
        }
        let socket = TcpStream::connect(address).await.unwrap();
        let (socket, _): (WebSocketStream<TcpStream>, _) =
            tokio_tungstenite::client_async(request, socket).await?;
        Ok(Client { socket, transcript: Transcript::default(), last: 0 })
    }

    fn own(&self) -> Option<String> {
        Some(format!("http://{}", self.house.address))
    }
}

/// A code, made by an admin.
async fn code(house: &House, scope: &str) -> String {
    let made = house.ask("POST", "/v1/page/code", &json!({ "scope": scope }).to_string()).await.ok(200);
    made.json()["code"].as_str().unwrap().to_owned()
}

fn refused(outcome: Result<Client, Error>) -> u16 {
    match outcome {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the stream was opened"),
    }
}

#[tokio::test]
async fn the_page_is_served_to_anybody_under_strict_rules() {
    let house = House::new().await;
    for (path, media) in
        [("/", "text/html"), ("/page/main.js", "text/javascript"), ("/page/page.css", "text/css")]
    {
        let answer = house.ask_as(None, "GET", path, "").await.ok(200);
        assert!(answer.header("content-type").unwrap().starts_with(media), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-cache"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        let known = format!("if-none-match: {}\r\n", answer.header("etag").unwrap());
        let again = house.ask_with("GET", path, &known, "").await.ok(304);
        assert!(again.body.is_empty() && again.header("content-security-policy").is_some());
        house.ask_with("GET", path, "if-none-match: \"other\"\r\n", "").await.ok(200);
    }
    for path in ["/page/nothing.js", "/page/..%2fmain.rs", "/page/index.html"] {
        assert_eq!(house.ask_as(None, "GET", path, "").await.problem(), "404 not-found", "{path}");
    }
}

#[tokio::test]
async fn a_code_lets_one_browser_in_as_what_it_grants() {
    let house = House::new().await;
    let code = code(&house, "drive").await;
    assert_eq!(code.len(), 64);
    let mut browser = Browser::new(&house);
    // A name that cannot be used does not use the code up.
    assert_eq!(browser.trade(&code, " ").await.problem(), "422 invalid-body /client_name");
    let traded = browser.trade(&code, "sofa").await.ok(200);
    let cookie = traded.header("set-cookie").unwrap();
    assert!(cookie.contains("; Path=/v1; HttpOnly; SameSite=Strict; Max-Age="), "{cookie}");
    assert!(!cookie.contains("Secure"), "{cookie}");
    let secret = cookie.split(['=', ';']).nth(1).unwrap();
    assert!(secret.starts_with("loggia_") && !traded.body.contains(secret), "{}", traded.body);
    assert_eq!((&traded.json()["name"], &traded.json()["scope"]), (&json!("sofa"), &json!("drive")));

    let who = browser.ask("GET", "/v1/page/session", "").await.ok(200).json();
    assert_eq!((&who["name"], &who["expires_at"]), (&json!("sofa"), &traded.json()["expires_at"]));
    browser.ask("GET", "/v1/sessions", "").await.ok(200);
    let body = format!(r#"{{"workspace_id":"{}"}}"#, house.world.workspace.id);
    browser.ask("POST", "/v1/sessions", &body).await.ok(201);
    assert_eq!(browser.ask("GET", "/v1/tokens", "").await.problem(), "403 forbidden");

    let mut second = Browser::new(&house);
    assert_eq!(second.trade(&code, "thief").await.problem(), "401 unauthorized");
    // It is among the tokens, with its end, and not its secret.
    let listed = house.get("/v1/tokens").await.ok(200);
    assert!(listed.body.contains("sofa") && !listed.body.contains(secret), "{}", listed.body);
    assert!(listed.body.contains("expires_at"), "{}", listed.body);
}

#[tokio::test]
async fn a_code_without_a_scope_may_drive_and_only_an_admin_makes_one() {
    let house = House::new().await;
    let made = house.ask("POST", "/v1/page/code", "").await.ok(200).json();
    let mut browser = Browser::new(&house);
    let traded = browser.trade(made["code"].as_str().unwrap(), "x").await.ok(200).json();
    assert_eq!(traded["scope"], "drive");
    assert_eq!(browser.ask("POST", "/v1/page/code", "").await.problem(), "403 forbidden");
}

#[tokio::test]
async fn a_code_is_too_old_after_two_minutes() {
    let house = House::new().await;
    let (early, late) = (code(&house, "drive").await, code(&house, "drive").await);
    tokio::time::pause();
    tokio::time::advance(PAGE_CODE_LIFETIME - Duration::from_secs(1)).await;
    tokio::time::resume();
    Browser::new(&house).trade(&early, "x").await.ok(200);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
    assert_eq!(Browser::new(&house).trade(&late, "x").await.problem(), "401 unauthorized");
}

#[tokio::test]
async fn guessing_codes_means_waiting_and_the_right_one_still_works() {
    let house = House::new().await;
    let right = code(&house, "drive").await;
    let mut browser = Browser::new(&house);
    let mut refused = Vec::new();
    for _ in 0..15 {
        refused.push(browser.trade(&"0".repeat(64), "x").await);
    }
    assert_eq!(refused[0].problem(), "401 unauthorized");
    let last = refused.last().unwrap();
    assert_eq!(last.problem(), "429 rate-limited");
    assert!(last.header("retry-after").is_some());
    browser.trade(&right, "x").await.ok(200);
}

#[tokio::test]
async fn a_pairing_code_lets_a_phone_in_that_may_drive() {
    let house = House::new().await;
    let started = house.ask("POST", "/v1/pair/start", "").await.ok(200).json();
    let code = started["code"].as_str().unwrap();
    let mut phone = Browser::new(&house);
    // Codes of pages are no tries at this one.
    for _ in 0..5 {
        phone.trade(&"0".repeat(64), "phone").await;
    }
    let typed = format!("{} {}", code[..4].to_lowercase(), &code[4..]);
    let traded = phone.trade(&typed, "phone").await.ok(200).json();
    assert_eq!((&traded["name"], &traded["scope"]), (&json!("phone"), &json!("drive")));
    phone.ask("GET", "/v1/sessions", "").await.ok(200);
    assert_eq!(Browser::new(&house).trade(code, "phone").await.problem(), "401 unauthorized");
}

#[tokio::test]
async fn whoever_has_to_wait_neither_uses_up_nor_ends_a_pairing_code() {
    let mut house = House::new().await;
    for _ in 0..12 {
        house.ask_as(Some("wrong"), "GET", "/v1/sessions", "").await;
    }
    let started = house.ask("POST", "/v1/pair/start", "").await.ok(200).json();
    let pairing = started["code"].as_str().unwrap();
    let page = code(&house, "drive").await;
    for _ in 0..10 {
        let refused = Browser::new(&house).trade("WRONG222", "x").await;
        assert_eq!(refused.problem(), "429 rate-limited");
        assert!(refused.header("retry-after").is_some());
    }
    let refused = Browser::new(&house).trade(pairing, "x").await;
    assert_eq!((refused.problem().as_str(), refused.header("set-cookie")), ("429 rate-limited", None));
    // A code that nobody can guess is no try.
    Browser::new(&house).trade(&page, "x").await.ok(200);
    house.seen_as(Peer::Tcp(([10, 0, 0, 2], 1).into())).await;
    Browser::new(&house).trade(pairing, "phone").await.ok(200);
}

#[tokio::test]
async fn what_a_browser_keeps_is_no_token_for_programs() {
    let house = House::new().await;
    let browser = Browser::let_in(&house, "admin").await;
    let secret = browser.cookie.trim().split_once('=').unwrap().1;
    let refused = house.ask_as(Some(secret), "GET", "/v1/tokens", "").await;
    assert_eq!(refused.problem(), "401 unauthorized");
    let upgrade = format!(
        "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: loggia.v1, bearer.{secret}\r\n"
    );
    let session = house.session().await;
    let path = format!("/v1/sessions/{session}/stream");
    assert_eq!(house.ask_with("GET", &path, &upgrade, "").await.problem(), "401 unauthorized");
    browser.ask("GET", "/v1/tokens", "").await.ok(200);
    // Nor is a program's token a cookie.
    let (name, _) = browser.cookie.trim().split_once('=').unwrap();
    let copied = Browser { house: &house, cookie: format!("{name}={}\r\n", house.token) };
    assert_eq!(copied.ask("GET", "/v1/tokens", "").await.problem(), "401 unauthorized");
}

#[tokio::test]
async fn a_cookie_is_given_to_our_own_page_only() {
    let house = Builder::new().origin("https://editor.example").start("").await;
    let code = code(&house, "drive").await;
    let body = json!({ "code": code }).to_string();
    let json = "content-type: application/json\r\n";
    for origin in ["", "origin: https://editor.example\r\n", "origin: https://evil.example\r\n"] {
        let refused = house.ask_with("POST", "/v1/page/session", &format!("{origin}{json}"), &body).await;
        assert_eq!(refused.problem(), "403 forbidden", "{origin}");
        assert_eq!(refused.header("set-cookie"), None);
    }
    // And none of them has used it up. Over TLS, it comes back over TLS only.
    let encrypted = format!("origin: https://{}\r\n{json}", house.address);
    let traded = house.ask_with("POST", "/v1/page/session", &encrypted, &body).await.ok(200);
    assert!(traded.header("set-cookie").unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn with_a_cookie_only_our_own_page_changes_anything() {
    let house = Builder::new().origin("https://editor.example").start("").await;
    let browser = Browser::let_in(&house, "admin").await;
    let body = format!(r#"{{"workspace_id":"{}"}}"#, house.world.workspace.id);
    for origin in [
        "",
        "origin: null\r\n",
        "origin: https://evil.example\r\n",
        "origin: https://editor.example\r\n",
        // Another port of this machine, to which browsers send the same cookies.
        "origin: http://127.0.0.1:8080\r\n",
    ] {
        let refused = browser.ask_from(origin, "POST", "/v1/sessions", &body).await;
        assert_eq!(refused.problem(), "403 forbidden", "{origin}");
    }
    assert_eq!(house.get("/v1/sessions").await.json()["sessions"], json!([]));
    // Looking is harmless, unless another page looks.
    browser.ask_from("", "GET", "/v1/sessions", "").await.ok(200);
    for site in ["same-site", "cross-site"] {
        let headers = format!("sec-fetch-site: {site}\r\n");
        let refused = browser.ask_from(&headers, "GET", "/v1/sessions", "").await;
        assert_eq!(refused.problem(), "403 forbidden", "{site}");
    }
    // A token in the header works from a listed page, cookie or not.
    let headers = format!("origin: https://editor.example\r\nauthorization: Bearer {}\r\n", house.token);
    browser.ask_from(&headers, "POST", "/v1/sessions", &body).await.ok(201);
}

#[tokio::test]
async fn a_browser_drives_a_session_with_its_cookie_alone() {
    let house = Builder::new().start(&says(&["Hello, browser."])).await;
    let browser = Browser::let_in(&house, "drive").await;
    let session = house.session().await;
    let mut client = browser.stream(&session, browser.own()).await.unwrap();
    client.hello("page", &["delta_only"]).await;
    client.prompt("Hello").await;
    assert_eq!(client.until_done().await["message"], "Hello, browser.");
}

#[tokio::test]
async fn a_stream_is_not_opened_for_another_page() {
    let house = House::new().await;
    let browser = Browser::let_in(&house, "drive").await;
    let session = house.session().await;
    for origin in [None, Some("http://127.0.0.1:8080".to_owned()), Some("https://evil.example".to_owned())] {
        assert_eq!(refused(browser.stream(&session, origin.clone()).await), 403, "{origin:?}");
    }
}

#[tokio::test]
async fn revoking_a_browser_ends_its_stream_and_its_cookie() {
    let house = House::new().await;
    let browser = Browser::let_in(&house, "drive").await;
    let session = house.session().await;
    let mut client = browser.stream(&session, browser.own()).await.unwrap();
    client.hello("page", &[]).await;
    let tokens = house.get("/v1/tokens").await.json();
    let is_it = |token: &&Value| token["name"] == "browser";
    let id = tokens["tokens"].as_array().unwrap().iter().find(is_it).unwrap()["token_id"].clone();
    house.ask("DELETE", &format!("/v1/tokens/{}", id.as_str().unwrap()), "").await.ok(204);
    assert_eq!(client.until_closed().await, Some(4401));
    assert_eq!(browser.ask("GET", "/v1/sessions", "").await.problem(), "401 unauthorized");
    assert_eq!(refused(browser.stream(&session, browser.own()).await), 401);
}

#[tokio::test]
async fn leaving_ends_the_cookie_and_no_token_that_was_made_to_last() {
    let house = House::new().await;
    let browser = Browser::let_in(&house, "read").await;
    // Not for another page to decide.
    assert_eq!(browser.ask_from("", "DELETE", "/v1/page/session", "").await.problem(), "403 forbidden");
    let left = browser.ask("DELETE", "/v1/page/session", "").await.ok(204);
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(browser.ask("GET", "/v1/page/session", "").await.problem(), "401 unauthorized");
    // Whoever came otherwise is told that nothing ends.
    let refused = house.ask("DELETE", "/v1/page/session", "").await;
    assert_eq!(refused.problem(), "409 conflict");
    assert!(refused.body.contains("DELETE /v1/tokens/") && refused.header("set-cookie").is_none());
    let who = house.get("/v1/page/session").await.ok(200).json();
    assert_eq!(who, json!({"name": "first", "scope": "admin"}));
}
