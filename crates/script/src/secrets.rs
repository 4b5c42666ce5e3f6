//! `k6/secrets`: values that scripts may use and that no log shows.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rquickjs::{Ctx, Exception, Result};

use crate::runtime::host::Natives;
use crate::state::VuState;
use crate::whole_file::small_file;

/// What a log shows in the place of a secret, as k6 has it.
const REDACTED: &str = "***SECRET_REDACTED***";
/// What stands in the place of others, as in run directories.
const HIDDEN: &str = "***";
const HOW: &str = "write mock=name=value,… or file=path, with name=…, and default, before it for one of several sources";

struct Source {
    name: String,
    is_default: bool,
    values: Vec<(String, String)>,
}

/// What a text is without secrets, by the name of the tag that it is the value of; of other texts that is empty.
type Clean = dyn Fn(&str, &str) -> String + Send + Sync;

/// The caller's own way to take secrets out of a text, given the name of the tag that holds it (empty for others). It may
/// be slow: it is asked once for each name, and for messages, of which there are few.
#[derive(Clone, Default)]
pub struct Cleaner(Option<Arc<Clean>>);

impl fmt::Debug for Cleaner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Cleaner" } else { "no Cleaner" })
    }
}

impl Cleaner {
    pub fn new(clean: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(clean)))
    }

    pub fn text(&self, text: &str) -> String {
        self.tag("", text)
    }

    pub fn tag(&self, name: &str, value: &str) -> String {
        self.0.as_ref().map_or_else(|| value.to_owned(), |clean| clean(name, value))
    }
}

/// The sources of secrets of a run, the secrets that its script has read, and what else no log shows.
#[derive(Default)]
pub struct Secrets {
    sources: Vec<Source>,
    shown_to_script: Mutex<Vec<String>>,
    /// Texts that the caller knows to be secret, the longest first.
    hidden: Vec<String>,
    cleaner: Cleaner,
}

impl Secrets {
    /// Reads the sources as `--secret-source` states them: `mock=name=value,…`, `file=path`, `file=filename=path,name=…`.
    pub fn from_flags(flags: &[String]) -> std::result::Result<Self, String> {
        let mut sources: Vec<Source> = Vec::new();
        for flag in flags {
            let source = read_source(flag)
                .map_err(|what| format!("--secret-source {}: {what}", without_values(flag)))?;
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
        Ok(Self { sources, ..Self::default() })
    }

    /// The same sources with what the caller knows.
    pub fn hiding(self, hidden: Vec<String>, cleaner: Cleaner) -> Self {
        Self { hidden, cleaner, ..self }
    }

    /// A secret of a source, which is redacted from then on; the error says what was not found.
    pub fn get(&self, source: Option<&str>, name: &str) -> std::result::Result<String, String> {
        let known = || {
            self.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        if self.sources.is_empty() {
            return Err(format!(
                "no secret sources are configured; give one with --secret-source: {HOW}"
            ));
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

    /// The text without the secrets that the script has read, and without those that the caller knows.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        if !self.sources.is_empty() {
            let shown = self.shown_to_script.lock().unwrap_or_else(PoisonError::into_inner);
            clean = shown.iter().fold(clean, |text, secret| without(text, secret, REDACTED));
        }
        self.hidden.iter().fold(clean, |text, secret| without(text, secret, HIDDEN))
    }

    /// A message of ours for a log: `redact` for what names and URLs tell as well.
    pub fn clean(&self, text: &str) -> String {
        self.cleaner.text(&self.redact(text))
    }
}

fn without<'a>(text: Cow<'a, str>, secret: &str, shown: &str) -> Cow<'a, str> {
    match text.contains(secret) {
        true => Cow::Owned(text.replace(secret, shown)),
        false => text,
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
    let bytes =
        small_file(path).map_err(|error| format!("{}: {error}; check the path", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        format!("{}: it is not UTF-8 text; give a file of name=value lines", path.display())
    })?;
    let mut values = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!(
                "{}:{number}: no '=' in the line; write name=value, one a line",
                path.display()
            ));
        };
        values.push((name.to_owned(), value.to_owned()));
    }
    Ok(values)
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("get", |ctx: Ctx<'js>, source: Option<String>, name: String| -> Result<String> {
        VuState::running(&ctx)?
            .bundle
            .secrets
            .get(source.as_deref(), &name)
            .map_err(|what| Exception::throw_message(&ctx, &what))
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
        assert_eq!(
            (one.get(None, "key"), one.get(Some("mock"), "other")),
            (Ok("v1".into()), Ok("v2".into()))
        );
        let several = secrets(&["mock=name=a,default,key=v1", "mock=name=b,key=v2"]).unwrap();
        assert_eq!(
            (several.get(None, "key"), several.get(Some("b"), "key")),
            (Ok("v1".into()), Ok("v2".into()))
        );
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
    fn what_the_caller_knows_is_hidden_read_or_not_and_messages_are_cleaned_by_it() {
        let cleaner =
            Cleaner::new(|name, text| format!("{name}<{}>", text.replace("sig=1", "sig=***")));
        let secrets = secrets(&["mock=key=abcdef"])
            .unwrap()
            .hiding(vec!["known-to-it".into(), "known".into()], cleaner);
        assert_eq!(secrets.redact("abcdef, known-to-it and known"), "abcdef, *** and ***");
        secrets.get(None, "key").unwrap();
        assert_eq!(
            secrets.clean("GET /a?sig=1&k=abcdef"),
            format!("<GET /a?sig=***&k={REDACTED}>")
        );
    }

    #[test]
    fn mistakes_are_named_without_the_secrets_themselves() {
        for (flags, wanted) in [
            (&["mock="][..], "nothing follows"),
            (&["vault=x=y"], "no kind of source 'vault'"),
            (&["file=/does/not/exist"], "check the path"),
            (&["file=/dev/zero"], "over 64 MiB or no end; check the path"),
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
