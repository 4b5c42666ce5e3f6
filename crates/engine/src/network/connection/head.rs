//! The head of a response: what it says of its body and of the connection (RFC 9112). What Go's client, and with it k6,
//! takes for broken is broken here.

use std::io;
use std::mem::MaybeUninit;

use bytes::BytesMut;
use plimsoll_script::allowance::MOST_HEAD_BYTES;

/// Heads with more are read in a second try, with room for as many as they have lines.
const USUAL_HEADERS: usize = 128;

/// The last response's head with what it says. Most answers of a server are alike, and to compare costs a twentieth of
/// what reading costs.
#[derive(Default)]
pub struct LastHead {
    bytes: Vec<u8>,
    of_head_request: bool,
    says: Option<ResponseHead>,
}

impl LastHead {
    /// Longer heads are read each time.
    const MOST_BYTES: usize = 1024;

    /// What the head at the start of the buffer says; `None` when it is not complete yet.
    pub fn read(&mut self, buffer: &[u8], method: &str) -> io::Result<Option<ResponseHead>> {
        let of_head_request = method == "HEAD";
        if self.says.is_some()
            && self.of_head_request == of_head_request
            && buffer.starts_with(&self.bytes)
        {
            return Ok(self.says);
        }
        let head = parse(buffer, method)?;
        if head.as_ref().map_or(buffer.len(), |head| head.length) > MOST_HEAD_BYTES {
            return Err(invalid(&too_long("head")));
        }
        if let Some(head) = head.filter(|head| head.length <= Self::MOST_BYTES) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&buffer[..head.length]);
            (self.of_head_request, self.says) = (of_head_request, Some(head));
        }
        Ok(head)
    }
}

/// That a response's head is over the limit, whatever carried it.
pub fn too_long(part: &str) -> String {
    format!("the response's {part} is over {} KiB", MOST_HEAD_BYTES >> 10)
}

/// What the head of a response says.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead {
    pub length: usize,
    pub status: u16,
    pub http11: bool,
    pub keep_alive: bool,
    /// Whether there is a Content-Encoding.
    pub is_coded: bool,
    /// Whether it says where the client should go.
    pub moves: bool,
    /// A header goes on in another line (RFC 9112, section 5.2).
    pub is_folded: bool,
    pub framing: Framing,
}

/// How the end of a body is known (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Empty,
    Length(usize),
    Chunked,
    UntilClose,
}

pub fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}

/// The beginning of what a server wrote, for a message: it becomes a tag of samples.
pub fn shown(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]))
}

/// Parses a response head; `None` when it is not complete yet.
fn parse(buffer: &[u8], method: &str) -> io::Result<Option<ResponseHead>> {
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    let mut slots = [const { MaybeUninit::uninit() }; USUAL_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    match config.parse_response_with_uninit_headers(&mut response, buffer, &mut slots) {
        Err(httparse::Error::TooManyHeaders) => {
            let lines = buffer.iter().take(MOST_HEAD_BYTES).filter(|byte| **byte == b'\n').count();
            let mut slots = vec![httparse::EMPTY_HEADER; lines];
            let mut response = httparse::Response::new(&mut slots);
            let parsed = config.parse_response(&mut response, buffer);
            match parsed {
                // More lines than the longest head may have.
                Err(httparse::Error::TooManyHeaders) => Err(invalid(&too_long("head"))),
                parsed => read(parsed, &response, method),
            }
        }
        parsed => read(parsed, &response, method),
    }
}

fn read(
    parsed: httparse::Result<usize>,
    response: &httparse::Response<'_, '_>,
    method: &str,
) -> io::Result<Option<ResponseHead>> {
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(invalid(&format!("the response is not HTTP/1.1: {error}"))),
    };
    let status = response.code.unwrap_or(0);
    let http11 = response.version == Some(1);
    let (mut keep_alive, mut is_coded, mut moves, mut is_folded) = (http11, false, false, false);
    let (mut body_length, mut transfer): (Option<&[u8]>, Option<&[u8]>) = (None, None);
    for header in response.headers.iter() {
        let named = |name: &str| header.name.eq_ignore_ascii_case(name);
        is_folded |= header.value.contains(&b'\n');
        if named("content-length") {
            let value = header.value.trim_ascii();
            if let Some(known) = body_length.filter(|known| *known != value) {
                let got = format!("got [{} {}]", shown(known), shown(value));
                return Err(invalid(&format!(
                    "http: message cannot contain multiple Content-Length headers; {got}"
                )));
            }
            body_length = Some(value);
        } else if named("transfer-encoding") && http11 {
            if transfer.is_some() {
                return Err(invalid("the response has several Transfer-Encodings"));
            }
            transfer = Some(header.value.trim_ascii());
        } else if named("connection") {
            keep_alive = if http11 {
                !says(header.value, "close")
            } else {
                says(header.value, "keep-alive")
            };
        } else if named("content-encoding") {
            is_coded = true;
        } else if named("location") {
            moves = moves || !header.value.trim_ascii().is_empty();
        }
    }
    let framing = framing(method, status, transfer, body_length)?;
    Ok(Some(ResponseHead {
        length,
        status,
        http11,
        keep_alive,
        is_coded,
        moves,
        is_folded,
        framing,
    }))
}

fn framing(
    method: &str,
    status: u16,
    transfer: Option<&[u8]>,
    length: Option<&[u8]>,
) -> io::Result<Framing> {
    if method == "HEAD" || (100..200).contains(&status) || status == 204 || status == 304 {
        return Ok(Framing::Empty);
    }
    match (transfer, length) {
        (Some(coding), _) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
        (Some(coding), _) => {
            Err(invalid(&format!("unsupported transfer encoding: {}", shown(coding))))
        }
        (None, Some(length)) => content_length(length).map(Framing::Length),
        (None, None) => Ok(Framing::UntilClose),
    }
}

/// Whether a header's value has a word, in either case.
fn says(value: &[u8], word: &str) -> bool {
    value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

fn content_length(value: &[u8]) -> io::Result<usize> {
    let text = std::str::from_utf8(value)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let wrong = || invalid(&format!("bad Content-Length {}", shown(value)));
    text.and_then(|text| text.parse().ok()).ok_or_else(wrong)
}

/// The size that a chunk's line states: hexadecimal digits, then perhaps an extension (RFC 9112, section 7.1).
pub fn chunk_size(line: &[u8]) -> io::Result<usize> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    let text = std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let size = text.and_then(|text| usize::from_str_radix(text, 16).ok());
    size.ok_or_else(|| invalid(&format!("invalid byte in chunk length: {}", shown(line))))
}

/// Puts the lines of a folded header into one, with spaces in place of the breaks.
pub fn unfold(head: &mut BytesMut) {
    for at in 1..head.len() {
        if head[at - 1] == b'\n' && matches!(head[at], b' ' | b'\t') {
            head[at - 1] = b' ';
            if at > 1 && head[at - 2] == b'\r' {
                head[at - 2] = b' ';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(head: Option<ResponseHead>) -> Option<usize> {
        match head?.framing {
            Framing::Length(length) => Some(length),
            Framing::Empty => Some(0),
            Framing::Chunked | Framing::UntilClose => None,
        }
    }

    #[test]
    fn a_known_head_says_the_same_again_and_another_one_is_read() {
        let mut last = LastHead::default();
        let response = |length: usize| {
            format!("HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: {length}\r\n\r\nbody")
                .into_bytes()
        };
        for wanted in [5, 5, 6, 5] {
            let head = last.read(&response(wanted), "GET").unwrap();
            assert_eq!((head.unwrap().status, length(head)), (200, Some(wanted)));
        }
        // The same head means no body where the request was HEAD, and half of it is no head yet.
        assert_eq!(length(last.read(&response(5), "HEAD").unwrap()), Some(0));
        assert_eq!(length(last.read(&response(5), "GET").unwrap()), Some(5));
        assert!(last.read(&response(5)[..30], "GET").unwrap().is_none());
        assert!(last.read(b"nonsense\r\n\r\n", "GET").is_err());
        assert_eq!(length(last.read(&response(7), "GET").unwrap()), Some(7));
    }

    fn of(headers: &str) -> Result<Framing, String> {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
        parse(head.as_bytes(), "GET")
            .map(|head| head.unwrap().framing)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn lengths_that_differ_and_codings_of_the_transfer_that_are_not_known_are_broken() {
        assert_eq!(of("Content-Length: 5\r\ncontent-length: 5\r\n"), Ok(Framing::Length(5)));
        assert_eq!(of("Content-Length: 5\r\nTransfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
        assert_eq!(of(""), Ok(Framing::UntilClose));
        for (headers, what) in [
            (
                "Content-Length: 5\r\nContent-Length: 6\r\n",
                "multiple Content-Length headers; got [\"5\" \"6\"]",
            ),
            ("Content-Length: +5\r\n", "bad Content-Length \"+5\""),
            ("Content-Length: 5, 5\r\n", "bad Content-Length \"5, 5\""),
            ("Content-Length: -1\r\n", "bad Content-Length \"-1\""),
            ("Content-Length: 99999999999999999999\r\n", "bad Content-Length"),
            ("Content-Length: \r\n", "bad Content-Length \"\""),
            (
                "Transfer-Encoding: gzip, chunked\r\n",
                "unsupported transfer encoding: \"gzip, chunked\"",
            ),
            ("Transfer-Encoding: xchunked\r\n", "unsupported transfer encoding"),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                "several Transfer-Encodings",
            ),
        ] {
            assert!(
                of(headers).is_err_and(|error| error.contains(what)),
                "{headers}: {:?}",
                of(headers)
            );
        }
    }

    #[test]
    fn sizes_of_chunks_are_digits_and_nothing_else() {
        for (line, size) in [
            ("0", 0),
            ("1a", 26),
            ("1A;x=y", 26),
            ("5 ", 5),
            ("5\t;x", 5),
            ("ffffffffffffffff", usize::MAX),
        ] {
            assert_eq!(chunk_size(line.as_bytes()).unwrap(), size, "{line}");
        }
        for line in
            ["", "+3", "-3", " 3", "0x3", "3g", ";x", "1ffffffffffffffff", "3\nabc", "\u{663}"]
        {
            assert!(chunk_size(line.as_bytes()).is_err(), "{line:?}");
        }
    }

    #[test]
    fn a_head_may_have_any_number_of_headers_within_its_length() {
        let head = |count: usize| {
            format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(count)).into_bytes()
        };
        let mut last = LastHead::default();
        for count in [0, 127, 128, 129, 1000, 10_900] {
            assert_eq!(
                last.read(&head(count), "GET").unwrap().unwrap().length,
                head(count).len(),
                "{count}"
            );
            assert!(
                last.read(&head(count)[..head(count).len() - 1], "GET").unwrap().is_none(),
                "{count}"
            );
        }
        for count in [10_930, 100_000] {
            let whole = head(count);
            for bytes in
                [whole.as_slice(), &whole[..whole.len() - 1], &whole[..MOST_HEAD_BYTES + 1]]
            {
                assert_eq!(
                    last.read(bytes, "GET").unwrap_err().to_string(),
                    "the response's head is over 64 KiB",
                    "{count}"
                );
            }
        }
    }

    #[test]
    fn a_folded_header_becomes_one_line() {
        let mut head = BytesMut::from(&b"HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nD: e\n\tf\r\n\r\n"[..]);
        assert!(parse(&head, "GET").unwrap().unwrap().is_folded);
        unfold(&mut head);
        assert_eq!(&head[..], b"HTTP/1.1 200 OK\r\nA: b    c\r\nD: e \tf\r\n\r\n");
    }
}
