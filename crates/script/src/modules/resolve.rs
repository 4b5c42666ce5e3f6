//! Which file an import means: a path, a remote module that lies here, or a package in node_modules.

use std::path::{Path, PathBuf};

use url::Url;

use crate::modules::bundle::Bundle;
use crate::modules::packages::{self, Asked};

/// The file that `name` means for the file `base`, or why there is none and what to do.
pub fn file(bundle: &Bundle, base: &str, name: &str, asked: Asked) -> Result<PathBuf, String> {
    let is_path = name.starts_with("./")
        || name.starts_with("../")
        || name.starts_with('/')
        || matches!(name, "." | "..");
    if name.starts_with("https://") || name.starts_with("http://") {
        return remote(bundle, name);
    }
    if let Some(path) = name.strip_prefix("file://") {
        return local(Path::new(path));
    }
    let folder = folder_of(bundle, base);
    if !is_path {
        if name.contains("://") {
            return Err("use a path, an https:// address or the name of a package".to_owned());
        }
        return packages::find(&folder, name, asked).and_then(|path| canonical(&path));
    }
    // A remote module means its neighbours there, wherever its file lies here.
    let url = bundle.url_of(base).and_then(|url| Url::parse(&url).ok()?.join(name).ok());
    match url {
        Some(url) => remote(bundle, url.as_str()),
        None => local(&folder.join(name)),
    }
}

/// The folder of a file; the main script's for what has none.
pub fn folder_of(bundle: &Bundle, base: &str) -> PathBuf {
    let base = Path::new(base);
    let is_own = base.is_absolute() && base != bundle.main;
    base.parent().filter(|_| is_own).unwrap_or(&bundle.home).to_owned()
}

fn canonical(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| format!("{} ({error}); check the path", path.display()))
}

/// A path as k6 takes it: the whole name of a file. Files of packages are completed as Node does.
fn local(path: &Path) -> Result<PathBuf, String> {
    if path.is_file() {
        return canonical(path);
    }
    let completed = packages::as_file(path);
    match completed {
        Some(file) if path.components().any(|part| part.as_os_str() == "node_modules") => {
            canonical(&file)
        }
        Some(file) => {
            let what = if path.is_dir() { "is a folder" } else { "does not exist" };
            Err(format!(
                "{} {what}; k6 wants the whole name of a file: did you mean {}?",
                path.display(),
                file.display()
            ))
        }
        None if path.is_dir() => Err(format!("{} is a folder; name a file in it", path.display())),
        None => canonical(path),
    }
}

/// The local file of a remote module: as the import map says, in the folder `vendor` beside the script, or fetched before.
fn remote(bundle: &Bundle, address: &str) -> Result<PathBuf, String> {
    let url = Url::parse(address).map_err(|error| format!("'{address}' is no address: {error}"))?;
    let vendored = vendored(bundle, &url);
    let mapped = bundle.imports.path_of(address);
    let found = mapped
        .as_ref()
        .or_else(|| Some(&vendored).filter(|path| path.is_file()))
        .or_else(|| bundle.imports.fetched(url.as_str()));
    let Some(path) = found else {
        bundle.note_missing(&url);
        return Err(format!(
            "it is not here, and nothing is downloaded while a run goes on. Fetch it once, beside the script:\n    curl --create-dirs -fsSLo '{}' '{url}'\n\
             or name a file for it in {}: {{\"imports\": {{\"{address}\": {{\"path\": \"…\", \"sha256\": \"…\"}}}}}}",
            vendored.display(),
            crate::modules::import_map::FILE_NAME,
        ));
    };
    let path = canonical(path).map_err(|error| format!("the import map names {error}"))?;
    let content = bundle.read(&path).map_err(|error| {
        format!("{}: {error}; check that it is a readable file", path.display())
    })?;
    bundle.imports.check(address, &path, &content)?;
    bundle.note_url(&path, url);
    Ok(path)
}

fn vendored(bundle: &Bundle, url: &Url) -> PathBuf {
    let mut path = folder_of(bundle, "").join("vendor").join(url.host_str().unwrap_or_default());
    path.extend(url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()));
    path
}
