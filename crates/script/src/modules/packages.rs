//! npm packages: where Node's algorithm finds a package and which of its files an import means
//! (nodejs.org/api/esm.html, "Resolution algorithm"). For pure JavaScript packages only: nothing of Node is there.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::whole_file::small_file;

/// Tried after a name without extension, in this order; then the same for `index` in a folder of that name.
const EXTENSIONS: [&str; 6] = ["js", "mjs", "cjs", "json", "ts", "mts"];

/// Modules that Node has built in.
const NODE: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// How a module is asked for; packages may have a file for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Import,
    Require,
}

impl Asked {
    /// Whether a condition of package.json's `exports` holds here.
    fn holds(self, condition: &str) -> bool {
        match condition {
            "import" | "module" => self == Self::Import,
            "require" => self == Self::Require,
            "browser" | "default" => true,
            _ => false,
        }
    }
}

/// What to do instead, if the name is that of a module of Node.
pub fn is_of_node(name: &str) -> bool {
    name.starts_with("node:") || NODE.contains(&name.split('/').next().unwrap_or_default())
}

/// The file that a bare name means for a file in `folder`.
pub fn find(folder: &Path, name: &str, asked: Asked) -> Result<PathBuf, String> {
    let (package, subpath) = split(name);
    for above in folder.ancestors() {
        let root = above.join("node_modules").join(package);
        if root.is_dir() {
            return entry(&root, subpath, asked);
        }
    }
    let what = match is_of_node(name) {
        true => "it is a module of Node.js, and scripts run in k6's environment, not in Node's; for files use open(), for HTTP 'k6/http'".to_owned(),
        false => format!("there is no node_modules/{package} in {} or above it; run `npm install {package}` there", folder.display()),
    };
    Err(what)
}

/// `@scope/package/sub/path` as package and subpath.
fn split(name: &str) -> (&str, &str) {
    let parts = if name.starts_with('@') { 2 } else { 1 };
    match name.match_indices('/').nth(parts - 1) {
        Some((at, _)) => (&name[..at], &name[at + 1..]),
        None => (name, ""),
    }
}

fn entry(root: &Path, subpath: &str, asked: Asked) -> Result<PathBuf, String> {
    let manifest = root.join("package.json");
    let package: Value = match small_file(&manifest) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            format!("{}: {error}; install the package again", manifest.display())
        })?,
        Err(_) => Value::Null,
    };
    if let Some(exports) = package.get("exports").filter(|exports| !exports.is_null()) {
        let wanted = if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") };
        let target = exported(exports, &wanted, asked).ok_or_else(|| {
            format!("{} exports no '{wanted}'; see its \"exports\"", manifest.display())
        })?;
        let path = root.join(&target);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!(
                "{} does not exist, though {} names it",
                path.display(),
                manifest.display()
            ))
        };
    }
    if !subpath.is_empty() {
        return as_file(&root.join(subpath))
            .ok_or_else(|| format!("{} has no file '{subpath}'", root.display()));
    }
    let fields: &[&str] = if asked == Asked::Import { &["module", "main"] } else { &["main"] };
    let named = fields
        .iter()
        .filter_map(|field| package.get(field)?.as_str())
        .find_map(|main| as_file(&root.join(main)));
    named.or_else(|| as_file(&root.join("index"))).ok_or_else(|| {
        format!("{} names no main file, and the package has no index.js", manifest.display())
    })
}

/// A path as Node's require() completes it.
pub fn as_file(path: &Path) -> Option<PathBuf> {
    let with = |base: &Path| {
        EXTENSIONS
            .iter()
            .map(|extension| PathBuf::from(format!("{}.{extension}", base.display())))
            .find(|candidate| candidate.is_file())
    };
    if path.is_file() {
        return Some(path.to_owned());
    }
    with(path).or_else(|| if path.is_dir() { with(&path.join("index")) } else { None })
}

/// The target of a subpath in package.json's `exports`.
fn exported(exports: &Value, wanted: &str, asked: Asked) -> Option<String> {
    let subpaths =
        exports.as_object().filter(|map| map.keys().next().is_some_and(|key| key.starts_with('.')));
    let Some(subpaths) = subpaths else {
        return if wanted == "." { target(exports, "", asked) } else { None };
    };
    if let Some(exact) = subpaths.get(wanted) {
        return target(exact, "", asked);
    }
    // The pattern with the longest text before its star wins.
    let matching = subpaths.iter().filter_map(|(pattern, value)| {
        let (before, after) = pattern.split_once('*')?;
        let star = wanted.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), star, value))
    });
    let (_, star, value) = matching.max_by_key(|(length, ..)| *length)?;
    target(value, star, asked)
}

/// The first target whose conditions hold.
fn target(value: &Value, star: &str, asked: Asked) -> Option<String> {
    match value {
        Value::String(path) => path.starts_with("./").then(|| path.replace('*', star)),
        Value::Array(choices) => choices.iter().find_map(|choice| target(choice, star, asked)),
        Value::Object(conditions) => conditions
            .iter()
            .filter(|(condition, _)| asked.holds(condition))
            .find_map(|(_, choice)| target(choice, star, asked)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_is_a_package_and_a_subpath() {
        for (name, package, subpath) in
            [("a", "a", ""), ("a/b/c", "a", "b/c"), ("@s/a", "@s/a", ""), ("@s/a/b", "@s/a", "b")]
        {
            assert_eq!(split(name), (package, subpath));
        }
    }

    #[test]
    fn exports_are_read_by_conditions_subpaths_and_patterns() {
        let exports = json!({
            ".": {"types": "./t.d.ts", "node": "./node.js", "import": "./esm.js", "require": "./cjs.js"},
            "./sub": ["./sub.js"],
            "./features/*": "./src/*.js",
            "./features/private/*": null,
            "./deep": {"browser": {"import": "./b.mjs", "default": "./b.js"}, "default": "./d.js"},
        });
        let import = |wanted| exported(&exports, wanted, Asked::Import);
        assert_eq!(import(".").as_deref(), Some("./esm.js"));
        assert_eq!(exported(&exports, ".", Asked::Require).as_deref(), Some("./cjs.js"));
        assert_eq!(import("./sub").as_deref(), Some("./sub.js"));
        assert_eq!(import("./features/x/y").as_deref(), Some("./src/x/y.js"));
        assert_eq!(import("./features/private/x"), None);
        assert_eq!(import("./deep").as_deref(), Some("./b.mjs"));
        assert_eq!(import("./other"), None);
        assert_eq!(exported(&json!("./only.js"), ".", Asked::Import).as_deref(), Some("./only.js"));
        assert_eq!(exported(&json!({"require": "./c.js"}), ".", Asked::Import), None);
        assert_eq!(exported(&json!("../outside.js"), ".", Asked::Import), None);
    }
}
