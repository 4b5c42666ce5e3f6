//! `k6/secrets`: values that scripts may use and that no log shows.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rquickjs::{Ctx, Exception, Result};

use crate::host::Natives;
use crate::state::VuState;

/// What a log shows in the place of a secret, as k6 has it.
const REDACTED: &str = "***SECRET_REDACTED***";
const HOW: &str = "write mock=name=value,… or file=path, with name=…, and default, before it for one of several sources";

struct Source {
    name: String,
    is_default: bool,
    values: Vec<(String, String)>,
}

/// The sources of secrets of a run, and the secrets that its script has read.
#[derive(Default)]
pub struct Secrets {
    sources: Vec<Source>,
    shown_to_script: Mutex<Vec<String>>,
}

impl Secrets {
    /// Reads the sources as `--secret-source` states them: `mock=name=value,…`, `file=path`, `file=filename=path,name=…`.
    pub fn from_flags(flags: &[String]) -> std::result::Result<Self, String> {
        let mut sources: Vec<Source> = Vec::new();
        for flag in flags {
            let source = read_source(flag).map_err(|what| format!("--secret-source {}: {what}", without_values(flag)))?;
            if sources.iter().any(|known| known.name == source.name) {
                return Err(format!(
                    "--secret-source {}: there is a source '{}' already; give one a name with name=…",
                    without_values(flag),
                    source.name
                ));
            }
            sources.push(source);
        }
        if let [only] = sources.as_mut_slice() {
            only.is_default = true;
        }
        Ok(Self { sources, shown_to_script: Mutex::default() })
    }

    /// A secret of a source, which is redacted from then on; the error says what was not found.
    pub fn get(&self, source: Option<&str>, name: &str) -> std::result::Result<String, String> {
        let known = || self.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        if self.sources.is_empty() {
            return Err(format!("no secret sources are configured; give one with --secret-source: {HOW}"));
        }
        let found = match source {
            None | Some("default") => self.sources.iter().find(|source| source.is_default),
            Some(wanted) => self.sources.iter().find(|source| source.name == wanted),
        };
        let Some(found) = found else {
            let wanted = source.unwrap_or("default");
            return Err(format!(
                "no secret source with name '{wanted}' is configured; there are {}, and 'default' marks one as the default",
                known()
            ));
        };
        let Some((_, value)) = found.values.iter().find(|(key, _)| key == name) else {
            return Err(format!("the secret source '{}' has no secret '{name}'; add it to the source, or correct the name", found.name));
        };
        let mut shown = self.shown_to_script.lock().unwrap_or_else(PoisonError::into_inner);
        if !value.is_empty() && !shown.contains(value) {
            shown.push(value.clone());
            // A secret that holds another one goes first, or a part of it would be left.
            shown.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
        Ok(value.clone())
    }

    /// The text without the secrets that the script has read.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.sources.is_empty() {
            return Cow::Borrowed(text);
        }
        let shown = self.shown_to_script.lock().unwrap_or_else(PoisonError::into_inner);
        shown.iter().fold(Cow::Borrowed(text), |text, secret| match text.contains(secret.as_str()) {
            true => Cow::Owned(text.replace(secret.as_str(), REDACTED)),
            false => text,
        })
    }
}

/// A flag for a message: what follows the kind of a source may be secret, but for a file's path.
fn without_values(flag: &str) -> String {
    match flag.split_once('=') {
        Some((kind, _)) if kind != "file" => format!("{kind}=…"),
        _ => flag.to_owned(),
    }
}

fn read_source(flag: &str) -> std::result::Result<Source, String> {
    let (kind, settings) = flag.split_once('=').unwrap_or((flag, ""));
    if !matches!(kind, "mock" | "file") {
        return Err(format!("there is no kind of source '{kind}'; {HOW}"));
    }
    let mut source = Source { name: kind.to_owned(), is_default: false, values: Vec::new() };
    let mut path = None;
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        match (setting.split_once('='), kind) {
            (Some(("name", name)), _) => source.name = name.to_owned(),
            (None, _) if setting == "default" => source.is_default = true,
            (Some((key, value)), "mock") => source.values.push((key.to_owned(), value.to_owned())),
            (Some(("filename", given)), "file") => path = Some(given),
            (None, "file") => path = Some(setting),
            _ => return Err(format!("a part of it cannot be read; {HOW}")),
        }
    }
    match (kind, path) {
        ("mock", _) if !source.values.is_empty() => {}
        ("file", Some(path)) => source.values = read_file(Path::new(path))?,
        _ => return Err(format!("nothing follows the '='; {HOW}")),
    }
    Ok(source)
}

/// `name=value` lines.
fn read_file(path: &Path) -> std::result::Result<Vec<(String, String)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}; check the path", path.display()))?;
    let mut values = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("{}:{number}: no '=' in the line; write name=value, one a line", path.display()));
        };
        values.push((name.to_owned(), value.to_owned()));
    }
    Ok(values)
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("get", |ctx: Ctx<'js>, source: Option<String>, name: String| -> Result<String> {
        VuState::running(&ctx)?.bundle.secrets.get(source.as_deref(), &name).map_err(|what| Exception::throw_message(&ctx, &what))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(flags: &[&str]) -> std::result::Result<Secrets, String> {
        Secrets::from_flags(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_only_source_is_the_default_and_several_need_one() {
        let one = secrets(&["mock=key=v1,other=v2"]).unwrap();
        assert_eq!((one.get(None, "key"), one.get(Some("mock"), "other")), (Ok("v1".into()), Ok("v2".into())));
        let several = secrets(&["mock=name=a,default,key=v1", "mock=name=b,key=v2"]).unwrap();
        assert_eq!((several.get(None, "key"), several.get(Some("b"), "key")), (Ok("v1".into()), Ok("v2".into())));
        let without = secrets(&["mock=name=a,key=v1", "mock=name=b,key=v2"]).unwrap();
        assert!(without.get(None, "key").unwrap_err().contains("'default'"));
    }

    #[test]
    fn what_the_script_has_read_is_redacted_the_longest_first() {
        let secrets = secrets(&["mock=short=abc,long=abcdef,unread=xyz"]).unwrap();
        assert_eq!(secrets.redact("abcdef xyz"), "abcdef xyz");
        for name in ["short", "long"] {
            secrets.get(None, name).unwrap();
        }
        assert_eq!(secrets.redact("abcdef abc xyz"), format!("{REDACTED} {REDACTED} xyz"));
    }

    #[test]
    fn mistakes_are_named_without_the_secrets_themselves() {
        for (flags, wanted) in [
            (&["mock="][..], "nothing follows"),
            (&["vault=x=y"], "no kind of source 'vault'"),
            (&["file=/does/not/exist"], "check the path"),
            (&["mock=k=hidden", "mock=k=hidden"], "already"),
            (&["mock=k=hidden,oops"], "cannot be read"),
            (&["vault=k=hidden"], "vault=…"),
        ] {
            let what = secrets(flags).err().unwrap();
            assert!(what.contains(wanted) && !what.contains("hidden"), "{what}");
        }
        assert!(Secrets::default().get(None, "key").unwrap_err().contains("--secret-source"));
    }
}
