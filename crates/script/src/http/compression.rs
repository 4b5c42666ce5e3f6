//! Content codings of bodies (RFC 9110, section 8.4): gzip, deflate, br, zstd, one upon the other.
//!
//! A response is decoded a piece at a time, because a few bytes may stand for gigabytes, and gigabytes for nothing: a step
//! reads and writes so little that the thread's other work, time limits and limits of memory have their turn.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::rc::Rc;

use bytes::Bytes;

/// One coding that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

const NAMES: [(&str, Coding); 4] = [
    ("gzip", Coding::Gzip),
    ("deflate", Coding::Deflate),
    ("br", Coding::Brotli),
    ("zstd", Coding::Zstd),
];
const BUFFER_BYTES: usize = 8 << 10;
/// What a step of decoding reads at each coding, and writes, at most: about a millisecond's work.
pub const STEP_BYTES: usize = 64 << 10;
/// Codings upon each other; each takes up to 100 KiB, and no server has use for more than two.
const MOST_CODINGS: usize = 8;
/// zstd's window, of which a frame may ask for gigabytes: 8 MiB, as RFC 9659 has it for HTTP.
const ZSTD_WINDOW_LOG: u32 = 23;
/// Brotli's and zstd's usual compromise of speed and size, and brotli's window (RFC 7932).
const BROTLI_QUALITY: u32 = 6;
const BROTLI_WINDOW: u32 = 22;

impl Coding {
    fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, coding)| *coding)
    }

    /// Reads what was coded, from what is coded so.
    fn decoder<R: BufRead + 'static>(self, coded: R) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(coded)),
            Self::Deflate => Box::new(flate2::bufread::ZlibDecoder::new(coded)),
            Self::Brotli => Box::new(WholeBrotli(brotli::Decompressor::new(coded, BUFFER_BYTES))),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(coded)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
        })
    }

    fn encode(self, body: &[u8]) -> io::Result<Vec<u8>> {
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
                brotli::CompressorWriter::new(
                    &mut packed,
                    BUFFER_BYTES,
                    BROTLI_QUALITY,
                    BROTLI_WINDOW,
                )
                .write_all(body)?;
                Ok(packed)
            }
            Self::Zstd => zstd::encode_all(body, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }
}

/// brotli's reader ends where the stream does; bytes after that are a mistake, as in k6.
struct WholeBrotli<R: Read>(brotli::Decompressor<R>);

impl<R: Read> Read for WholeBrotli<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            // Asked once more, it looks for them.
            0 => self.0.read(into),
            read => Ok(read),
        }
    }
}

/// Hands on what is left of a step; then whoever reads has to come again in the next one.
struct Paced<R> {
    source: R,
    left_bytes: Rc<Cell<usize>>,
}

impl<R: BufRead> BufRead for Paced<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let left_bytes = self.left_bytes.get();
        let all = self.source.fill_buf()?;
        if left_bytes == 0 && !all.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(&all[..all.len().min(left_bytes)])
    }

    fn consume(&mut self, bytes: usize) {
        self.left_bytes.set(self.left_bytes.get().saturating_sub(bytes));
        self.source.consume(bytes);
    }
}

impl<R: BufRead> Read for Paced<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let given = self.fill_buf()?;
        let read = given.len().min(into.len());
        into[..read].copy_from_slice(&given[..read]);
        self.consume(read);
        Ok(read)
    }
}

/// A body that is being decoded.
pub struct Decoding {
    plain: Box<dyn Read>,
    /// What each coding may still read in this step.
    lefts: Vec<Rc<Cell<usize>>>,
}

impl Decoding {
    /// Of a body with that Content-Encoding, whose last coding is undone first; codings that are not known are left as they
    /// are. `None` where there is nothing to undo.
    ///
    /// # Errors
    /// Why that many codings, or none of these, can be undone.
    pub fn new(header: &str, body: Bytes) -> Result<Option<Self>, String> {
        let codings: Vec<Coding> =
            header.rsplit(',').filter_map(|name| Coding::named(name.trim())).collect();
        if codings.len() > MOST_CODINGS {
            return Err(broken(&format!(
                "{} codings upon each other; at most {MOST_CODINGS} are undone",
                codings.len()
            )));
        }
        // No frame at all is a body of nothing, as in k6; the other codings have a beginning and an end.
        if body.is_empty() && codings == [Coding::Zstd] {
            return Ok(None);
        }
        let Some((first, others)) = codings.split_first() else {
            return Ok(None);
        };
        let mut lefts = Vec::with_capacity(codings.len());
        let mut left = || {
            let left = Rc::new(Cell::new(STEP_BYTES));
            lefts.push(left.clone());
            left
        };
        let mut plain = first
            .decoder(Paced { source: Cursor::new(body), left_bytes: left() })
            .map_err(|error| broken(&error))?;
        for coding in others {
            let source = BufReader::with_capacity(BUFFER_BYTES, plain);
            plain = coding
                .decoder(Paced { source, left_bytes: left() })
                .map_err(|error| broken(&error))?;
        }
        Ok(Some(Self { plain, lefts }))
    }

    /// Decodes a little more, at most 64 KiB; whether that was the end.
    ///
    /// # Errors
    /// What is broken.
    pub fn step(&mut self, decoded: &mut Vec<u8>) -> Result<bool, String> {
        self.lefts.iter().for_each(|left| left.set(STEP_BYTES));
        match self.plain.by_ref().take(STEP_BYTES as u64).read_to_end(decoded) {
            Ok(read) => Ok(read < STEP_BYTES),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(broken(&error)),
        }
    }
}

fn broken(what: &dyn std::fmt::Display) -> String {
    format!("error decompressing response body ({what})")
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
        let coding = Coding::named(name).ok_or_else(|| {
            format!("unknown compression algorithm '{name}'; supported are gzip, deflate, br, zstd")
        })?;
        body = coding.encode(&body).map_err(|error| format!("{name}: {error}"))?.into();
        names.push(name);
    }
    Ok((body, names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

    /// The decoded body and the steps that it took.
    fn decode(header: &str, body: &Bytes) -> Result<(Bytes, usize), String> {
        let Some(mut decoding) = Decoding::new(header, body.clone())? else {
            return Ok((body.clone(), 0));
        };
        let (mut decoded, mut steps) = (Vec::new(), 1);
        while !decoding.step(&mut decoded)? {
            steps += 1;
        }
        Ok((decoded.into(), steps))
    }

    fn coded(codings: &str, body: &[u8]) -> Bytes {
        encode(codings, &Bytes::copy_from_slice(body)).unwrap().0
    }

    /// Bytes that hardly shrink.
    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        (0..bytes).map(next).collect()
    }

    #[test]
    fn what_was_coded_decodes_to_itself() {
        for plain in
            [b"a body, a body, a body".to_vec(), noise(300_000), vec![0; STEP_BYTES], Vec::new()]
        {
            for codings in [
                "gzip",
                "deflate",
                "br",
                "zstd",
                "gzip, br",
                "zstd,deflate,gzip",
                "br,zstd,br",
                "GZIP",
            ] {
                let (packed, header) =
                    encode(&codings.to_lowercase(), &Bytes::from(plain.clone())).unwrap();
                let header = if codings == "GZIP" { "GZIP".to_owned() } else { header };
                assert_eq!(
                    decode(&header, &packed).unwrap().0,
                    plain,
                    "{codings}, {} bytes",
                    plain.len()
                );
            }
        }
    }

    #[test]
    fn unknown_codings_are_refused_in_requests_and_left_alone_in_responses() {
        let body = Bytes::from("text");
        assert_eq!(decode("identity", &body).unwrap().0, body);
        assert!(encode("gzip, rot13", &body).unwrap_err().contains("'rot13'"));
    }

    #[test]
    fn a_stream_that_is_none_that_ends_early_or_that_was_changed_is_an_error() {
        let plain = noise(5000);
        for coding in CODINGS {
            let whole = coded(coding, &plain);
            let is_error = |body: &[u8]| {
                decode(coding, &Bytes::copy_from_slice(body))
                    .is_err_and(|what| what.starts_with("error decompressing"))
            };
            assert!(is_error(b"no such stream"), "{coding}");
            for end in [1, 5, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
                assert!(is_error(&whole[..end]), "{coding}, {end} of {} bytes", whole.len());
            }
        }
        // These two have a checksum of what was coded.
        for coding in ["gzip", "deflate"] {
            let mut changed = coded(coding, &plain).to_vec();
            changed[2500] ^= 1;
            assert!(decode(coding, &changed.into()).is_err(), "{coding}");
        }
        for coding in ["gzip", "br", "zstd"] {
            let longer = [&coded(coding, &plain)[..], b"more"].concat();
            assert!(decode(coding, &longer.into()).is_err(), "{coding}");
        }
        assert!(decode("gzip", &Bytes::new()).is_err());
        assert_eq!(decode("zstd", &Bytes::new()).unwrap().0, "");
    }

    #[test]
    fn several_members_of_gzip_and_frames_of_zstd_are_one_body() {
        for coding in ["gzip", "zstd"] {
            let both = [coded(coding, b"one "), coded(coding, b"two")].concat();
            assert_eq!(decode(coding, &both.into()).unwrap().0, "one two", "{coding}");
        }
    }

    #[test]
    fn a_step_writes_and_reads_little_whatever_the_body_is() {
        for coding in CODINGS {
            let bomb = coded(coding, &vec![0; 8 << 20]);
            let mut decoding = Decoding::new(coding, bomb).unwrap().unwrap();
            let (mut decoded, mut before) = (Vec::new(), 0);
            while !decoding.step(&mut decoded).unwrap() {
                assert!(decoded.len() - before <= STEP_BYTES, "{coding}");
                before = decoded.len();
            }
            assert_eq!(decoded.len(), 8 << 20, "{coding}");
        }
        // Nothing comes out of it, however much goes in.
        let empty = coded("gzip", b"").repeat(100_000);
        let least = empty.len() / STEP_BYTES;
        assert!(decode("gzip", &Bytes::from(empty.clone())).unwrap().1 >= least);
        assert!(decode("gzip, gzip", &coded("gzip", &empty)).unwrap().1 >= least);
    }

    #[test]
    fn codings_upon_each_other_have_a_limit_and_so_has_the_window_of_zstd() {
        let many = ["gzip"; 9].join(",");
        assert!(decode(&many, &Bytes::from("x")).unwrap_err().contains("9 codings"));
        // A frame whose header asks for a window of 2 GiB (RFC 8878, section 3.1.1.1.2).
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00];
        assert!(decode("zstd", &Bytes::copy_from_slice(&frame)).is_err());
    }
}
