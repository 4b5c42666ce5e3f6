//! Bodies of responses as they come: kept as far as the VU may, or thrown away piece by piece.

use std::io;

use bytes::{Buf, Bytes};
use plimsoll_script::allowance::{Claim, Gathered, TooLarge, MOST_HEAD_BYTES};

use super::head::{chunk_size, invalid, shown, too_long, Framing};
use super::Connection;

/// A chunk's line with its extensions.
const MOST_LINE_BYTES: usize = 4 << 10;
/// A shorter body is taken out of the buffer that it was read into, without a copy.
pub(super) const MOST_BUFFERED_BYTES: usize = 64 << 10;
/// Of a body that nobody wants, so much is read to keep the connection; what is longer costs more than another connection.
const MOST_PASSED_OVER_BYTES: u64 = 256 << 10;

/// A body as it grows; without a claim it is thrown away.
struct Body<'a> {
    bytes: Gathered,
    claim: Option<&'a mut Claim>,
}

impl Body<'_> {
    fn add(&mut self, part: &[u8]) -> io::Result<()> {
        match &mut self.claim {
            Some(claim) => claim.add(&mut self.bytes, part).map_err(over),
            None => Ok(()),
        }
    }
}

fn over(limit: TooLarge) -> io::Error {
    invalid(&limit.to_string())
}

impl Connection {
    /// The body, which claims what it takes; without a claim it is thrown away.
    pub(super) async fn read_body(
        &mut self,
        framing: Framing,
        claim: Option<&mut Claim>,
    ) -> io::Result<Bytes> {
        match framing {
            Framing::Empty => Ok(Bytes::new()),
            Framing::Length(length) if length <= MOST_BUFFERED_BYTES => {
                self.read_length(length, claim).await
            }
            _ => {
                let mut body = Body { bytes: Gathered::default(), claim };
                match framing {
                    Framing::Length(length) => {
                        body.claim
                            .as_ref()
                            .map_or(Ok(()), |claim| claim.admits(length))
                            .map_err(over)?;
                        self.read_part(length, &mut body).await?;
                    }
                    Framing::Chunked => self.read_chunks(&mut body).await?,
                    _ => self.read_to_end(&mut body).await?,
                }
                Ok(body.bytes.whole())
            }
        }
    }

    /// Reads the body of a redirection, which nobody wants; false where it is so long that the connection is not worth it.
    pub(super) async fn pass_over(&mut self, framing: Framing) -> io::Result<bool> {
        self.most_received = Some(self.received + MOST_PASSED_OVER_BYTES);
        let passed = self.read_body(framing, None).await;
        self.most_received = None;
        match passed {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::QuotaExceeded => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn read_length(&mut self, length: usize, claim: Option<&mut Claim>) -> io::Result<Bytes> {
        while self.buffer.len() < length {
            self.fill().await?;
        }
        let body = self.buffer.split_to(length);
        match claim {
            Some(claim) => claim.grow_to(length).map(|()| body.freeze()).map_err(over),
            None => Ok(Bytes::new()),
        }
    }

    /// Reads so many bytes of the body.
    async fn read_part(&mut self, length: usize, body: &mut Body<'_>) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            if self.buffer.is_empty() {
                self.fill().await?;
            }
            let here = left.min(self.buffer.len());
            body.add(&self.buffer[..here])?;
            self.buffer.advance(here);
            left -= here;
        }
        Ok(())
    }

    async fn read_to_end(&mut self, body: &mut Body<'_>) -> io::Result<()> {
        loop {
            body.add(&self.buffer)?;
            self.buffer.clear();
            if self.fill_or_end().await? == 0 {
                return Ok(());
            }
        }
    }

    async fn read_chunks(&mut self, body: &mut Body<'_>) -> io::Result<()> {
        loop {
            let line = self.read_line(MOST_LINE_BYTES).await?;
            let size = chunk_size(&line)?;
            if size == 0 {
                return self.read_trailer().await;
            }
            self.read_part(size, body).await?;
            while self.buffer.len() < 2 {
                self.fill().await?;
            }
            if !self.buffer.starts_with(b"\r\n") {
                return Err(invalid("malformed chunked encoding"));
            }
            self.buffer.advance(2);
        }
    }

    /// Reads the headers after the last chunk, which nobody gets.
    async fn read_trailer(&mut self) -> io::Result<()> {
        let mut bytes = 0;
        loop {
            let line = self.read_line(MOST_HEAD_BYTES).await?;
            if line.is_empty() {
                return Ok(());
            }
            bytes += line.len();
            if bytes > MOST_HEAD_BYTES {
                return Err(invalid(&too_long("trailer")));
            }
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            let goes_on = matches!(line[0], b' ' | b'\t');
            if !goes_on
                && (name.len() == line.len()
                    || name.is_empty()
                    || name.iter().any(|byte| !byte.is_ascii_graphic()))
            {
                return Err(invalid(&format!(
                    "the response's trailer has a malformed line: {}",
                    shown(&line)
                )));
            }
        }
    }

    async fn read_line(&mut self, most_bytes: usize) -> io::Result<Bytes> {
        let mut seen = 0;
        loop {
            let end =
                self.buffer[seen..].windows(2).position(|pair| pair == b"\r\n").map(|at| seen + at);
            if let Some(end) = end.filter(|end| *end <= most_bytes) {
                let line = self.buffer.split_to(end).freeze();
                self.buffer.advance(2);
                return Ok(line);
            }
            if self.buffer[seen..end.unwrap_or(self.buffer.len())].contains(&b'\n') {
                return Err(invalid("chunked line ends with bare LF"));
            }
            if end.is_some() || self.buffer.len() > most_bytes + 1 {
                return Err(invalid(&format!(
                    "the response has a line over {} KiB in its chunks",
                    most_bytes >> 10
                )));
            }
            seen = self.buffer.len().saturating_sub(1);
            self.fill().await?;
        }
    }
}
