//! Failures of connections as k6 numbers and words them.

use std::io;

use plimsoll_script::effect::{code, Failure};
use tokio_rustls::rustls::{CertificateError, Error as TlsError};

fn failure(code: u32, message: impl Into<String>) -> Failure {
    Failure { code, message: message.into() }
}

/// Of making a connection.
pub fn of_dialling(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => failure(code::REFUSED, "dial: connection refused"),
        io::ErrorKind::TimedOut => failure(code::DIAL_TIMEOUT, "dial: i/o timeout"),
        _ => failure(code::DIAL, format!("dial: {error}")),
    }
}

/// Of a connection that was made.
pub fn of_exchange(error: &io::Error) -> Failure {
    if let Some(error) = tls_error(error) {
        return of_tls(error);
    }
    match error.kind() {
        io::ErrorKind::ConnectionReset => failure(code::RESET, "read: connection reset by peer"),
        io::ErrorKind::BrokenPipe => failure(code::BROKEN_PIPE, "write: broken pipe"),
        // What rustls says of it ends in an address of its documentation.
        io::ErrorKind::UnexpectedEof if error.to_string().contains("close_notify") => {
            failure(code::GENERIC, "unexpected EOF")
        }
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            failure(code::GENERIC, error.to_string())
        }
        _ => failure(code::TCP, error.to_string()),
    }
}

fn tls_error(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

fn of_tls(error: &TlsError) -> Failure {
    match error {
        TlsError::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => failure(code::WRONG_HOSTNAME, "x509: certificate doesn't match hostname"),
        TlsError::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => failure(code::UNKNOWN_AUTHORITY, "x509: unknown authority"),
        other => failure(code::TLS, format!("tls: {other}")),
    }
}

/// Of a request on an HTTP/2 connection; the codes follow those of the frames (RFC 9113, section 7).
pub fn of_http2(error: &h2::Error) -> Failure {
    if let Some(error) = error.get_io() {
        return of_exchange(error);
    }
    let (first, what) = match () {
        () if error.is_go_away() => (code::HTTP2_GO_AWAY, "GoAway frame"),
        () if error.is_reset() => (code::HTTP2_STREAM, "stream error"),
        () => (code::HTTP2_CONNECTION, "connection error"),
    };
    match error.reason() {
        Some(reason) => failure(
            first + 1 + u32::from(reason),
            format!("http2: {what} with http2 ErrCode {reason:?}"),
        ),
        None => failure(code::HTTP2, format!("http2: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_k6s() {
        for (kind, dialling, exchange) in [
            (io::ErrorKind::ConnectionRefused, 1212, 1200),
            (io::ErrorKind::TimedOut, 1211, 1200),
            (io::ErrorKind::ConnectionReset, 1210, 1220),
            (io::ErrorKind::BrokenPipe, 1210, 1201),
            (io::ErrorKind::UnexpectedEof, 1210, 1000),
        ] {
            let error = io::Error::from(kind);
            assert_eq!(
                (of_dialling(&error).code, of_exchange(&error).code),
                (dialling, exchange),
                "{kind:?}"
            );
        }
        for (error, code) in [
            (CertificateError::UnknownIssuer, 1310),
            (CertificateError::NotValidForName, 1311),
            (CertificateError::Expired, 1300),
        ] {
            let error = io::Error::other(TlsError::InvalidCertificate(error));
            assert_eq!(of_exchange(&error).code, code);
        }
        assert_eq!(of_http2(&h2::Error::from(h2::Reason::INTERNAL_ERROR)).code, 1650 + 1 + 2);
    }
}
