//! Hundreds of requests nobody in their right mind would send: none of them is our fault.

use loggia_http::Peer;
use loggia_protocol_agent_server::{ENDPOINTS, Endpoint, Verb};

use crate::support::{Builder, House};

/// Few enough to be quick, from a fixed start so that a failure can be seen again.
const REQUESTS: u64 = 600;

/// A small generator of numbers: what is random here need not be good, only varied.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }
}

const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"];

const WORDS: &[&str] = &[
    "\"\"",
    "\"x\"",
    "0",
    "-1",
    "1",
    "4294967296",
    "18446744073709551615",
    "1e308",
    "1.5",
    "null",
    "true",
    "[]",
    "{}",
    "\"ask\"",
    "\"full\"",
    "\"allow\"",
    "\"../..\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"scripted\"",
    "\"model\"",
    "\"created\"",
    "\"read\"",
    "\"src/**\"",
    "\"[\"",
    "\"rm -rf /\"",
    "\"/\"",
];

const KEYS: &[&str] = &[
    "workspace_id",
    "title",
    "model",
    "provider",
    "model_name",
    "options",
    "policy_preset",
    "budget",
    "max_tokens",
    "max_cost_usd",
    "max_steps",
    "root_path",
    "name",
    "revision",
    "preset",
    "rules",
    "tool",
    "path",
    "command",
    "decision",
    "risk",
    "examples",
    "matches",
    "sandbox",
    "limits",
    "changes",
    "type",
    "file_path",
    "seq",
    "steps",
    "code",
    "client_name",
    "scope",
    "policy",
    "required",
    "approval_timeout_s",
];

fn value(dice: &mut Dice, depth: usize) -> String {
    match dice.roll(if depth == 0 { 1 } else { 4 }) {
        2 => {
            let items: Vec<String> = (0..dice.roll(4)).map(|_| value(dice, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        3 => object(dice, depth - 1),
        _ => dice.pick(WORDS).to_owned(),
    }
}

fn object(dice: &mut Dice, depth: usize) -> String {
    let fields: Vec<String> = (0..dice.roll(7))
        .map(|_| {
            let key = dice.pick(KEYS);
            format!("\"{key}\":{}", value(dice, depth))
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn method(dice: &mut Dice, endpoint: &Endpoint) -> &'static str {
    match endpoint.verb {
        _ if dice.chance(25) => dice.pick(METHODS),
        Verb::Get | Verb::WebSocket => "GET",
        Verb::Post => "POST",
        Verb::Put => "PUT",
        Verb::Delete => "DELETE",
    }
}

async fn address(dice: &mut Dice, house: &House, endpoint: &Endpoint) -> String {
    let mut path = endpoint.path.to_owned();
    let workspace = house.world.workspace.id.to_string();
    for (name, good) in [("{workspace_id}", workspace), ("{session_id}", String::new())] {
        if path.contains(name) {
            let good = if name == "{session_id}" { house.session().await } else { good };
            let id = if dice.chance(80) { good } else { dice.pick(&["..", "%2f", "x", "%00"]).to_owned() };
            path = path.replace(name, &id);
        }
    }
    path = path.replace("{token_id}", "tok_x").replace("{name}", "x");
    let mut query = Vec::new();
    for key in ["limit", "cursor", "after", "q", "kind", "workspace_id"] {
        if dice.chance(10) {
            let text = dice.pick(&[
                "",
                "0",
                "1",
                "-1",
                "x",
                "text",
                "symbol",
                "main",
                "%00",
                "99999999999999999999",
                "%ff",
            ]);
            query.push(format!("{key}={text}"));
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

#[tokio::test]
async fn nothing_a_client_sends_is_our_fault() {
    let house = Builder::new().peer(Peer::SameUser).start("").await;
    let mut dice = Dice(42);
    let mut good = 0;
    for number in 0..REQUESTS {
        let endpoint = ENDPOINTS[dice.roll(ENDPOINTS.len())];
        let method = method(&mut dice, &endpoint);
        let path = address(&mut dice, &house, &endpoint).await;
        let mut body = if dice.chance(70) { object(&mut dice, 3).into_bytes() } else { Vec::new() };
        if dice.chance(10) && !body.is_empty() {
            let place = dice.roll(body.len());
            body[place] = u8::try_from(dice.roll(256)).unwrap();
        }
        let mut headers = String::new();
        if dice.chance(90) && !body.is_empty() {
            headers.push_str("content-type: application/json\r\n");
        }
        if dice.chance(10) {
            headers.push_str(dice.pick(&[
                "if-match: \"0\"\r\n",
                "if-match: *\r\n",
                "range: bytes=0-1\r\n",
                "content-type: application/x-ndjson\r\n",
                "upgrade: websocket\r\n",
                "expect: 100-continue\r\n",
                "origin: null\r\n",
                "accept: x/y\r\n",
            ]));
        }
        let answer = house.ask_with(method, &path, &headers, &body).await;
        let request = format!("{number}: {method} {path} {}", String::from_utf8_lossy(&body));
        assert!(answer.status < 500, "{request}\n{answer:?}");
        if answer.status >= 400 && method != "HEAD" {
            answer.problem();
        }
        good += u64::from(answer.status < 300);
    }
    assert!(good > REQUESTS / 10, "too few requests came through to show anything: {good}");
    assert_eq!(house.ask_as(None, "GET", "/v1/health", "").await.json()["status"], "ok");
}
