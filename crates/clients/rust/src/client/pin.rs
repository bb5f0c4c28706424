//! TLS with one known certificate instead of authorities.
//!
//! What always holds: a handshake succeeds only with the pinned certificate *and* a proof that the other end has its
//! key. Names and dates are not looked at; the fingerprint says more than both.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, SignatureScheme};
use sha2::{Digest, Sha256};

use crate::Fingerprint;

/// TLS that accepts this certificate and no other.
pub(super) fn configuration(certificate: Fingerprint) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Pinned { certificate, provider: Arc::clone(&provider) };
    let mut configuration = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the suites of the default versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    configuration.alpn_protocols = vec![b"http/1.1".to_vec()];
    configuration
}

#[derive(Debug)]
struct Pinned {
    certificate: Fingerprint,
    provider: Arc<CryptoProvider>,
}

/// A certificate that is not the pinned one.
#[derive(Debug, thiserror::Error)]
#[error("its certificate has the fingerprint {found}, not the pinned {expected}")]
struct Other {
    expected: Fingerprint,
    found: Fingerprint,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint(Sha256::digest(end_entity).into());
        if found == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        let other = Other { expected: self.certificate, found };
        Err(CertificateError::Other(OtherError(Arc::new(other))).into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
