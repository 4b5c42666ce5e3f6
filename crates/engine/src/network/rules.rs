//! What a run's options say of the network, shared by all threads: names, addresses, TLS, the limit of requests.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_core::options::network::Network;
use plimsoll_core::options::Options;
use plimsoll_script::allowance::BodyLimits;
use plimsoll_script::secrets::Secrets;

use crate::network::proxy::Proxies;
use crate::network::tls::Tls;

pub struct Rules {
    pub network: Network,
    /// Connections are kept for further requests.
    pub reuse: bool,
    pub tls: Tls,
    pub pace: Option<Pace>,
    pub bodies: BodyLimits,
    pub proxies: Proxies,
    /// Where connections were made to, unless through a proxy.
    pub reached: Reached,
    /// What logs of requests must not show.
    pub secrets: Arc<Secrets>,
}

/// The addresses to which a run has connected so far, at most `MOST` of them.
#[derive(Default)]
pub struct Reached(Mutex<BTreeSet<SocketAddr>>);

impl Reached {
    const MOST: usize = 1000;

    pub fn note(&self, remote: SocketAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < Self::MOST {
            known.insert(remote);
        }
    }

    /// All of them, in order.
    pub fn all(&self) -> Vec<SocketAddr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

impl Rules {
    /// # Errors
    /// The mistakes of options whose meaning shows only here: certificates, keys, cipher suites.
    pub fn new(
        options: &Options,
        bodies: BodyLimits,
        secrets: Arc<Secrets>,
    ) -> Result<Arc<Self>, Vec<String>> {
        let network = options.network.clone();
        let tls = Tls::new(&network, options.insecure_skip_tls_verify)?;
        let pace = network.rps.map(Pace::new);
        let proxies = Proxies::of_environment();
        Ok(Arc::new(Self {
            network,
            reuse: !options.no_connection_reuse,
            tls,
            pace,
            bodies,
            proxies,
            reached: Reached::default(),
            secrets,
        }))
    }
}

/// At most so many requests per second over all threads, evenly spread (`rps`).
pub struct Pace {
    began: Instant,
    apart_ns: u64,
    /// When the next request may start, in ns since `began`.
    next_ns: AtomicU64,
}

impl Pace {
    fn new(per_s: u64) -> Self {
        Self { began: Instant::now(), apart_ns: 1_000_000_000 / per_s, next_ns: AtomicU64::new(0) }
    }

    /// Waits for this request's turn.
    pub async fn turn(&self) {
        let now_ns = self.began.elapsed().as_nanos() as u64;
        tokio::time::sleep(Duration::from_nanos(self.claim(now_ns) - now_ns)).await;
    }

    /// Takes the next turn, at `now_ns` or later.
    fn claim(&self, now_ns: u64) -> u64 {
        let after = |next: u64| Some(next.max(now_ns) + self.apart_ns);
        // The update never refuses, so that both arms hold the value before it.
        let (Ok(next) | Err(next)) =
            self.next_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        next.max(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_once_and_their_number_is_bounded() {
        let reached = Reached::default();
        for port in [90, 80, 90].into_iter().chain(1000..3000) {
            reached.note(SocketAddr::from(([127, 0, 0, 1], port)));
        }
        let all = reached.all();
        assert_eq!((all.len(), all[0].port(), all[1].port()), (Reached::MOST, 80, 90));
    }

    #[test]
    fn turns_are_apart_and_unused_ones_are_lost() {
        let pace = Pace::new(10);
        let ms = |claimed: u64| claimed / 1_000_000;
        assert_eq!([pace.claim(0), pace.claim(0), pace.claim(0)].map(ms), [0, 100, 200]);
        assert_eq!([pace.claim(1_000_000_000), pace.claim(1_000_000_000)].map(ms), [1000, 1100]);
    }
}
