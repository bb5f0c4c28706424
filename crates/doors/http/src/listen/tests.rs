//! Listeners over real sockets, in front of a few routes of their own.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::WebSocketUpgrade;
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::stream;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::*;
use crate::Peer;

/// A listener in front of a few routes, until it is stopped.
struct House {
    address: SocketAddr,
    stop: CancellationToken,
    served: JoinHandle<io::Result<()>>,
    /// Lets `/wait` answer.
    go: Arc<Notify>,
}

impl House {
    async fn open(tls: Option<Tls>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (go, stop) = (Arc::new(Notify::new()), CancellationToken::new());
        let served = tokio::spawn(serve(routes(&go), Listener::Tcp(listener, tls), stop.clone()));
        Self { address, stop, served, go }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Stops it and waits for its end.
    async fn close(self) {
        self.stop.cancel();
        self.served.await.unwrap().unwrap();
    }
}

fn routes(go: &Arc<Notify>) -> Router {
    let go = Arc::clone(go);
    let wait = move || {
        let go = Arc::clone(&go);
        async move {
            go.notified().await;
            "done"
        }
    };
    Router::new()
        .route("/peer", get(|Extension(peer): Extension<Peer>| async move { format!("{peer:?}") }))
        .route("/length", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/wait", get(wait))
        .route("/flood", get(|| async { Body::from_stream(stream::repeat_with(flood)) }))
        .route("/stream", get(|upgrade: WebSocketUpgrade| async move { listen_for_ever(upgrade) }))
}

/// More than any buffer holds, again and again.
fn flood() -> io::Result<Bytes> {
    Ok(Bytes::from_static(&[b'x'; 64 * 1024]))
}

/// A stream that does not care about a stop.
fn listen_for_ever(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|mut socket| async move { while let Some(Ok(_)) = socket.recv().await {} })
}

/// Writes a request and reads to the end of the connection.
async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    rest(stream).await
}

async fn rest(mut stream: impl AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    // A connection that is cut may end with a reset; what came before counts.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
}

#[tokio::test]
async fn a_request_carries_the_address_it_came_from() {
    let house = House::open(None).await;
    let stream = house.connect().await;
    let address = stream.local_addr().unwrap();
    let answer = exchange(stream, &get_request("/peer")).await;
    assert!(answer.ends_with(&format!("Tcp({address})")), "{answer}");
    house.close().await;
}

#[tokio::test]
async fn both_versions_of_http_are_spoken_on_one_port() {
    let house = House::open(None).await;
    let io = TokioIo::new(house.connect().await);
    let (mut client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    let driver = tokio::spawn(connection);
    let request = hyper::Request::get(format!("http://{}/peer", house.address)).body(Empty::<Bytes>::new());
    let answer = client.send_request(request.unwrap()).await.unwrap();
    assert_eq!(answer.version(), hyper::Version::HTTP_2);
    assert!(answer.into_body().collect().await.unwrap().to_bytes().starts_with(b"Tcp("));
    drop(client);
    driver.await.unwrap().unwrap();
    house.close().await;
}

#[tokio::test]
async fn a_head_over_the_limit_is_refused() {
    let house = House::open(None).await;
    let large = format!("GET /peer HTTP/1.1\r\nhost: here\r\nx: {}\r\n\r\n", "x".repeat(MAX_HEADER_BYTES));
    let answer = exchange(house.connect().await, &large).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_closed() {
    let house = House::open(None).await;
    assert_eq!(rest(house.connect().await).await, "");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_drop_by_drop_is_cut_off() {
    let house = House::open(None).await;
    let (mut reading, mut writing) = house.connect().await.into_split();
    let drip = tokio::spawn(async move {
        writing.write_all(b"GET /peer HTTP/1.1\r\n").await.unwrap();
        while writing.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = reading.read_to_end(&mut answer).await;
    drip.await.unwrap();
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_later_head_has_its_time_as_well() {
    let house = House::open(None).await;
    let request = "GET /peer HTTP/1.1\r\nhost: here\r\n\r\nGET /pe";
    let answer = exchange(house.connect().await, request).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_coming_is_cut_off() {
    let house = House::open(None).await;
    let request = "POST /length HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n\r\nbegun";
    let answer = exchange(house.connect().await, request).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_keeps_its_pace_may_take_long() {
    let house = House::open(None).await;
    let mut stream = house.connect().await;
    let head = "POST /length HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: 61440\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..30 {
        stream.write_all(&[b'x'; 2048]).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(rest(stream).await.ends_with("61440"));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_read_the_answer_is_cut_off() {
    let house = House::open(None).await;
    let mut stream = house.connect().await;
    stream.write_all(get_request("/flood").as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    tokio::time::sleep(Duration::from_secs(100)).await;
    // The answer has no end, but the connection has.
    rest(stream).await;
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_asks_no_more_is_ended() {
    let house = House::open(None).await;
    let io = TokioIo::new(house.connect().await);
    let (mut client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    let driver = tokio::spawn(connection);
    let request = hyper::Request::get(format!("http://{}/peer", house.address)).body(Empty::<Bytes>::new());
    drop(client.send_request(request.unwrap()).await.unwrap().into_body().collect().await.unwrap());
    // Kept by us, and all the same it ends.
    driver.await.unwrap().unwrap();
    assert!(client.is_closed());
    house.close().await;
}

#[tokio::test]
async fn many_who_ask_nothing_leave_room_for_one_who_asks() {
    let house = House::open(None).await;
    let mut silent = Vec::new();
    for _ in 0..MAX_NEWCOMERS + 20 {
        silent.push(house.connect().await);
    }
    let answer = exchange(house.connect().await, &get_request("/peer")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // The oldest had to go.
    assert_eq!(rest(silent.remove(0)).await, "");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_is_answered_after_the_stop() {
    let house = House::open(None).await;
    let mut stream = house.connect().await;
    // One that is already being answered when the stop comes.
    stream
        .write_all(b"GET /peer HTTP/1.1\r\nhost: here\r\n\r\nGET /wait HTTP/1.1\r\nhost: here\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    house.stop.cancel();
    let go = Arc::clone(&house.go);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        go.notify_one();
    });
    assert!(rest(stream).await.ends_with("done"));
    house.close().await;
}

#[tokio::test]
async fn nothing_is_accepted_after_the_stop() {
    let house = House::open(None).await;
    let address = house.address;
    house.close().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stays_is_cut_when_the_time_is_over() {
    let house = House::open(None).await;
    let url = format!("ws://{}/stream", house.address);
    let (mut socket, _) = tokio_tungstenite::client_async(url, house.connect().await).await.unwrap();
    let began = tokio::time::Instant::now();
    house.close().await;
    assert_eq!(began.elapsed().as_secs(), DRAIN.as_secs(), "it was waited for, and no longer");
    let end = futures_util::StreamExt::next(&mut socket).await;
    assert!(!matches!(end, Some(Ok(_))), "{end:?}");
}

/// A Unix socket in front of the same routes.
async fn local(directory: &std::path::Path) -> (std::path::PathBuf, CancellationToken) {
    let path = directory.join("http.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let stop = CancellationToken::new();
    tokio::spawn(serve(routes(&Arc::default()), Listener::Unix(listener), stop.clone()));
    (path, stop)
}

#[tokio::test]
async fn a_local_process_of_the_same_user_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _stop) = local(directory.path()).await;
    let answer = exchange(UnixStream::connect(path).await.unwrap(), &get_request("/peer")).await;
    assert!(answer.ends_with("SameUser"), "{answer}");
}

/// How many bytes a child of ours is answered with.
async fn answer_to_child(path: std::path::PathBuf) -> String {
    let script = "import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b'GET /peer HTTP/1.1\\r\\nhost: here\\r\\n\\r\\n')
    print(len(s.recv(100)))
except OSError:
    print(0)
";
    #[expect(clippy::disallowed_methods, reason = "a child that tries to get in is what is tested")]
    let mut child = Command::new("python3");
    child.args(["-c", script]).arg(path);
    // The child waits for us, so we may not wait for it here.
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_child_of_ours_is_not_let_in() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _stop) = local(directory.path()).await;
    assert_eq!(answer_to_child(path).await, "0\n");
}

#[tokio::test]
async fn doors_that_speak_no_http_let_the_same_processes_in() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let accepted = tokio::spawn(async move { accept_local(&listener).await });
    assert_eq!(answer_to_child(path.clone()).await, "0\n");
    assert!(!accepted.is_finished());
    let _ours = UnixStream::connect(path).await.unwrap();
    accepted.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_certificate_of_our_own_is_made_once_and_kept_from_others() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("tls");
    let first = Tls::self_signed(&kept, vec!["localhost".to_owned()]).unwrap();
    let second = Tls::self_signed(&kept, vec!["elsewhere".to_owned()]).unwrap();
    assert_eq!(first.fingerprint(), second.fingerprint());
    assert_eq!(first.fingerprint().len(), 32 * 3 - 1);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&kept), mode(&Tls::self_signed_file(&kept))), (0o700, 0o600));
}

#[tokio::test]
async fn a_client_that_trusts_the_certificate_is_served() {
    let directory = tempfile::tempdir().unwrap();
    let tls = Tls::self_signed(directory.path(), vec!["localhost".to_owned()]).unwrap();
    let house = House::open(Some(tls)).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(Tls::self_signed_file(directory.path())).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let name = ServerName::try_from("localhost").unwrap();
    let stream = connector.connect(name, house.connect().await).await.unwrap();
    let answer = exchange(stream, &get_request("/peer")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn plain_words_on_a_port_with_tls_end_the_connection() {
    let directory = tempfile::tempdir().unwrap();
    let tls = Tls::self_signed(directory.path(), vec!["localhost".to_owned()]).unwrap();
    let house = House::open(Some(tls)).await;
    let mut answer = Vec::new();
    let mut stream = house.connect().await;
    stream.write_all(get_request("/peer").as_bytes()).await.unwrap();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    // So does a handshake that never comes.
    assert_eq!(rest(house.connect().await).await, "");
    house.close().await;
}

#[test]
fn files_without_a_certificate_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.pem");
    std::fs::write(&path, "").unwrap();
    let error = Tls::from_files(&path, &path).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read a certificate from `{}`", path.display()));
    assert!(Tls::from_files(&directory.path().join("absent.pem"), &path).is_err());
}
