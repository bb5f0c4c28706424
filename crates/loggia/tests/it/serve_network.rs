//! Where `loggia serve` listens, with and without TLS, and what it does about many connections.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use sha2::{Digest as _, Sha256};

use crate::server::{Server, body, exchange_with};
use crate::stage::Stage;

#[test]
fn other_machines_are_not_heard_in_plain_words() {
    insta::assert_snapshot!(Stage::new().run(&["serve", "--addr", "0.0.0.0:0"]), @r"
    exit: 2
    --- stderr
    error: `0.0.0.0:0` can be reached by other machines, and the connection would not be encrypted

    hint: add `--tls self-signed`, or `--insecure` if the network is as safe as this machine
    [END]
    ");
}

#[test]
fn whoever_insists_is_warned() {
    let stage = Stage::new();
    let server =
        Server::start(&stage, &["--addr", "0.0.0.0:0", "--insecure", "--set", "server.hosts=elsewhere"]);
    assert!(server.address().ip().is_loopback(), "the address it tells can be opened");
    assert_eq!(body(&server.get("/v1/health"))["status"], "ok");
    server.signal(rustix::process::Signal::TERM);
    let (code, _, stderr) = server.wait();
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(stderr, @r"
    warning: `0.0.0.0:0` can be reached by other machines, and everything they send and get can be read on the way

    hint: `--tls self-signed` would encrypt it
    ");
}

#[test]
fn an_address_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut shown = Stage::new().run(&["serve", "--addr", &address]);
    shown.stderr = shown.stderr.replace(&address, "[ADDRESS]");
    insta::assert_snapshot!(shown, @r"
    exit: 5
    --- stderr
    error: cannot listen on `[ADDRESS]`
      cause: Address already in use (os error 98)

    hint: another server may be running; stop it, or pass `--addr 127.0.0.1:0` to take a free port
    [END]
    ");
}

#[test]
fn an_address_that_is_none_is_told_with_its_flag() {
    insta::assert_snapshot!(Stage::new().run(&["serve", "--addr", "nowhere"]), @r"
    exit: 3
    --- stderr
    error: `server.addr` cannot be `nowhere` (in `--addr`)

    hint: expected an address such as `127.0.0.1:3199`
    [END]
    ");
}

#[test]
fn a_certificate_without_its_key_is_wrong_usage() {
    let shown = Stage::new().run(&["serve", "--tls-cert", "cert.pem"]);
    assert_eq!(shown.code, Some(2), "{shown}");
    assert!(shown.stderr.contains("--tls-key"), "{shown}");
}

#[test]
fn a_certificate_that_cannot_be_read_is_told() {
    let shown = Stage::new().run(&["serve", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert_eq!(shown.code, Some(3), "{shown}");
    let expected = "error: cannot set up TLS\n  cause: cannot read a certificate from `cert.pem`\n";
    assert!(shown.stderr.starts_with(expected), "{shown}");
}

/// Asks over TLS, trusting only the certificate in a file; the answer, and the server's certificate.
fn ask_encrypted(server: &Server, trusted: &Path) -> (String, CertificateDer<'static>) {
    ask_encrypted_with(server, trusted, "")
}

/// The same with these headers besides.
fn ask_encrypted_with(server: &Server, trusted: &Path, headers: &str) -> (String, CertificateDer<'static>) {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, TcpStream::connect(server.address()).unwrap());
    let answer = exchange_with(&mut stream, "/v1/health", headers);
    let certificate = stream.conn.peer_certificates().unwrap()[0].clone().into_owned();
    (answer, certificate)
}

#[test]
fn a_certificate_of_its_own_is_told_and_stays_the_same() {
    let stage = Stage::new();
    let file = stage.path("home/.local/share/loggia/tls/self-signed.pem");
    let mut told = Vec::new();
    for _ in 0..2 {
        let server = Server::start(&stage, &["--tls", "self-signed"]);
        assert!(server.field("url").starts_with("https://"));
        let (answer, certificate) = ask_encrypted(&server, &file);
        assert_eq!(body(&answer)["status"], "ok");
        let digest = Sha256::digest(&certificate);
        let digest: Vec<_> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(server.field("tls_fingerprint"), digest.join(":"));
        told.push(server.field("tls_fingerprint").to_owned());
        server.end();
    }
    assert_eq!(told[0], told[1]);
}

#[test]
fn over_tls_our_own_page_came_over_tls() {
    let stage = Stage::new();
    let server = Server::start(&stage, &["--tls", "self-signed"]);
    let file = stage.path("home/.local/share/loggia/tls/self-signed.pem");
    let from = |origin: &str| ask_encrypted_with(&server, &file, &format!("origin: {origin}\r\n")).0;
    assert!(from("https://localhost").starts_with("HTTP/1.1 200 "));
    // Whoever is between a browser and us can pretend to be this one.
    assert!(from("http://localhost").starts_with("HTTP/1.1 403 "));
    server.end();
}

#[test]
fn files_of_ones_own_serve_as_well() {
    let stage = Stage::new();
    Server::start(&stage, &["--tls", "self-signed"]).end();
    let file = stage.path("home/.local/share/loggia/tls/self-signed.pem");
    let (path, key) = (file.to_str().unwrap(), file.with_extension("key"));
    let server = Server::start(&stage, &["--tls-cert", path, "--tls-key", key.to_str().unwrap()]);
    assert_eq!(body(&ask_encrypted(&server, &file).0)["status"], "ok");
    server.end();
}

#[test]
fn a_thousand_half_open_sockets_disturb_nobody() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let stage = Stage::new();
    let server = Server::start(&stage, &[]);
    let half_open: Vec<TcpStream> =
        (0..1000).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    assert_eq!(body(&server.get("/v1/health"))["status"], "ok");
    assert_eq!(body(&server.get_locally("/v1/health"))["status"], "ok");
    // The oldest had to make room.
    let mut first = &half_open[0];
    assert!(matches!(first.read(&mut [0; 1]), Ok(0) | Err(_)));
    server.end();
}
