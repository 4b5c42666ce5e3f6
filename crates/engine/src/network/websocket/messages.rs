//! From bytes to messages: frames are joined, decompressed, and what comes in between is given as it comes.

use std::rc::Rc;

use bytes::{Buf, Bytes, BytesMut};
use plimsoll_script::allowance::{Allowance, Claim, Gathered, TooLarge};
use plimsoll_script::socket::{close, Kind};

use super::deflate;
use super::frames::{Header, Opcode};

/// What a server sent.
#[derive(Debug)]
pub enum Incoming {
    Message { kind: Kind, bytes: Bytes, claim: Claim },
    Ping(Bytes),
    Pong(Bytes),
    Close { code: u16, reason: String },
}

/// The server broke the protocol, or its message is too large.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken {
    /// With which the connection is closed.
    pub code: u16,
    pub what: String,
}

pub struct Reader {
    allowance: Rc<Allowance>,
    /// The server compresses messages.
    inflates: bool,
    /// The message of which a part has come.
    begun: Option<Begun>,
    /// Payload of the frame under way that has not come yet, and whether the message ends with it.
    under_way: Option<(u64, bool)>,
}

struct Begun {
    kind: Kind,
    is_compressed: bool,
    bytes: Gathered,
    claim: Claim,
}

fn broken(what: String) -> Broken {
    Broken { code: close::PROTOCOL_ERROR, what: format!("websocket: {what}") }
}

fn too_big(over: TooLarge) -> Broken {
    let shown = |bytes: usize| match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    };
    let what = match over {
        TooLarge::One(most) => format!("a message is over the limit of {}; raise --max-body", shown(most)),
        TooLarge::Together(most) => format!(
            "the messages and bodies that this VU has not taken yet are over {} together; raise --vu-memory",
            shown(most)
        ),
        TooLarge::OfRun(most) => format!(
            "the messages and bodies of all VUs are over {} together, half of the memory that was free; use fewer VUs or lower --max-body",
            shown(most)
        ),
    };
    Broken { code: close::TOO_BIG, what: format!("websocket: {what}") }
}

impl Reader {
    pub fn new(allowance: &Rc<Allowance>, inflates: bool) -> Self {
        Self { allowance: allowance.clone(), inflates, begun: None, under_way: None }
    }

    /// The next thing that is complete, taken out of the buffer.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Incoming>, Broken> {
        loop {
            if let Some((left, is_last)) = self.under_way {
                match self.go_on(buffer, left, is_last)? {
                    Some(message) => return Ok(Some(message)),
                    None if self.under_way.is_some() => return Ok(None),
                    None => continue,
                }
            }
            let Some(header) = Header::read(buffer).map_err(broken)? else {
                return Ok(None);
            };
            if let Opcode::Of(kind) = header.opcode {
                if !kind.is_message() {
                    return control(kind, header, buffer);
                }
            }
            if let Some(message) = self.begin(header, buffer)? {
                return Ok(Some(message));
            }
        }
    }

    /// A frame of a message begins.
    fn begin(&mut self, header: Header, buffer: &mut BytesMut) -> Result<Option<Incoming>, Broken> {
        if header.is_compressed && !self.inflates {
            return Err(broken("a message is compressed, which was not agreed on".into()));
        }
        match (header.opcode, &self.begun) {
            (Opcode::Continuation, None) => {
                return Err(broken("a message goes on that has not begun".into()))
            }
            (Opcode::Of(_), Some(_)) => {
                return Err(broken("a message begins within another one".into()))
            }
            (Opcode::Of(kind), None) => {
                let claim = Claim::on(&self.allowance);
                let length = header.payload_bytes as usize;
                claim.admits(length).map_err(too_big)?;
                if header.is_final && buffer.len() - header.bytes >= length {
                    buffer.advance(header.bytes);
                    return whole(kind, header.is_compressed, buffer.split_to(length), claim)
                        .map(Some);
                }
                let bytes = Gathered::default();
                self.begun =
                    Some(Begun { kind, is_compressed: header.is_compressed, bytes, claim });
            }
            (Opcode::Continuation, Some(begun)) => {
                let together = (begun.bytes.length() as u64).saturating_add(header.payload_bytes);
                begun.claim.admits(together as usize).map_err(too_big)?;
            }
        }
        buffer.advance(header.bytes);
        self.under_way = Some((header.payload_bytes, header.is_final));
        Ok(None)
    }

    /// Takes what has come of the frame under way; the message, if that was the end of it.
    fn go_on(
        &mut self,
        buffer: &mut BytesMut,
        left: u64,
        is_last: bool,
    ) -> Result<Option<Incoming>, Broken> {
        let Some(begun) = &mut self.begun else {
            self.under_way = None;
            return Ok(None);
        };
        let come = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        begun.claim.add(&mut begun.bytes, &buffer[..come]).map_err(too_big)?;
        buffer.advance(come);
        let left = left - come as u64;
        if left > 0 {
            self.under_way = Some((left, is_last));
            return Ok(None);
        }
        self.under_way = None;
        if !is_last {
            return Ok(None);
        }
        match self.begun.take() {
            Some(Begun { kind, is_compressed: true, bytes, claim }) => {
                inflated(kind, &bytes.whole(), claim).map(Some)
            }
            Some(Begun { kind, bytes, claim, .. }) => {
                Ok(Some(Incoming::Message { kind, bytes: bytes.whole(), claim }))
            }
            None => Ok(None),
        }
    }
}

/// A message of one frame.
fn whole(
    kind: Kind,
    is_compressed: bool,
    bytes: BytesMut,
    mut claim: Claim,
) -> Result<Incoming, Broken> {
    if is_compressed {
        return inflated(kind, &bytes, claim);
    }
    claim.grow_to(bytes.len()).map_err(too_big)?;
    Ok(Incoming::Message { kind, bytes: bytes.freeze(), claim })
}

fn inflated(kind: Kind, bytes: &[u8], mut claim: Claim) -> Result<Incoming, Broken> {
    // What it held while it was compressed is given back.
    claim.grow_to(0).map_err(too_big)?;
    let whole = deflate::decompressed(bytes, &mut claim).map_err(|failed| match failed {
        deflate::Failed::Broken(what) => broken(format!("a compressed message is broken: {what}")),
        deflate::Failed::TooLarge(over) => too_big(over),
    })?;
    Ok(Incoming::Message { kind, bytes: whole.whole(), claim })
}

/// A frame that is no part of a message; none if it is not complete.
fn control(kind: Kind, header: Header, buffer: &mut BytesMut) -> Result<Option<Incoming>, Broken> {
    let length = header.payload_bytes as usize;
    if buffer.len() < header.bytes + length {
        return Ok(None);
    }
    buffer.advance(header.bytes);
    let payload = buffer.split_to(length).freeze();
    Ok(Some(match kind {
        Kind::Ping => Incoming::Ping(payload),
        Kind::Pong => Incoming::Pong(payload),
        _ => closing(&payload)?,
    }))
}

fn closing(payload: &[u8]) -> Result<Incoming, Broken> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return if payload.is_empty() {
            Ok(Incoming::Close { code: close::NO_STATUS, reason: String::new() })
        } else {
            Err(broken("a closing frame has half a code".into()))
        };
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(broken(format!("bad close code {code}")));
    }
    let reason = std::str::from_utf8(reason)
        .map_err(|_| broken("the reason of a closing frame is no UTF-8".into()))?;
    Ok(Incoming::Close { code, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use plimsoll_fuzz::holds;
    use plimsoll_fuzz::proptest::{collection::vec, prelude::*};
    use plimsoll_script::allowance::{BodyLimits, RunLimit};

    use super::*;

    fn reader(one_bytes: usize, inflates: bool) -> Reader {
        let run = RunLimit::new(usize::MAX);
        Reader::new(&Allowance::new(BodyLimits { one_bytes, vu_bytes: usize::MAX, run }), inflates)
    }

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![first];
        match payload.len() {
            length @ 0..=125 => frame.push(length as u8),
            length @ 126..=0xffff => {
                frame.push(126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend(payload);
        frame
    }

    /// All that comes of these pieces, in words.
    fn read<'a>(mut reader: Reader, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut buffer, mut told) = (BytesMut::new(), Vec::new());
        for piece in pieces {
            buffer.extend_from_slice(piece);
            loop {
                match reader.next(&mut buffer) {
                    Ok(None) => break,
                    Ok(Some(Incoming::Message { kind, bytes, .. })) => {
                        told.push(format!(
                            "{kind:?} {} {:?}",
                            bytes.len(),
                            &bytes[..bytes.len().min(9)]
                        ));
                    }
                    Ok(Some(other)) => told.push(format!("{other:?}")),
                    Err(broken) => {
                        told.push(format!("{broken:?}"));
                        return told;
                    }
                }
            }
        }
        told
    }

    fn read_whole(bytes: &[u8]) -> Vec<String> {
        read(reader(1 << 20, false), std::iter::once(bytes))
    }

    #[test]
    fn a_message_in_parts_is_one_and_a_ping_between_them_comes_first() {
        let parts =
            [frame(0x01, b"ab"), frame(0x89, b"!"), frame(0x00, b""), frame(0x80, b"cd")].concat();
        assert_eq!(read_whole(&parts), ["Ping(b\"!\")", "Text 4 [97, 98, 99, 100]"]);
    }

    #[test]
    fn what_comes_does_not_depend_on_where_the_pieces_end() {
        let one = (any::<u8>(), vec(any::<u8>(), 0..300), any::<bool>());
        let inputs = (vec(one, 1..8), vec(1_usize..200, 1..20));
        holds("websocket pieces", &inputs, |(frames, sizes)| {
            let mut bytes = Vec::new();
            for (kind, payload, whole) in &frames {
                match (kind % 5, whole) {
                    (0, _) => bytes.extend(frame(0x89, &payload[..payload.len().min(125)])),
                    (1, _) => bytes.extend(frame(*kind, payload)),
                    (_, true) => bytes.extend(frame(0x82, payload)),
                    (_, false) => {
                        let (first, last) = payload.split_at(payload.len() / 2);
                        bytes.extend([frame(0x01, first), frame(0x80, last)].concat());
                    }
                }
            }
            let (mut pieces, mut rest, mut at) = (Vec::new(), &bytes[..], 0);
            while !rest.is_empty() {
                let (piece, more) = rest.split_at(rest.len().min(sizes[at % sizes.len()]));
                pieces.push(piece);
                (rest, at) = (more, at + 1);
            }
            prop_assert_eq!(read(reader(1 << 20, false), pieces.into_iter()), read_whole(&bytes));
            Ok(())
        });
    }

    #[test]
    fn what_no_server_may_send_is_broken() {
        for (bytes, what) in [
            (frame(0x80, b"ab"), "has not begun"),
            ([frame(0x01, b"ab"), frame(0x81, b"cd")].concat(), "within another"),
            (frame(0xc1, b"ab"), "not agreed on"),
            (frame(0x88, b"a"), "half a code"),
            (frame(0x88, &1005_u16.to_be_bytes()), "bad close code 1005"),
            (frame(0x88, &[0x03, 0xe8, 0xff]), "no UTF-8"),
        ] {
            let told = read_whole(&bytes);
            assert!(told.len() == 1 && told[0].contains(what), "{told:?}");
            assert!(told[0].contains("1002"), "{told:?}");
        }
    }

    #[test]
    fn a_message_over_the_limit_is_refused_before_it_has_come() {
        let head = [0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0];
        let told = read_whole(&head);
        assert!(
            told[0].contains("1009") && told[0].contains("a message is over the limit"),
            "{told:?}"
        );
        let parts = [frame(0x02, &[0; 600]), frame(0x80, &[0; 600])].concat();
        let told = read(reader(1000, false), std::iter::once(&parts[..]));
        assert!(told[0].contains("1009"), "{told:?}");
    }

    #[test]
    fn a_compressed_message_in_parts_is_read() {
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let parts = [frame(0x41, &hello[..3]), frame(0x80, &hello[3..])].concat();
        let told = read(reader(1000, true), std::iter::once(&parts[..]));
        assert_eq!(told, ["Text 5 [72, 101, 108, 108, 111]"]);
    }

    #[test]
    fn closing_says_code_and_reason() {
        let closing = [&4001_u16.to_be_bytes()[..], b"go"].concat();
        assert_eq!(read_whole(&frame(0x88, &closing)), ["Close { code: 4001, reason: \"go\" }"]);
        assert_eq!(read_whole(&frame(0x88, b"")), ["Close { code: 1005, reason: \"\" }"]);
    }
}
