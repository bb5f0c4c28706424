//! Endpoints as tests play them: one answer per connection, over real sockets.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const KEY: &str = "sk-very-secret";

/// Plays these answers (status line with headers, body) in order, the last one for ever; gives its address and what it
/// was asked.
async fn server(answers: Vec<(&'static str, String)>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    tokio::spawn(async move {
        for turn in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !is_whole(&request) {
                let mut piece = [0; 4096];
                let count = stream.read(&mut piece).await.unwrap();
                assert_ne!(count, 0, "the request breaks off");
                request.extend_from_slice(&piece[..count]);
            }
            heard.lock().unwrap().push(String::from_utf8(request).unwrap());
            let (head, body) = &answers[turn.min(answers.len() - 1)];
            let length = body.len();
            let text =
                format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            // Who has read enough goes away.
            let _ = stream.write_all(text.as_bytes()).await;
        }
    });
    (address, asked)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    body.len() >= length.parse::<usize>().unwrap()
}

fn ok(body: impl Into<String>) -> (&'static str, String) {
    ("200 OK", body.into())
}

fn settings(protocol: Protocol, url: &str) -> EndpointSettings {
    let mut settings = EndpointSettings::new(protocol, "small");
    (settings.url, settings.key) = (url.to_owned(), Some(Secret::new(KEY)));
    settings
}

/// Opens an endpoint that answers with two numbers, and then asks it for vectors of these texts.
async fn asked_for(count: usize, answer: (&'static str, String)) -> Result<Vec<Vec<f32>>, EmbedderError> {
    let (url, _) = server(vec![ok(r#"{"embeddings":[[1,0]]}"#), answer]).await;
    let endpoint = Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap();
    endpoint.embed(vec!["text".to_owned(); count]).await
}

async fn fault(count: usize, answer: (&'static str, String), words: &str) {
    let told = asked_for(count, answer).await.unwrap_err().to_string();
    assert!(told.contains(words), "{told}");
    assert!(!told.contains(KEY), "{told}");
}

#[tokio::test]
async fn openai_vectors_come_in_the_order_of_the_texts() {
    let one = r#"{"data":[{"index":0,"embedding":[1,0]}]}"#;
    let two = r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}]}"#;
    let (url, asked) = server(vec![ok(one), ok(two)]).await;
    let endpoint = Endpoint::connect(settings(Protocol::OpenAi, &format!("{url}/v1/"))).await.unwrap();
    assert_eq!((endpoint.dimensions(), endpoint.identity().as_str()), (2, "openai:small:2"));
    let vectors = endpoint.embed(vec!["first".to_owned(), "second".to_owned()]).await.unwrap();
    assert_eq!(vectors, [[1.0, 0.5], [0.0, 1.0]]);
    let asked = asked.lock().unwrap();
    assert!(asked[1].starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", asked[1]);
    assert!(asked[1].contains("authorization: Bearer sk-very-secret\r\n"), "{}", asked[1]);
    assert!(asked[1].ends_with(r#"{"model":"small","input":["first","second"]}"#), "{}", asked[1]);
    assert!(!format!("{endpoint:?}").contains(KEY));
}

#[tokio::test]
async fn ollama_is_asked_for_eight_texts_at_once() {
    let many = |count: usize| ok(format!(r#"{{"embeddings":{:?}}}"#, vec![[1, 0]; count]));
    let (url, asked) = server(vec![many(1), many(8), many(3)]).await;
    let endpoint = Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap();
    assert_eq!(endpoint.embed(vec!["text".to_owned(); 11]).await.unwrap().len(), 11);
    assert_eq!(endpoint.embed(Vec::new()).await.unwrap().len(), 0);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    assert!(asked[0].starts_with("POST /api/embed HTTP/1.1\r\n"), "{}", asked[0]);
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again() {
    for busy in ["429 Busy\r\nretry-after: 0", "503 Busy\r\nretry-after: 0.01"] {
        let (url, asked) =
            server(vec![(busy, String::new()), (busy, String::new()), ok(r#"{"embeddings":[[1,0]]}"#)]).await;
        Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap();
        assert_eq!(asked.lock().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn an_endpoint_that_stays_busy_is_not_asked_for_ever() {
    let (url, asked) = server(vec![("429 Busy\r\nretry-after: 0", format!("slow down, {KEY}"))]).await;
    let told = Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap_err().to_string();
    assert!(told.ends_with("answers with 429: slow down, [key]"), "{told}");
    assert_eq!(asked.lock().unwrap().len(), 4);
    let (url, asked) = server(vec![("429 Busy\r\nretry-after: 3600", String::new())]).await;
    Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap_err();
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn answers_that_are_no_vectors_are_told_apart() {
    fault(1, ok("<html>"), "expected value").await;
    fault(2, ok(r#"{"embeddings":[[1,0]]}"#), "1 for 2 texts").await;
    fault(1, ok(r#"{"embeddings":[[1,0,0]]}"#), "one has 3 numbers, not 2").await;
    fault(1, ok(r#"{"embeddings":[[1,null]]}"#), "invalid type: null").await;
    fault(1, ok(r#"{"embeddings":[[1,1e39]]}"#), "number out of range").await;
    fault(1, ok(" ".repeat(MAX_ANSWER_BYTES + 1)), "more than 8388608 bytes").await;
    fault(1, ("401 No", format!("wrong key {KEY}")), "answers with 401: wrong key [key]").await;
    fault(1, ("302 Found\r\nlocation: http://127.0.0.1:1/", String::new()), "answers with 302").await;
}

#[tokio::test]
async fn openai_vectors_with_wrong_numbers_are_refused() {
    let (url, _) = server(vec![ok(r#"{"data":[{"index":1,"embedding":[1,0]}]}"#)]).await;
    let told = Endpoint::connect(settings(Protocol::OpenAi, &url)).await.unwrap_err().to_string();
    assert!(told.contains("not those of the texts"), "{told}");
}

#[tokio::test]
async fn who_is_silent_or_not_there_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut hurried = settings(Protocol::Ollama, &url);
    hurried.limit = Duration::from_millis(100);
    assert!(matches!(Endpoint::connect(hurried).await, Err(EmbedError::Silent(_))));
    drop(listener);
    let told = Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap_err();
    assert!(matches!(told, EmbedError::Unreachable(..)), "{told}");
}

#[tokio::test]
async fn an_address_that_names_a_user_is_refused_and_not_repeated() {
    for url in ["http://me:password@host/", "no address", "ftp://host/"] {
        let told = Endpoint::connect(settings(Protocol::OpenAi, url)).await.unwrap_err();
        assert!(matches!(told, EmbedError::Address(_)), "{told}");
        assert!(!told.to_string().contains("password"), "{told}");
    }
}

/// What an endpoint comes to that takes another text and then gives these answers to two, and how often it was asked.
async fn outcome(answers: Vec<(&'static str, String)>) -> (Result<Vec<Vec<f32>>, EmbedderError>, usize) {
    let first = [ok(r#"{"embeddings":[[1,0]]}"#)];
    let (url, asked) = server(first.into_iter().chain(answers).collect()).await;
    let endpoint = Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap();
    let made = endpoint.embed(vec!["one".to_owned(), "two".to_owned()]).await;
    let count = asked.lock().unwrap().len() - 1;
    (made, count)
}

#[tokio::test]
async fn texts_are_refused_by_an_endpoint_that_takes_others() {
    let fine = || ok(r#"{"embeddings":[[1,0]]}"#);
    for (head, body) in [
        ("400 Bad Request", "too many tokens"),
        ("403 Forbidden", "a filter"),
        ("413 Too Large", "512 tokens at most"),
        ("500 Error", "unsupported value: NaN"),
        ("200 OK", r#"{"embeddings":[[1,0],[1,null]]}"#),
    ] {
        let (made, asked) = outcome(vec![(head, body.to_owned()), fine()]).await;
        assert!(matches!(made, Err(EmbedderError::Refused(_))), "{head}: {made:?}");
        assert_eq!(asked, 2, "{head}");
    }
    // It takes nothing at all.
    for head in ["400 Bad Request", "402 Payment Required", "403 Forbidden", "500 Error"] {
        let (made, asked) = outcome(vec![(head, "no".to_owned())]).await;
        assert!(matches!(made, Err(EmbedderError::Unavailable(_))), "{head}: {made:?}");
        assert_eq!(asked, 2, "{head}");
    }
    // It is not about the texts.
    for head in ["401 No", "404 Not Found", "408 Timeout", "502 Bad Gateway"] {
        let (made, asked) = outcome(vec![(head, "no".to_owned()), fine()]).await;
        assert!(matches!(made, Err(EmbedderError::Unavailable(_))), "{head}: {made:?}");
        assert_eq!(asked, 1, "{head}");
    }
}

#[tokio::test]
async fn long_texts_are_cut_and_one_that_is_refused_alone_is_sent_once_more_and_shorter() {
    let fine = || ok(r#"{"embeddings":[[1,0]]}"#);
    let too_long = || ("400 Bad Request", "too long".to_owned());
    let (url, asked) = server(vec![fine(), fine(), too_long(), fine(), too_long(), too_long(), fine()]).await;
    let endpoint = Endpoint::connect(settings(Protocol::Ollama, &url)).await.unwrap();
    // The bounds are in the middle of a character.
    let long = "é".repeat(MAX_TEXT_BYTES);
    let text = format!("x{long}");
    assert!(endpoint.embed(vec![text.clone()]).await.is_ok());
    assert!(endpoint.embed(vec![text.clone()]).await.is_ok());
    let refused = endpoint.embed(vec![text]).await;
    assert!(matches!(refused, Err(EmbedderError::Refused(_))), "{refused:?}");
    let sent = |request: &String| request.matches('é').count();
    let sent: Vec<usize> = asked.lock().unwrap().iter().map(sent).collect();
    let (cut, short) = (MAX_TEXT_BYTES / 2 - 1, SHORT_TEXT_BYTES / 2 - 1);
    assert_eq!(sent, [0, cut, cut, short, cut, short, 0]);
}
