//! What of a request is still to be sent. It goes out while the response is awaited and read, since a server may answer
//! before it has read everything, as one does that refuses a large upload (413).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use super::Stream;

#[derive(Default)]
pub struct Outbox {
    parts: [Bytes; 2],
    is_to_flush: bool,
    /// Of the request so far.
    pub written: u64,
    /// When the last byte went, if not at once.
    pub emptied: Option<Instant>,
    /// Why the rest could not be sent. The peer may have answered all the same.
    pub error: Option<io::Error>,
}

impl Outbox {
    /// Begins with another message: two parts, of which the first is sent at once as far as it goes without waiting.
    pub fn begin(&mut self, stream: &mut Stream, first: &[u8], second: Bytes) -> io::Result<()> {
        *self = Self::default();
        let written = match stream {
            Stream::Plain(tcp) => match tcp.try_write(first) {
                Ok(written) => written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            },
            Stream::Tls(_) => {
                self.is_to_flush = true;
                0
            }
        };
        self.written = written as u64;
        self.parts = [
            if written == first.len() {
                Bytes::new()
            } else {
                Bytes::copy_from_slice(&first[written..])
            },
            second,
        ];
        Ok(())
    }

    /// Whether there is nothing left to do.
    pub fn is_empty(&self) -> bool {
        !self.is_to_flush && self.parts.iter().all(Bytes::is_empty)
    }

    /// Sends as far as it goes without waiting; the task is woken when it goes further.
    pub fn poll(&mut self, stream: &mut Stream, context: &mut Context<'_>) {
        let sent = match stream {
            Stream::Plain(tcp) => self.poll_to(Pin::new(tcp), context),
            Stream::Tls(tls) => self.poll_to(Pin::new(tls.as_mut()), context),
        };
        match sent {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => self.emptied = Some(Instant::now()),
            Poll::Ready(Err(error)) => {
                (self.parts, self.is_to_flush) = ([Bytes::new(), Bytes::new()], false);
                self.error = Some(error);
            }
        }
    }

    fn poll_to<S: AsyncWrite>(
        &mut self,
        mut stream: Pin<&mut S>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while let Some(part) = self.parts.iter_mut().find(|part| !part.is_empty()) {
            let written = std::task::ready!(stream.as_mut().poll_write(context, part))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            part.advance(written);
            self.written += written as u64;
        }
        if self.is_to_flush {
            std::task::ready!(stream.poll_flush(context))?;
            self.is_to_flush = false;
        }
        Poll::Ready(Ok(()))
    }
}
