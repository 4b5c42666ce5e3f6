//! TLS configuration: the system's roots, else Mozilla's; versions, cipher suites and client certificates as options say.
//!
//! Reading a hundred roots costs as much as a small run, so it waits for the first https address.

use std::sync::Arc;

use plimsoll_core::options::network::{
    ClientCertificate, HostPattern, Network, TlsVersion, TlsVersions,
};
use tokio::sync::OnceCell;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    ring, verify_tls12_signature, verify_tls13_signature, CryptoProvider,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::{
    version, ClientConfig, DigitallySignedStruct, Error, InconsistentKeys, RootCertStore,
    SignatureScheme, SupportedProtocolVersion,
};

/// Offered in the handshake, the preferred one first (RFC 7301).
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The configurations of a run, each made when it is first needed and then shared by all threads.
pub struct Tls {
    settings: Settings,
    /// Without a client's certificate.
    anonymous: OnceCell<Arc<ClientConfig>>,
    identified: Vec<(Identity, OnceCell<Arc<ClientConfig>>)>,
}

#[derive(Clone)]
struct Settings {
    /// Accepts any certificate, as k6's `insecureSkipTLSVerify`.
    insecure: bool,
    provider: Arc<CryptoProvider>,
    versions: &'static [&'static SupportedProtocolVersion],
}

/// A client's certificate, and whom to show it.
struct Identity {
    domains: Vec<HostPattern>,
    certified: Arc<SingleCertAndKey>,
}

impl Tls {
    /// # Errors
    /// What is wrong with cipher suites, certificates and keys, all at once.
    pub fn new(network: &Network, insecure: bool) -> Result<Self, Vec<String>> {
        let mut mistakes = Vec::new();
        let provider = provider(&network.tls_cipher_suites, &mut mistakes);
        let mut identified = Vec::new();
        for (at, given) in network.tls_auth.iter().enumerate() {
            match Identity::read(given, &provider) {
                Ok(identity) => identified.push((identity, OnceCell::new())),
                Err(what) => mistakes.push(format!("options.tlsAuth[{at}].{what}")),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let settings = Settings { insecure, provider, versions: versions(network.tls_versions) };
        Ok(Self { settings, anonymous: OnceCell::new(), identified })
    }

    /// The configuration for a server; the caller's thread goes on with other work while it is made.
    pub async fn config(&self, host: &str, port: u16) -> Result<Arc<ClientConfig>, String> {
        let meant = |identity: &Identity| {
            identity.domains.is_empty()
                || identity.domains.iter().any(|domain| domain.matches(host, port))
        };
        let (identity, config) = match self.identified.iter().find(|(identity, _)| meant(identity))
        {
            Some((identity, config)) => (Some(identity.certified.clone()), config),
            None => (None, &self.anonymous),
        };
        let settings = self.settings.clone();
        let make = || async move {
            let made = tokio::task::spawn_blocking(move || settings.config(identity))
                .await
                .map_err(|error| error.to_string())?;
            made.map_err(|error| format!("tls: {error}"))
        };
        config.get_or_try_init(make).await.cloned()
    }

    /// That for a server to which HTTP/1.1 is spoken whatever else it speaks: a proxy, or one of WebSockets.
    pub async fn config_of_http1(&self, host: &str, port: u16) -> Result<ClientConfig, String> {
        let mut config = ClientConfig::clone(&*self.config(host, port).await?);
        config.alpn_protocols.clear();
        Ok(config)
    }
}

/// A host as certificates name it.
pub fn server_name(host: &str) -> Result<ServerName<'static>, String> {
    ServerName::try_from(host.to_owned()).map_err(|error| format!("{host}: {error}"))
}

impl Identity {
    fn read(given: &ClientCertificate, provider: &CryptoProvider) -> Result<Self, String> {
        if given.key.contains("ENCRYPTED") {
            let how = "write it decrypted with `openssl pkey -in client.key -out plain.key` and give no password";
            return Err(format!("key: encrypted keys are not supported yet; {how}"));
        }
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(given.certificate.as_bytes()).collect();
        let chain = chain.map_err(|error| error.to_string()).and_then(|chain| {
            if chain.is_empty() {
                Err("it has none".into())
            } else {
                Ok(chain)
            }
        });
        let chain = chain.map_err(|what| format!("cert: no certificate in PEM ({what}); give the text of the file: open('client.pem')"))?;
        let key = PrivateKeyDer::from_pem_slice(given.key.as_bytes());
        let key = key.map_err(|error| format!("key: no private key in PEM ({error}); give the text of the file: open('client.key')"))?;
        let key = provider
            .key_provider
            .load_private_key(key)
            .map_err(|error| format!("key: it cannot be used ({error})"))?;
        let certified = CertifiedKey::new(chain, key);
        // Of a certificate that cannot be looked into, as one of X.509 v1, nothing is known: the server says whether it takes it.
        if let Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) = certified.keys_match()
        {
            return Err("key: it does not belong to the certificate; give the key with which the certificate was requested".to_owned());
        }
        Ok(Self {
            domains: given.domains.clone(),
            certified: Arc::new(SingleCertAndKey::from(certified)),
        })
    }
}

/// The cipher suites of a list; those of TLS 1.3 are always there, as in k6.
fn provider(names: &[String], mistakes: &mut Vec<String>) -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    // As k6, which prefers the cheaper of two that are strong enough.
    provider
        .cipher_suites
        .sort_by_key(|suite| !suite.suite().as_str().is_some_and(|name| name.contains("AES_128")));
    if names.is_empty() {
        return Arc::new(provider);
    }
    let is_13 = |name: &str| name.starts_with("TLS13_");
    provider.cipher_suites.retain(|suite| {
        suite
            .suite()
            .as_str()
            .is_some_and(|name| is_13(name) || names.iter().any(|wanted| wanted == name))
    });
    if !provider
        .cipher_suites
        .iter()
        .any(|suite| suite.suite().as_str().is_some_and(|name| !is_13(name)))
        && !names
            .iter()
            .any(|name| name.starts_with("TLS_AES_") || name.starts_with("TLS_CHACHA20_"))
    {
        let all = ring::default_provider().cipher_suites;
        let known: Vec<&str> = all
            .iter()
            .filter_map(|suite| suite.suite().as_str())
            .filter(|name| !is_13(name))
            .collect();
        mistakes.push(format!(
            "options.tlsCipherSuites: none of {} is supported; use some of {}",
            names.join(", "),
            known.join(", ")
        ));
    }
    Arc::new(provider)
}

/// What of a list of cipher suites there is not here, in sentences.
pub fn lacking(names: &[String]) -> Vec<String> {
    let known = ring::default_provider().cipher_suites;
    let has = |wanted: &str| {
        known
            .iter()
            .filter_map(|suite| suite.suite().as_str())
            .any(|name| name == wanted || name.replace("TLS13_", "TLS_") == wanted)
    };
    names
        .iter()
        .filter(|name| !has(name))
        .map(|name| format!("options.tlsCipherSuites: {name} is not supported."))
        .collect()
}

static TLS12: [&SupportedProtocolVersion; 1] = [&version::TLS12];
static TLS13: [&SupportedProtocolVersion; 1] = [&version::TLS13];
static BOTH: [&SupportedProtocolVersion; 2] = [&version::TLS13, &version::TLS12];

fn versions(wanted: TlsVersions) -> &'static [&'static SupportedProtocolVersion] {
    match (wanted.min, wanted.max) {
        (Some(TlsVersion::Tls13), _) => &TLS13,
        (_, Some(TlsVersion::Tls12)) => &TLS12,
        _ => &BOTH,
    }
}

impl Settings {
    fn config(self, identity: Option<Arc<SingleCertAndKey>>) -> Result<Arc<ClientConfig>, Error> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(self.versions)?;
        let builder = if self.insecure {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAny(self.provider)))
        } else {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
            builder.with_root_certificates(roots)
        };
        let mut config = match identity {
            Some(certified) => builder.with_client_cert_resolver(certified),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Arc::new(config))
    }
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
