//! Certificates: read from files, or made once and kept.
//!
//! Knows PEM files and rustls. Refuses to know where connections come from. Invariant: a key we make is never in a file
//! that others can read, and a certificate we made stays the same, so that clients can pin it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use sha2::{Digest as _, Sha256};
use tokio_rustls::TlsAcceptor;

use crate::private_file;

/// The certificate we made. It can be given away.
const OWN_CERTIFICATE: &str = "self-signed.pem";

/// Its key, which must not. It is there before the certificate is.
const OWN_KEY: &str = "self-signed.key";

/// How long a certificate we made holds. Clients pin it, so it should not need to be replaced; and it should not seem to
/// hold for ever.
const LIFETIME: Duration = Duration::from_secs(10 * 365 * DAY);

/// How much earlier it begins to hold: the clocks of other machines go differently.
const CLOCKS_DIFFER: Duration = Duration::from_secs(DAY);

const DAY: u64 = 24 * 60 * 60;

/// HTTP/2 for whoever can.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A certificate with its key, ready for connections. Cheap to clone.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
    fingerprint: String,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// Why there is no certificate to use.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or holds nothing of the kind.
    #[error("cannot read {what} from `{}`", path.display())]
    Read {
        /// What was looked for.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: pem::Error,
    },
    /// The certificate and the key do not make sense, or do not belong together.
    #[error("the certificate in `{}` cannot be used", path.display())]
    Unusable {
        /// The certificate's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// A certificate cannot be made.
    #[error("cannot make a certificate")]
    Make {
        /// Why.
        #[source]
        source: rcgen::Error,
    },
    /// The certificate we made cannot be kept.
    #[error("cannot keep the certificate in `{}`", path.display())]
    Keep {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Tls {
    /// A certificate, with those that vouch for it behind it, and its key, as PEM.
    ///
    /// # Errors
    /// If a file cannot be read or the two do not belong together.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let unread = |what, path: &Path| {
            let path = path.to_owned();
            move |source| TlsError::Read { what, path, source }
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(unread("a certificate", certificate))?;
        let Some(first) = chain.first() else {
            return Err(unread("a certificate", certificate)(pem::Error::NoItemsFound));
        };
        let (fingerprint, first) = (fingerprint(first), first.clone());
        let key = PrivateKeyDer::from_pem_file(key).map_err(unread("a private key", key))?;
        let unusable = |source| TlsError::Unusable { path: certificate.to_owned(), source };
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(unusable)?
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .map_err(unusable)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(Self { config: Arc::new(config), certificate: first, fingerprint })
    }

    /// The certificate kept in a directory; it is made for these names, and signed by itself, if there is none.
    ///
    /// # Errors
    /// If it cannot be made, kept or read.
    pub fn self_signed(directory: &Path, names: Vec<String>) -> Result<Self, TlsError> {
        let (certificate, key) = (Self::self_signed_file(directory), directory.join(OWN_KEY));
        if !certificate.exists() || !key.exists() {
            let (made, signing_key) = make(names).map_err(|source| TlsError::Make { source })?;
            for (path, text) in [(&key, signing_key.serialize_pem()), (&certificate, made.pem())] {
                private_file::write(path, &text)
                    .map_err(|source| TlsError::Keep { path: path.clone(), source })?;
            }
        }
        Self::from_files(&certificate, &key)
    }

    /// Where [`Tls::self_signed`] keeps the certificate it made, without its key: for clients that are to trust it.
    pub fn self_signed_file(directory: &Path) -> PathBuf {
        directory.join(OWN_CERTIFICATE)
    }

    /// The certificate's SHA-256, in pairs of digits with colons between, as people compare it.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Whether clients that ask under this name or address will find it in the certificate.
    pub fn covers(&self, name: &str) -> bool {
        let Ok(certificate) = ParsedCertificate::try_from(&self.certificate) else { return false };
        ServerName::try_from(name).is_ok_and(|name| verify_server_name(&certificate, &name).is_ok())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

/// A certificate for these names, signed by its own key.
fn make(names: Vec<String>) -> Result<(rcgen::Certificate, rcgen::KeyPair), rcgen::Error> {
    let key = rcgen::KeyPair::generate()?;
    let mut params = rcgen::CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, "Loggia, signed by itself");
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    // A clock before 1970 is wrong in any case, and so will be the certificate.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(CLOCKS_DIFFER);
    params.not_after = epoch + (now + LIFETIME);
    Ok((params.self_signed(&key)?, key))
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let digest = Sha256::digest(certificate);
    digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}
