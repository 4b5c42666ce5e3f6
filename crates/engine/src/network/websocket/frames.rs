//! Frames as they are on the wire (RFC 6455, section 5.2).

use plimsoll_script::socket::Kind;

/// Payload of a frame that is not part of a message.
pub const MOST_CONTROL_BYTES: usize = 125;

const FINAL: u8 = 0x80;
const COMPRESSED: u8 = 0x40;
const OTHER_RESERVED: u8 = 0x30;
const MASKED: u8 = 0x80;

/// What a frame is: the first of a message or all of it, what follows, or for the connection itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    Continuation,
    Of(Kind),
}

impl Opcode {
    fn read(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Continuation,
            1 => Self::Of(Kind::Text),
            2 => Self::Of(Kind::Binary),
            8 => Self::Of(Kind::Close),
            9 => Self::Of(Kind::Ping),
            10 => Self::Of(Kind::Pong),
            _ => return None,
        })
    }

    fn code(kind: Kind) -> u8 {
        match kind {
            Kind::Text => 1,
            Kind::Binary => 2,
            Kind::Close => 8,
            Kind::Ping => 9,
            Kind::Pong => 10,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub opcode: Opcode,
    pub is_final: bool,
    pub is_compressed: bool,
    pub payload_bytes: u64,
    /// Of the header itself.
    pub bytes: usize,
}

impl Header {
    /// The header at the start of what a server sent; none if it is not complete.
    ///
    /// # Errors
    /// What no server may send.
    pub fn read(buffer: &[u8]) -> Result<Option<Self>, String> {
        let [first, second, rest @ ..] = buffer else {
            return Ok(None);
        };
        if first & OTHER_RESERVED != 0 {
            return Err("reserved bits are set".into());
        }
        let code = first & 0x0f;
        let opcode = Opcode::read(code).ok_or_else(|| format!("bad opcode {code}"))?;
        if second & MASKED != 0 {
            return Err("the server masks its frames".into());
        }
        let (payload_bytes, bytes) = match second & 0x7f {
            126 => match rest {
                [a, b, ..] => (u64::from(u16::from_be_bytes([*a, *b])), 4),
                _ => return Ok(None),
            },
            127 => match rest.first_chunk::<8>() {
                Some(length) => (u64::from_be_bytes(*length), 10),
                None => return Ok(None),
            },
            length => (u64::from(length), 2),
        };
        let header = Self {
            opcode,
            is_final: first & FINAL != 0,
            is_compressed: first & COMPRESSED != 0,
            payload_bytes,
            bytes,
        };
        header.check().map(|()| Some(header))
    }

    fn check(&self) -> Result<(), String> {
        let Opcode::Of(kind) = self.opcode else {
            return if self.is_compressed {
                Err("a frame that goes on is marked as compressed".into())
            } else {
                Ok(())
            };
        };
        if kind.is_message() {
            return Ok(());
        }
        if !self.is_final {
            return Err("a control frame is in parts".into());
        }
        if self.is_compressed {
            return Err("a control frame is compressed".into());
        }
        if self.payload_bytes > MOST_CONTROL_BYTES as u64 {
            return Err(format!("a control frame has over {MOST_CONTROL_BYTES} bytes"));
        }
        Ok(())
    }
}

/// Writes a whole frame of a client, masked with `key` (RFC 6455, section 5.3).
pub fn write(
    out: &mut impl Extend<u8>,
    kind: Kind,
    is_compressed: bool,
    key: [u8; 4],
    payload: &mut [u8],
) {
    let compressed = if is_compressed { COMPRESSED } else { 0 };
    out.extend([FINAL | compressed | Opcode::code(kind)]);
    match payload.len() {
        length @ 0..=125 => out.extend([MASKED | length as u8]),
        length @ 126..=0xffff => {
            out.extend([MASKED | 126]);
            out.extend((length as u16).to_be_bytes());
        }
        length => {
            out.extend([MASKED | 127]);
            out.extend((length as u64).to_be_bytes());
        }
    }
    out.extend(key);
    mask(payload, key);
}

/// Masks or unmasks, eight bytes at a time.
pub fn mask(payload: &mut [u8], key: [u8; 4]) {
    let wide = u64::from_ne_bytes([key, key].concat().try_into().unwrap_or_default());
    let mut chunks = payload.chunks_exact_mut(8);
    for chunk in &mut chunks {
        if let Ok(bytes) = <[u8; 8]>::try_from(&*chunk) {
            chunk.copy_from_slice(&(u64::from_ne_bytes(bytes) ^ wide).to_ne_bytes());
        }
    }
    for (byte, key) in chunks.into_remainder().iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: Kind, payload: &[u8], key: [u8; 4]) -> Vec<u8> {
        let (mut out, mut payload) = (Vec::new(), payload.to_vec());
        write(&mut out, kind, false, key, &mut payload);
        out.extend(payload);
        out
    }

    #[test]
    fn frames_are_those_of_the_standards_examples() {
        let hello = written(Kind::Text, b"Hello", [0x37, 0xfa, 0x21, 0x3d]);
        assert_eq!(hello, [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
        let read = |bytes: &[u8]| Header::read(bytes).unwrap();
        let first = read(&[0x01, 0x03, 0x48, 0x65, 0x6c]).unwrap();
        assert_eq!((first.opcode, first.is_final), (Opcode::Of(Kind::Text), false));
        let last = read(&[0x80, 0x02, 0x6c, 0x6f]).unwrap();
        assert_eq!((last.opcode, last.is_final), (Opcode::Continuation, true));
        assert_eq!(read(&[0x82, 0x7e, 0x01, 0x00]).unwrap().payload_bytes, 256);
        assert_eq!(read(&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]).unwrap().payload_bytes, 65_536);
    }

    #[test]
    fn a_header_in_parts_is_awaited() {
        for whole in [&[0x82, 0x7e, 1, 0][..], &[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]] {
            for end in 0..whole.len() {
                assert_eq!(Header::read(&whole[..end]).unwrap(), None, "{end}");
            }
        }
    }

    #[test]
    fn lengths_are_written_in_the_shortest_form() {
        for (length, head) in [(125, 6), (126, 8), (65_535, 8), (65_536, 14)] {
            let frame = written(Kind::Binary, &vec![7; length], [1, 2, 3, 4]);
            assert_eq!(frame.len(), head + length);
        }
    }

    #[test]
    fn masking_twice_gives_the_same() {
        for length in [0, 1, 7, 8, 9, 31, 100] {
            let plain: Vec<u8> = (0..length).collect();
            let mut masked = plain.clone();
            mask(&mut masked, [9, 8, 7, 6]);
            let by_byte: Vec<u8> = plain
                .iter()
                .zip([9, 8, 7, 6].iter().cycle())
                .map(|(byte, key)| byte ^ key)
                .collect();
            assert_eq!(masked, by_byte);
            mask(&mut masked, [9, 8, 7, 6]);
            assert_eq!(masked, plain);
        }
    }

    #[test]
    fn what_a_server_may_not_send_is_refused() {
        for (bytes, what) in [
            ([0xa1, 0x00], "reserved"),
            ([0x83, 0x00], "bad opcode 3"),
            ([0x81, 0x80], "masks"),
            ([0x09, 0x00], "in parts"),
            ([0xc9, 0x00], "control frame is compressed"),
            ([0xc0, 0x00], "goes on is marked"),
        ] {
            assert!(Header::read(&bytes).unwrap_err().contains(what), "{bytes:?}");
        }
        assert!(Header::read(&[0x89, 0x7e, 0, 126]).unwrap_err().contains("over 125"));
    }
}
