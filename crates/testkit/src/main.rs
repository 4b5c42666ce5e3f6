//! A loopback HTTP server whose capacity is known: c servers, exponential or constant service, first come first
//! served, optionally frozen for a while (the whole server stands still, as under SIGSTOP). When a request will be done is computed when it arrives (Kiefer–Wolfowitz),
//! so timers add at most a millisecond to a response and nothing to the capacity.
//!
//! `plimsoll-testkit --port 0 --servers 4 --service-ms 13.3 --constant --freeze-at-s 10 --freeze-for-s 1 --status 200`
//! prints its URL. The freeze counts from the first request. `GET /answers` of one that freezes tells when it began each answer
//! so far, in milliseconds since the first request: what a generator should have seen. With `--site` it is a site instead (`site.rs`).

mod certificates;
mod digest;
mod front;
mod hostile;
mod site;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rand::{rngs::SmallRng, Rng, SeedableRng};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const HELP: &str = "plimsoll-testkit: a loopback server whose capacity is known; prints its URL
  --port N           default 0: a free one        --status N         default 200
  --servers N        0: as many as requests       --seed N           default 1
  --service-ms X     mean service time            --constant         not exponential
  --freeze-at-s X    stand still, after this      --freeze-for-s X   for so long, once
  --site             a site of all that HTTP does, see below; with it:
  --tls FOLDER       over TLS; writes ca.pem, client.pem and client.key there
  --no-http2         HTTP/1.1 only                --tls12            not TLS 1.3
  --client-auth      wants the client's certificate
";

struct Settings {
    port: u16,
    servers: usize,
    service_ms: f64,
    constant: bool,
    freeze_at_s: f64,
    freeze_for_s: f64,
    status: u16,
    seed: u64,
    site: Site,
}

#[derive(Default)]
struct Site {
    wanted: bool,
    tls: Option<PathBuf>,
    no_http2: bool,
    tls12: bool,
    client_auth: bool,
}

struct Queue {
    settings: Settings,
    rng: SmallRng,
    first: Option<Instant>,
    /// When each server is free again, in seconds since the first request.
    free_s: Vec<f64>,
    /// When each answer was begun, since the first request.
    answered: Vec<Duration>,
}

impl Queue {
    /// How long until the request that arrives now is done.
    fn admit(&mut self) -> Duration {
        let first = *self.first.get_or_insert_with(Instant::now);
        let now_s = first.elapsed().as_secs_f64();
        let mut service_s = self.settings.service_ms / 1000.0;
        if !self.settings.constant {
            service_s *= -(1.0 - self.rng.random::<f64>()).ln();
        }
        // No servers given: as many as there are requests.
        let Some(earliest) = self.free_s.iter_mut().min_by(|a, b| a.total_cmp(b)) else {
            return Duration::from_secs_f64(service_s);
        };
        let done_s = earliest.max(now_s) + service_s;
        *earliest = done_s;
        Duration::from_secs_f64((done_s - now_s).max(0.0))
    }

    /// Only a server that is to freeze keeps them: another's memory shall not grow with what it answered.
    fn note_answer(&mut self) {
        if self.settings.freeze_for_s > 0.0 {
            self.answered.extend(self.first.map(|first| first.elapsed()));
        }
    }

    /// A JSON list of the moments of all answers in milliseconds, to the microsecond.
    fn answers(&self) -> String {
        let moments: Vec<String> =
            self.answered.iter().map(|at| format!("{:.3}", at.as_secs_f64() * 1000.0)).collect();
        format!("[{}]", moments.join(","))
    }
}

fn response(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} Known\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn settings() -> Result<Settings, String> {
    let mut settings = Settings {
        port: 0,
        servers: 1,
        service_ms: 0.0,
        constant: false,
        freeze_at_s: f64::MAX,
        freeze_for_s: 0.0,
        status: 200,
        seed: 1,
        site: Site::default(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-h" | "--help") {
            println!("{HELP}{}{}", site::HELP, hostile::HELP);
            std::process::exit(0);
        }
        let switch = match word.as_str() {
            "--constant" => Some(&mut settings.constant),
            "--site" => Some(&mut settings.site.wanted),
            "--no-http2" => Some(&mut settings.site.no_http2),
            "--tls12" => Some(&mut settings.site.tls12),
            "--client-auth" => Some(&mut settings.site.client_auth),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word}: a value is missing"))?;
        if word == "--tls" {
            settings.site.tls = Some(value.into());
            continue;
        }
        let number: f64 = value.parse().map_err(|_| format!("{word} {value}: not a number"))?;
        match word.as_str() {
            "--port" => settings.port = number as u16,
            "--servers" => settings.servers = number as usize,
            "--service-ms" => settings.service_ms = number,
            "--freeze-at-s" => settings.freeze_at_s = number,
            "--freeze-for-s" => settings.freeze_for_s = number,
            "--status" => settings.status = number as u16,
            "--seed" => settings.seed = number as u64,
            other => return Err(format!("{other}: unknown")),
        }
    }
    Ok(settings)
}

async fn serve(mut stream: TcpStream, queue: Rc<RefCell<Queue>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let status = queue.borrow().settings.status;
    let answer = response(status, r#"{"id":1,"items":[{"name":"a"},{"name":"b"}]}"#);
    let mut buffer = Vec::with_capacity(4096);
    loop {
        let head_end = loop {
            if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let head = String::from_utf8_lossy(&buffer[..head_end]).to_ascii_lowercase();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
            .unwrap_or(0);
        while buffer.len() < head_end + length {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        buffer.drain(..head_end + length);
        if head.starts_with("get /answers ") {
            let told = response(200, &queue.borrow().answers());
            stream.write_all(told.as_bytes()).await?;
            continue;
        }
        freeze_once(&queue);
        let wait = queue.borrow_mut().admit();
        if wait > Duration::from_micros(200) {
            tokio::time::sleep(wait).await;
        }
        queue.borrow_mut().note_answer();
        stream.write_all(answer.as_bytes()).await?;
    }
}

/// Stands still for the stated time, once, at the first request after the stated moment.
fn freeze_once(queue: &Rc<RefCell<Queue>>) {
    let mut queue = queue.borrow_mut();
    let elapsed_s = queue.first.map_or(0.0, |first| first.elapsed().as_secs_f64());
    if elapsed_s >= queue.settings.freeze_at_s {
        queue.settings.freeze_at_s = f64::MAX;
        std::thread::sleep(Duration::from_secs_f64(queue.settings.freeze_for_s));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = settings()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        // A short line of connections to accept would answer a freeze with SYN retransmissions, a second later.
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], settings.port)))?;
        let listener = socket.listen(65_535)?;
        let (scheme, at) =
            (if settings.site.tls.is_some() { "https" } else { "http" }, listener.local_addr()?);
        if settings.site.wanted {
            let Site { tls, no_http2, tls12, client_auth, .. } = &settings.site;
            let tls = tls
                .as_ref()
                .map(|folder| certificates::server_config(folder, !no_http2, *tls12, *client_auth))
                .transpose()?;
            println!("{scheme}://{at}");
            return Ok(front::run(listener, tls).await?);
        }
        println!("{scheme}://{at}");
        let (rng, free_s) = (SmallRng::seed_from_u64(settings.seed), vec![0.0; settings.servers]);
        let queue = Rc::new(RefCell::new(Queue {
            settings,
            rng,
            first: None,
            free_s,
            answered: Vec::new(),
        }));
        loop {
            let (stream, _) = listener.accept().await?;
            let queue = queue.clone();
            tokio::task::spawn_local(async move {
                // A client that goes away in the middle of a request ends its connection and nothing else.
                let _ = serve(stream, queue).await;
            });
        }
    })
}
