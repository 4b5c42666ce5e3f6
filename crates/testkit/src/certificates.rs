//! Certificates for the site: an authority, a server's for localhost and 127.0.0.1, and a client's.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{version, RootCertStore, ServerConfig};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Writes `ca.pem`, `client.pem` and `client.key` into `folder` (a new authority at each start), and gives a server's
/// configuration that uses them.
pub fn server_config(
    folder: &Path,
    http2: bool,
    only_tls12: bool,
    wants_client: bool,
) -> Result<Arc<ServerConfig>> {
    std::fs::create_dir_all(folder)?;
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::new(Vec::new())?;
    ca.distinguished_name.push(DnType::CommonName, "testkit authority");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let ca = ca.self_signed(&ca_key)?;
    let issue = |names: Vec<String>,
                 purpose: ExtendedKeyUsagePurpose|
     -> Result<(rcgen::Certificate, KeyPair)> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "testkit");
        params.extended_key_usages = vec![purpose];
        Ok((params.signed_by(&key, &ca, &ca_key)?, key))
    };
    let (server, server_key) =
        issue(vec!["localhost".into(), "127.0.0.1".into()], ExtendedKeyUsagePurpose::ServerAuth)?;
    let (client, client_key) = issue(vec!["client".into()], ExtendedKeyUsagePurpose::ClientAuth)?;
    std::fs::write(folder.join("ca.pem"), ca.pem())?;
    std::fs::write(folder.join("client.pem"), client.pem())?;
    std::fs::write(folder.join("client.key"), client_key.serialize_pem())?;
    let versions =
        if only_tls12 { vec![&version::TLS12] } else { vec![&version::TLS13, &version::TLS12] };
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(&versions)?;
    let mut roots = RootCertStore::empty();
    roots.add(ca.der().clone())?;
    let builder = if wants_client {
        builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?,
        )
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
    let mut config = builder.with_single_cert(vec![server.der().clone()], key)?;
    if http2 {
        config.alpn_protocols.push(b"h2".to_vec());
    }
    config.alpn_protocols.push(b"http/1.1".to_vec());
    Ok(Arc::new(config))
}
