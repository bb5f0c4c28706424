//! TLS with a certificate that is known by its fingerprint.

use std::sync::Arc;

use loggia_client::{Client, Error, Fingerprint, Heard, Server};
use loggia_protocol_agent_server::SessionId;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::play::Request;

/// A server with a new certificate, and its fingerprint.
async fn server() -> (TcpListener, TlsAcceptor, Fingerprint) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["desk.local".to_owned()]).unwrap();
    let print = Fingerprint(Sha256::digest(cert.der()).into());
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let configuration =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (listener, TlsAcceptor::from(Arc::new(configuration)), print)
}

fn client(listener: &TcpListener, certificate: Fingerprint) -> Client {
    let address = listener.local_addr().unwrap();
    Client::new(Server::Tls { host: address.ip().to_string(), port: address.port(), certificate })
        .with_token("t")
}

#[tokio::test]
async fn the_pinned_certificate_is_trusted_whatever_name_it_has() {
    let (listener, acceptor, print) = server().await;
    let client = client(&listener, print);
    let serving = async {
        let stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
        let request = Request::read(stream).await;
        assert_eq!(request.headers["authorization"], "Bearer t");
        request.greet().await
    };
    let session = SessionId("ses_1".to_owned());
    let (_peer, stream) = tokio::join!(serving, client.follow(&session).after(0).open());
    assert!(matches!(stream.unwrap().next().await, Some(Ok(Heard::Connected(_)))));
}

#[tokio::test]
async fn another_certificate_is_not_sent_a_byte() {
    let (listener, acceptor, print) = server().await;
    let client = client(&listener, Fingerprint([7; 32]));
    let serving = async { acceptor.accept(listener.accept().await.unwrap().0).await };
    let (accepted, health) = tokio::join!(serving, client.health());
    assert!(accepted.is_err(), "the handshake must not succeed");
    let error = health.unwrap_err();
    assert!(
        matches!(&error, Error::Untrusted { reason, .. } if reason.contains(&print.to_string())),
        "{error}"
    );
}
