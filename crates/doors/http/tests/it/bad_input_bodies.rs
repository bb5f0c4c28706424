//! Bodies that are too large, too deep, ambiguous, compressed or no JSON at all.

use crate::support::House;

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn nine_mebibytes_are_too_large_announced_or_not() {
    let house = House::new().await;
    let size = 9 * 1024 * 1024;
    // Announced: refused before anything of it is sent.
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\n{JSON}content-length: {size}\r\n\r\n",
        house.token
    );
    assert_eq!(house.send_head(head.as_bytes()).await.problem(), "413 too-large");
    // Not announced: refused where the limit is passed.
    let chunk = " ".repeat(size);
    let body = format!("{size:x}\r\n{chunk}\r\n0\r\n\r\n");
    let headers = format!("{JSON}transfer-encoding: chunked\r\n");
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\n{headers}\r\n",
        house.token
    );
    assert_eq!(house.send(format!("{head}{body}").as_bytes()).await.problem(), "413 too-large");
    house.get("/v1/sessions").await.ok(200);
}

#[tokio::test]
async fn what_is_no_json_is_a_bad_request() {
    let house = House::new().await;
    let deep = |depth: usize| format!(r#"{{"workspace_id":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    for body in [
        "{".to_owned(),
        "not json".to_owned(),
        r#"{"workspace_id":"x"} trailing"#.to_owned(),
        r#"{"workspace_id":"\ud800"}"#.to_owned(),
        r#"{"workspace_id":"\udc00\ud800"}"#.to_owned(),
        r#"{"extra":"\ud800","workspace_id":"x"}"#.to_owned(),
        "{\"workspace_id\":\"\0\"}".to_owned(),
        deep(100),
        deep(100_000),
        r#"{"workspace_id":1e999}"#.to_owned(),
    ] {
        let answer = house.ask("POST", "/v1/sessions", &body).await;
        assert_eq!(answer.problem(), "400 bad-request", "{}", &body[..body.len().min(60)]);
    }
    let latin = house.ask_more("POST", "/v1/sessions", JSON, b"{\"workspace_id\":\"\xe9\"}").await;
    assert_eq!(latin.problem(), "400 bad-request");
}

#[tokio::test]
async fn json_of_the_wrong_shape_is_pointed_at() {
    let house = House::new().await;
    let workspace = house.world.workspace.id;
    for (body, fault) in [
        ("[]".to_owned(), "422 invalid-body "),
        ("null".to_owned(), "422 invalid-body "),
        ("{}".to_owned(), "422 invalid-body "),
        (r#"{"workspace_id":7}"#.to_owned(), "422 invalid-body /workspace_id"),
        (r#"{"workspace_id":"ws_nope"}"#.to_owned(), "422 invalid-body /workspace_id"),
        (
            format!(r#"{{"workspace_id":"{workspace}","budget":{{"max_tokens":-1}}}}"#),
            "422 invalid-body /budget/max_tokens",
        ),
        (format!(r#"{{"workspace_id":"{workspace}","title":"a\u0000b"}}"#), "422 invalid-body /title"),
        // The same key twice, even where it is not known, and even when spelt differently.
        (
            format!(r#"{{"workspace_id":"{workspace}","workspace_id":"{workspace}"}}"#),
            "422 invalid-body /workspace_id",
        ),
        (format!(r#"{{"workspace_id":"{workspace}","x":{{"a":1,"\u0061":2}}}}"#), "422 invalid-body /x/a"),
    ] {
        assert_eq!(house.ask("POST", "/v1/sessions", &body).await.problem(), fault, "{body}");
    }
    assert_eq!(house.get("/v1/sessions").await.json()["sessions"], serde_json::json!([]));
}

#[tokio::test]
async fn only_json_is_read() {
    let house = House::new().await;
    for kind in ["", "content-type: text/plain\r\n", "content-type: application/json; charset=utf-16\r\n"] {
        let answer = house.ask_more("POST", "/v1/sessions", kind, "{}").await;
        assert_eq!(answer.problem(), "415 unsupported-media-type", "{kind}");
    }
    let answer = house.ask_more("POST", "/v1/sessions/import?workspace_id=ws_x", JSON, "{}").await;
    assert_eq!(answer.problem(), "415 unsupported-media-type");
}

#[tokio::test]
async fn compressed_bodies_are_refused_unread() {
    let house = House::new().await;
    // The first bytes of ten megabytes of zeros in a few kilobytes; what follows does not matter.
    let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xed, 0xc1, 1, 1];
    for encoding in ["gzip", "deflate", "br", "zstd", "gzip, identity"] {
        for path in ["/v1/sessions", "/v1/stop", "/v1/pair"] {
            let headers = format!("{JSON}content-encoding: {encoding}\r\n");
            let answer = house.ask_more("POST", path, &headers, bomb).await;
            assert_eq!(answer.problem(), "415 unsupported-media-type", "{encoding} {path}");
        }
    }
    assert!(!house.stop.is_cancelled());
}

#[tokio::test]
async fn a_body_that_breaks_off_disturbs_nobody() {
    use tokio::io::AsyncWriteExt;
    let house = House::new().await;
    for length in ["100", "99999999999999999999999999", "-1"] {
        let mut socket = tokio::net::TcpStream::connect(house.address).await.unwrap();
        let head = format!(
            "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\n{JSON}content-length: {length}\r\n\r\n{{",
            house.token
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        drop(socket);
    }
    house.get("/v1/sessions").await.ok(200);
}
