//! Content codings of bodies (RFC 9110, section 8.4): gzip, deflate, br, zstd, one upon the other.

use std::io::{Read, Write};

use bytes::Bytes;

/// One coding that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

const NAMES: [(&str, Coding); 4] = [("gzip", Coding::Gzip), ("deflate", Coding::Deflate), ("br", Coding::Brotli), ("zstd", Coding::Zstd)];
const BUFFER_BYTES: usize = 8 << 10;
/// Brotli's and zstd's usual compromise of speed and size, and brotli's window (RFC 7932).
const BROTLI_QUALITY: u32 = 6;
const BROTLI_WINDOW: u32 = 22;

impl Coding {
    fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, coding)| *coding)
    }

    fn decode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut plain = Vec::with_capacity(body.len() * 4);
        match self {
            Self::Gzip => flate2::read::MultiGzDecoder::new(body).read_to_end(&mut plain)?,
            Self::Deflate => flate2::read::ZlibDecoder::new(body).read_to_end(&mut plain)?,
            Self::Brotli => brotli::Decompressor::new(body, BUFFER_BYTES).read_to_end(&mut plain)?,
            Self::Zstd => zstd::stream::read::Decoder::new(body)?.read_to_end(&mut plain)?,
        };
        Ok(plain)
    }

    fn encode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let level = flate2::Compression::default();
        match self {
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(body)?;
                encoder.finish()
            }
            Self::Deflate => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(body)?;
                encoder.finish()
            }
            Self::Brotli => {
                let mut packed = Vec::new();
                brotli::CompressorWriter::new(&mut packed, BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW).write_all(body)?;
                Ok(packed)
            }
            Self::Zstd => zstd::encode_all(body, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }
}

/// Undoes the codings of a Content-Encoding header, the last one first; those that are not known are left as they are.
///
/// # Errors
/// The coding whose stream is broken.
// Its coders need 60 KiB of stack, which a caller that it was inlined into would take from each VU.
#[inline(never)]
pub fn decode(header: &str, body: &Bytes) -> Result<Bytes, String> {
    let mut body = body.clone();
    for coding in header.rsplit(',').filter_map(|name| Coding::named(name.trim())) {
        if !body.is_empty() {
            body = coding.decode(&body).map_err(|error| format!("error decompressing response body ({error})"))?.into();
        }
    }
    Ok(body)
}

/// Codes a body as a request's `compression` says, and what its Content-Encoding is then.
///
/// # Errors
/// The name that is no known coding.
// Its coders need 60 KiB of stack, which a caller that it was inlined into would take from each VU.
#[inline(never)]
pub fn encode(codings: &str, body: &Bytes) -> Result<(Bytes, String), String> {
    let (mut body, mut names) = (body.clone(), Vec::new());
    for name in codings.split(',').map(str::trim) {
        let coding = Coding::named(name).ok_or_else(|| format!("unknown compression algorithm '{name}'; supported are gzip, deflate, br, zstd"))?;
        body = coding.encode(&body).map_err(|error| format!("{name}: {error}"))?.into();
        names.push(name);
    }
    Ok((body, names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_coded_decodes_to_itself() {
        let body = Bytes::from("a body, a body, a body");
        for codings in ["gzip", "deflate", "br", "zstd", "gzip, br", "zstd,deflate,gzip"] {
            let (packed, header) = encode(codings, &body).unwrap();
            assert_ne!(packed, body);
            assert_eq!(decode(&header, &packed).unwrap(), body, "{codings}");
        }
    }

    #[test]
    fn unknown_codings_are_refused_in_requests_and_left_alone_in_responses() {
        let body = Bytes::from("text");
        assert_eq!(decode("identity", &body).unwrap(), body);
        assert!(encode("gzip, rot13", &body).unwrap_err().contains("'rot13'"));
    }

    #[test]
    fn a_broken_stream_is_an_error() {
        for coding in ["gzip", "deflate", "br", "zstd"] {
            assert!(decode(coding, &Bytes::from("no such stream")).is_err(), "{coding}");
        }
    }
}
