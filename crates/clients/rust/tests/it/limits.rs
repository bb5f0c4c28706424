//! Answers that are larger than anybody needs.

use loggia_client::Error;
use tokio::io::AsyncWriteExt;

use crate::play::Play;

#[tokio::test]
async fn an_answer_that_says_it_is_too_large_is_refused_unread() {
    let play = Play::begin().await;
    let server = async {
        let mut request = play.request().await;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 1099511627776\r\n\r\n";
        request.connection.write_all(head.as_bytes()).await.unwrap();
        request
    };
    let (models, _request) = tokio::join!(play.client.models(), server);
    assert!(matches!(models, Err(Error::TooLarge { .. })));
}

#[tokio::test]
async fn an_answer_that_never_ends_is_refused_at_the_limit() {
    let play = Play::begin().await;
    let server = async {
        let mut request = play.request().await;
        request.connection.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
        let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
        let mut written = 0_u64;
        while request.connection.write_all(chunk.as_bytes()).await.is_ok() {
            written += 1;
        }
        written
    };
    let (models, mebibytes) = tokio::join!(play.client.models(), server);
    assert!(matches!(models, Err(Error::TooLarge { .. })));
    assert!(mebibytes < 64, "{mebibytes} MiB were taken");
}

#[tokio::test]
async fn a_header_that_never_ends_is_refused() {
    let play = Play::begin().await;
    let server = async {
        let mut request = play.request().await;
        request.connection.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        while request.connection.write_all(format!("x-{}: y\r\n", "n".repeat(1000)).as_bytes()).await.is_ok()
        {
        }
    };
    let (models, ()) = tokio::join!(play.client.models(), server);
    assert!(models.is_err());
}
