//! k6's system tags: which of them samples carry.

use serde_json::Value;

/// A tag that the engine puts on samples by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemTag {
    Check,
    Error,
    ErrorCode,
    ExpectedResponse,
    Group,
    Method,
    Name,
    Proto,
    Scenario,
    Service,
    Status,
    Subproto,
    TlsVersion,
    Url,
    Ip,
    Iter,
    OcspStatus,
    Vu,
}

/// Their names, in the order of `SystemTag`; the first `DEFAULTS` are carried unless a script says otherwise.
const NAMES: [&str; 18] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "proto",
    "scenario",
    "service",
    "status",
    "subproto",
    "tls_version",
    "url",
    "ip",
    "iter",
    "ocsp_status",
    "vu",
];
const DEFAULTS: u32 = 14;

/// A set of system tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(u32);

impl Default for SystemTags {
    fn default() -> Self {
        Self((1 << DEFAULTS) - 1)
    }
}

impl SystemTags {
    pub fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u32) != 0
    }

    /// The names of the set that samples carry as tags, sorted; `vu` and `iter` are metadata of raw samples instead.
    pub fn indexed_names(self) -> Vec<&'static str> {
        let mut names: Vec<&str> = NAMES
            .into_iter()
            .enumerate()
            .filter(|(at, name)| self.0 & (1 << at) != 0 && !["vu", "iter"].contains(name))
            .map(|(_, name)| name)
            .collect();
        names.sort_unstable();
        names
    }

    /// Reads a list of names. Those that k6 does not know are left out, as in k6, and come beside the set.
    pub fn from_json(value: &Value) -> Result<(Self, Vec<&str>), String> {
        let mistake = || {
            format!("{value} is not a list of tags; write for example ['status', 'method', 'url']")
        };
        let (mut set, mut unknown) = (0, Vec::new());
        for name in value.as_array().ok_or_else(mistake)? {
            let name = name.as_str().ok_or_else(mistake)?;
            match NAMES.iter().position(|known| *known == name) {
                Some(at) => set |= 1 << at,
                None => unknown.push(name),
            }
        }
        Ok((Self(set), unknown))
    }

    /// All names that there are, for a message.
    pub fn names() -> String {
        NAMES.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_default_set_is_that_of_k6_and_a_list_replaces_it() {
        let default = SystemTags::default();
        assert!(default.has(SystemTag::Url) && default.has(SystemTag::Check));
        assert!(!default.has(SystemTag::Vu) && !default.has(SystemTag::Ip));
        let given = json!(["status", "vu", "nix", "ip"]);
        let (few, unknown) = SystemTags::from_json(&given).unwrap();
        assert_eq!(unknown, ["nix"]);
        assert!(few.has(SystemTag::Vu) && !few.has(SystemTag::Name));
        assert_eq!(few.indexed_names(), ["ip", "status"]);
        assert!(SystemTags::from_json(&json!("status")).unwrap_err().contains("for example"));
    }
}
