//! A connection whose bytes are counted below TLS and HTTP/2, as k6 counts them.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

/// What goes to the target: TCP, or the TLS of a proxy that speaks it, whose own bytes are not counted.
pub type Wire = Either<TcpStream, Box<TlsStream<Counted>>>;

/// Bytes since they were last asked for.
#[derive(Default)]
pub struct Traffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Traffic {
    /// What was sent and received, which then counts as told.
    pub fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }
}

pub struct Counted {
    wire: Wire,
    pub traffic: Rc<Traffic>,
}

impl Counted {
    pub fn new(wire: Wire) -> Self {
        Self { wire, traffic: Rc::default() }
    }

    /// The connection of TCP at the bottom.
    pub fn tcp(&self) -> &TcpStream {
        match &self.wire {
            Either::Left(tcp) => tcp,
            Either::Right(tls) => tls.get_ref().0.tcp(),
        }
    }

    fn count_sent(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.traffic.sent.set(self.traffic.sent.get() + *bytes as u64);
        }
        written
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.wire).poll_read(context, buffer);
        let received = &self.traffic.received;
        received.set(received.get() + (buffer.filled().len() - before) as u64);
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.wire).poll_write(context, bytes);
        self.count_sent(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.wire).poll_write_vectored(context, slices);
        self.count_sent(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}
