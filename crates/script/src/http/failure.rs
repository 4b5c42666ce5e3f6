//! Requests without a response.

/// k6's numbers for requests without a response.
pub mod code {
    pub const GENERIC: u32 = 1000;
    pub const INVALID_URL: u32 = 1020;
    pub const TIMEOUT: u32 = 1050;
    pub const DNS: u32 = 1100;
    pub const NO_SUCH_HOST: u32 = 1101;
    pub const BLACKLISTED_IP: u32 = 1110;
    pub const BLOCKED_HOSTNAME: u32 = 1111;
    pub const TCP: u32 = 1200;
    pub const BROKEN_PIPE: u32 = 1201;
    pub const DIAL: u32 = 1210;
    pub const DIAL_TIMEOUT: u32 = 1211;
    pub const REFUSED: u32 = 1212;
    pub const RESET: u32 = 1220;
    pub const TLS: u32 = 1300;
    pub const UNKNOWN_AUTHORITY: u32 = 1310;
    pub const WRONG_HOSTNAME: u32 = 1311;
    pub const HTTP2: u32 = 1600;
    /// And those after it: 1 + the frame's error code (RFC 9113, section 7).
    pub const HTTP2_GO_AWAY: u32 = 1610;
    pub const HTTP2_STREAM: u32 = 1630;
    pub const HTTP2_CONNECTION: u32 = 1650;
    pub const DECOMPRESSION: u32 = 1701;
}

/// Why a request got no response, with k6's error code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u32,
    pub message: String,
}
