//! Files that a user names, read whole: what has no end, or far more than it can be meant to have, is refused.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::path::Path;

/// Read at most of what is no regular file, and of files that are small by their nature.
const MOST_BYTES: u64 = 64 << 20;

/// All of a file; of what is no regular one, such as a device, as much as a script may be expected to need.
pub fn whole_file(path: &Path) -> Result<Vec<u8>> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return bounded(&file, MOST_BYTES, "it is no regular file, and has");
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All of a file that is small by its nature, such as a list of secrets or an import map. It may be a pipe.
pub fn small_file(path: &Path) -> Result<Vec<u8>> {
    bounded(&File::open(path)?, MOST_BYTES, "it has")
}

fn bounded(file: &File, most: u64, what: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        true => Err(Error::other(format!("{what} over {} MiB or no end", most >> 20))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_and_a_small_file_is_read() {
        for read in [whole_file as fn(&Path) -> Result<Vec<u8>>, small_file] {
            let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
            assert!(error.ends_with("over 64 MiB or no end"), "{error}");
            assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
            assert!(read(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").as_path())
                .unwrap()
                .starts_with(b"[package]"));
        }
    }

    #[test]
    fn a_file_of_the_greatest_size_is_read_and_one_byte_more_is_refused() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let size = manifest.metadata().unwrap().len();
        let read = |most| bounded(&File::open(&manifest).unwrap(), most, "it has");
        assert_eq!(read(size).unwrap().len() as u64, size);
        assert!(read(size - 1).is_err());
    }
}
