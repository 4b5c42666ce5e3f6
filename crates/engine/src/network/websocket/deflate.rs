//! Compressed messages (RFC 7692), each by itself: neither side remembers what came before.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use plimsoll_script::allowance::{Claim, Gathered, TooLarge};

/// What ends a message on both sides, and is not sent (RFC 7692, section 7.2.1).
const END: [u8; 4] = [0, 0, 0xff, 0xff];
const PIECE_BYTES: usize = 32 << 10;

/// A server agreed, to what was offered.
pub fn is_agreed<'a>(answers: impl Iterator<Item = impl AsRef<str> + 'a>) -> Result<bool, String> {
    let mut is_agreed = false;
    for answer in answers {
        for extension in answer.as_ref().split(',') {
            let mut parts = extension.split(';').map(str::trim);
            if parts.next() != Some("permessage-deflate") || is_agreed {
                return Err(format!(
                    "the server wants an extension that was not offered: {}",
                    extension.trim()
                ));
            }
            let parts: Vec<&str> = parts.collect();
            for needed in ["server_no_context_takeover", "client_no_context_takeover"] {
                if !parts.contains(&needed) {
                    return Err(format!(
                        "the server compresses without {needed}, which was asked for"
                    ));
                }
            }
            is_agreed = true;
        }
    }
    Ok(is_agreed)
}

thread_local! {
    /// Hundreds of KiB, and nothing of a message is kept: the sockets of a thread share them.
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), false));
    static DECOMPRESS: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// A message, compressed.
pub fn compressed(message: &[u8]) -> Vec<u8> {
    COMPRESS.with_borrow_mut(|by| compressed_by(by, message))
}

fn compressed_by(by: &mut Compress, message: &[u8]) -> Vec<u8> {
    by.reset();
    let mut out = Vec::with_capacity(message.len() / 2 + 64);
    loop {
        let read = by.total_in() as usize;
        let done = by.compress_vec(&message[read..], &mut out, FlushCompress::Sync);
        // With room left, all has been written.
        if done.is_err() || (out.len() < out.capacity() && by.total_in() as usize == message.len())
        {
            break;
        }
        out.reserve(PIECE_BYTES);
    }
    if out.ends_with(&END) {
        out.truncate(out.len() - END.len());
    }
    out
}

/// Why a message cannot be given as it was.
#[derive(Debug)]
pub enum Failed {
    Broken(String),
    TooLarge(TooLarge),
}

/// A message as it was before, whose bytes `claim` admits.
pub fn decompressed(message: &[u8], claim: &mut Claim) -> Result<Gathered, Failed> {
    DECOMPRESS.with_borrow_mut(|by| decompressed_by(by, message, claim))
}

fn decompressed_by(
    by: &mut Decompress,
    message: &[u8],
    claim: &mut Claim,
) -> Result<Gathered, Failed> {
    by.reset(false);
    let mut out = Gathered::default();
    let mut piece = vec![0; PIECE_BYTES];
    for part in [message, &END] {
        let begins = by.total_in() as usize;
        loop {
            let (read, written) = (by.total_in(), by.total_out());
            let rest = &part[read as usize - begins..];
            let status = by
                .decompress(rest, &mut piece, FlushDecompress::Sync)
                .map_err(|error| Failed::Broken(error.to_string()))?;
            let made = (by.total_out() - written) as usize;
            claim.add(&mut out, &piece[..made]).map_err(Failed::TooLarge)?;
            if status == Status::StreamEnd {
                return Ok(out);
            }
            let is_done = by.total_in() as usize - begins == part.len() && made < piece.len();
            if is_done || (by.total_in() == read && made == 0) {
                break;
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use plimsoll_script::allowance::{Allowance, BodyLimits, RunLimit};

    use super::*;

    fn claim(one_bytes: usize) -> Claim {
        let run = RunLimit::new(usize::MAX);
        Claim::on(&Allowance::new(BodyLimits { one_bytes, vu_bytes: usize::MAX, run }))
    }

    #[test]
    fn a_message_comes_back_as_it_was() {
        let noise: Vec<u8> =
            (0..200_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for message in [&b""[..], b"Hello", &[b'a'; 300_000], &noise] {
            let small = compressed(message);
            let back = decompressed(&small, &mut claim(usize::MAX)).unwrap().whole();
            assert_eq!(back, message);
        }
    }

    #[test]
    fn the_standards_example_is_read() {
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let read = |bytes: &[u8]| decompressed(bytes, &mut claim(100)).map(Gathered::whole);
        assert_eq!(read(&hello).unwrap(), "Hello");
        assert!(read(&[0xff, 0xff, 0xff]).is_err());
    }

    #[test]
    fn a_small_message_that_grows_without_end_is_refused() {
        let bomb = compressed(&vec![0; 10 << 20]);
        assert!(bomb.len() < 100_000);
        let refused = decompressed(&bomb, &mut claim(1 << 20));
        assert!(matches!(refused, Err(Failed::TooLarge(TooLarge::One(_)))));
    }

    #[test]
    fn only_what_was_offered_is_agreed_on() {
        let offered = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        assert_eq!(is_agreed([offered].iter()), Ok(true));
        assert_eq!(is_agreed([""; 0].iter()), Ok(false));
        assert!(is_agreed(["permessage-deflate"].iter()).is_err());
        assert!(is_agreed(["x-other"].iter()).is_err());
    }
}
