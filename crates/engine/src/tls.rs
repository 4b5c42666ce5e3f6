//! TLS configuration: the system's roots, else Mozilla's.
//!
//! Reading a hundred roots costs as much as a small run, so it waits for the first https address.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{ring, verify_tls12_signature, verify_tls13_signature, CryptoProvider};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The configuration of a run, made when it is first needed and then shared by all threads.
pub struct Tls {
    insecure: bool,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    /// `insecure` accepts any certificate, as k6's `insecureSkipTLSVerify`.
    pub fn new(insecure: bool) -> Arc<Self> {
        Arc::new(Self { insecure, config: OnceCell::new() })
    }

    /// The configuration; the caller's thread goes on with other work while it is made.
    pub async fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let insecure = self.insecure;
        let make = || async move {
            let made = tokio::task::spawn_blocking(move || config(insecure)).await.map_err(|error| error.to_string())?;
            made.map_err(|error| error.to_string())
        };
        self.config.get_or_try_init(make).await.cloned()
    }
}

fn config(insecure: bool) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    if insecure {
        let verifier = Arc::new(AcceptAny(provider));
        return Ok(Arc::new(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
