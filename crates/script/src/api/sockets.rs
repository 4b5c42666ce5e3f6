//! `k6/websockets` and `k6/ws`: what their JavaScript needs of the host. A socket of the first tells a function what
//! happens, in the VU's event loop; one of the second is asked for it while its script waits in `connect()`.

mod asked;
mod bytes;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use plimsoll_core::record::TagSetId;
use plimsoll_core::system_tags::SystemTag;
use rquickjs::function::{Opt, Rest};
use rquickjs::{Array, ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use crate::api::events::Events;
use crate::effect::{Effect, HttpResponse, News, Reply, Wanted};
use crate::http::cookies::SharedJar;
use crate::http::response::canonical;
use crate::runtime::host::Natives;
use crate::runtime::intrinsics;
use crate::socket::{close, Ended, Event, Handshake, Kind, Line, Manner, Outgoing, Traffic};
use crate::state::{Moment, VuState};
use crate::values::{bytes_of, named, text_bytes, text_of_string};
use asked::Asked;

/// A socket of a VU's iteration.
pub struct Socket<'js> {
    line: Rc<Line>,
    /// Is called with what happens; a script that waits for its socket has none.
    deliver: Option<Function<'js>>,
    given: Given,
    began: Instant,
    /// Of its samples, once it is known what the server answered.
    tags: Cell<Option<TagSetId>>,
}

/// What its tags and cookies depend on.
struct Given {
    /// Tags of the script, with the name.
    tags: Vec<(String, String)>,
    jar: Option<SharedJar>,
    moment: Moment,
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("open", open)?;
    natives.add("next", next)?;
    natives.add("leave", leave)?;
    natives.add("send", |ctx: Ctx<'js>, number: u32, data: Value<'js>| -> Result<()> {
        let is_binary = data.is_object()
            && (data.clone().into_object().is_some_and(|given| {
                given.as_array_buffer().is_some() || given.contains_key("byteLength").unwrap_or(false)
            }));
        let (kind, payload) = match () {
            () if data.is_string() => (Kind::Text, text_bytes(&ctx, &data)?),
            () if is_binary => (Kind::Binary, bytes_of(&ctx, &data, "send()")?),
            () => {
                let what = format!("unsupported send type {}; send a text, an ArrayBuffer, a view of one or a Blob: JSON.stringify() makes a text of other values", named(&data));
                return Err(Exception::throw_type(&ctx, &what));
            }
        };
        send(&ctx, number, kind, payload)
    })?;
    natives.add("ping", |ctx: Ctx<'js>, number: u32, payload: Value<'js>| -> Result<()> {
        let payload = text_bytes(&ctx, &payload)?;
        send(&ctx, number, Kind::Ping, payload)
    })?;
    natives.add(
        "close",
        |ctx: Ctx<'js>, number: u32, code: u16, reason: Value<'js>| -> Result<()> {
            let mut payload = code.to_be_bytes().to_vec();
            payload.extend(text_bytes(&ctx, &reason)?);
            send(&ctx, number, Kind::Close, payload)
        },
    )?;
    natives.add("buffered", |ctx: Ctx<'js>, number: u32| -> Result<usize> {
        let events = VuState::running(&ctx)?.events(&ctx)?;
        let unsent = events.line(number).map_or(0, |line| line.unsent_bytes());
        Ok(unsent)
    })?;
    natives.add("now", |ctx: Ctx<'js>| -> Result<f64> {
        let began = VuState::running(&ctx)?.run_started.get();
        Ok(began.elapsed().as_secs_f64() * 1000.0)
    })?;
    natives.add("time", bytes::unix_ms)?;
    bytes::install(natives)?;
    natives.add("warn", |ctx: Ctx<'js>, text: rquickjs::String<'js>| -> Result<()> {
        let vu = VuState::running(&ctx)?;
        vu.bundle.log("WARN", vu.vu, &vu.bundle.secrets.clean(&text_of_string(&text)));
        Ok(())
    })
}

/// Begins to open a socket; gives the number by which it is known.
fn open<'js>(
    ctx: Ctx<'js>,
    url: Value<'js>,
    protocols: Value<'js>,
    params: Value<'js>,
    deliver: Opt<Function<'js>>,
) -> Result<u32> {
    let vu = VuState::running(&ctx)?;
    let events = vu.events(&ctx)?;
    let asked = Asked::read(&ctx, &vu, &url, &protocols, &params, deliver.0.is_some())?;
    let line = Rc::new(Line::new(
        events.next_number(),
        asked.request,
        Manner { compresses: asked.compresses, counts_all: deliver.0.is_some() },
    ));
    events.add_socket(Socket {
        line: line.clone(),
        deliver: deliver.0,
        given: Given { tags: asked.tags, jar: asked.jar, moment: vu.moment() },
        began: Instant::now(),
        tags: Cell::new(None),
    });
    let number = line.number;
    vu.begin_beside(&ctx, Effect::Open(line)).inspect_err(|_| drop(events.take_socket(number)))?;
    Ok(number)
}

/// Waits for news of one socket, at most so long; what happened, or undefined.
fn next<'js>(ctx: Ctx<'js>, number: u32, most_ms: Opt<Value<'js>>) -> Result<Value<'js>> {
    let vu = VuState::running(&ctx)?;
    let most_ms = most_ms.0.and_then(|ms| ms.as_number());
    let most = most_ms.map(|ms| Duration::try_from_secs_f64(ms.max(0.0) / 1000.0));
    let until = most.and_then(|most| Instant::now().checked_add(most.unwrap_or(Duration::MAX)));
    match vu.perform(&ctx, Effect::Next(Wanted { until, of: Some(number) }))? {
        Reply::Next(Some((_, News::Socket(event)))) => {
            let events = vu.events(&ctx)?;
            let told = Array::new(ctx.clone())?;
            for (at, value) in events.note(&ctx, number, event)?.into_iter().enumerate() {
                told.set(at, value)?;
            }
            Ok(told.into_value())
        }
        _ => {
            vu.events(&ctx)?.record_traffic();
            Ok(Value::new_undefined(ctx))
        }
    }
}

/// Waits until what was sent has gone out, and ends the socket.
fn leave<'js>(ctx: Ctx<'js>, number: u32) -> Result<()> {
    let events = VuState::running(&ctx)?.events(&ctx)?;
    while let Some(line) = events.line(number) {
        line.leave();
        next(ctx.clone(), number, Opt(None))?;
    }
    Ok(())
}

/// Leaves a frame to the host. One that is gone takes nothing any more.
fn send(ctx: &Ctx<'_>, number: u32, kind: Kind, payload: Vec<u8>) -> Result<()> {
    let vu = VuState::running(ctx)?;
    let Some(line) = vu.events(ctx)?.line(number) else {
        return Ok(());
    };
    if !vu.runtime.memory.has_room(payload.len()) {
        vu.runtime.collect_garbage();
    }
    let charge = vu
        .runtime
        .memory
        .charge(payload.len())
        .ok_or_else(|| Exception::throw_message(ctx, "out of memory"))?;
    line.send(Outgoing { kind, payload, charge });
    Ok(())
}

impl<'js> Events<'js> {
    fn line(&self, number: u32) -> Option<Rc<Line>> {
        let sockets = self.sockets.borrow();
        sockets.iter().find(|known| known.line.number == number).map(|known| known.line.clone())
    }

    fn take_socket(&self, number: u32) -> Option<Socket<'js>> {
        let mut sockets = self.sockets.borrow_mut();
        let at = sockets.iter().position(|known| known.line.number == number)?;
        Some(sockets.remove(at))
    }

    /// Tells the script what happened to a socket.
    pub fn tell(&self, ctx: &Ctx<'js>, number: u32, event: Event) -> Result<()> {
        let sockets = self.sockets.borrow();
        let known = sockets.iter().find(|known| known.line.number == number);
        let deliver = known.and_then(|known| known.deliver.clone());
        drop(sockets);
        let told = self.note(ctx, number, event)?;
        match deliver {
            Some(deliver) => deliver.call::<_, Value>((Rest(told),)).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Records what happened to a socket; its kind and what belongs to it, as the script is told.
    fn note(&self, ctx: &Ctx<'js>, number: u32, event: Event) -> Result<Vec<Value<'js>>> {
        let vu = VuState::running(ctx)?;
        let is_over = match &event {
            Event::Opened(handshake) => handshake.failed(),
            other => matches!(other, Event::Closed(_)),
        };
        if let Some(socket) = is_over.then(|| self.take_socket(number)).flatten() {
            return socket.note(ctx, &vu, event);
        }
        let mut sockets = self.sockets.borrow_mut();
        let known = sockets.iter_mut().find(|known| known.line.number == number);
        known.map_or_else(|| Ok(Vec::new()), |socket| socket.note_open(ctx, &vu, event))
    }

    /// Records what the sockets have sent and received by now.
    pub fn record_traffic(&self) {
        let sockets = self.sockets.borrow();
        if let (false, Some(vu)) = (sockets.is_empty(), crate::runtime::running()) {
            sockets.iter().for_each(|socket| socket.record_traffic(&vu));
        }
    }

    /// Forgets the sockets that an iteration leaves open: it failed, or was interrupted. As in k6, their sessions have no
    /// duration: it would be one that was cut off.
    pub fn leave_sockets(&self, vu: &VuState) {
        self.sockets.borrow_mut().drain(..).for_each(|socket| socket.record_traffic(vu));
    }
}

impl Handshake {
    /// Whether there is no connection.
    fn failed(&self) -> bool {
        self.response.failure.is_some() || self.refused.is_some()
    }
}

impl<'js> Socket<'js> {
    /// The last news of a socket.
    fn note(mut self, ctx: &Ctx<'js>, vu: &VuState, event: Event) -> Result<Vec<Value<'js>>> {
        match event {
            Event::Opened(handshake) => {
                self.record_opening(ctx, vu, &handshake);
                // k6 counts the sessions of k6/ws that did not come about as sessions of no length.
                if self.deliver.is_none() {
                    self.conclude(vu, handshake.response.finished);
                }
                handshake_told(ctx, &self.line, &handshake)
            }
            Event::Closed(ended) => {
                self.conclude(vu, ended.at);
                closed_told(ctx, &ended)
            }
            other => self.note_open(ctx, vu, other),
        }
    }

    fn note_open(&mut self, ctx: &Ctx<'js>, vu: &VuState, event: Event) -> Result<Vec<Value<'js>>> {
        self.line.taken(&event);
        match event {
            Event::Opened(handshake) => {
                self.record_opening(ctx, vu, &handshake);
                handshake_told(ctx, &self.line, &handshake)
            }
            Event::Message { kind, bytes, claim: _claim } => {
                self.record_message(vu);
                let data = match kind {
                    Kind::Text => String::from_utf8_lossy(&bytes).as_ref().into_js(ctx)?,
                    _ => intrinsics::buffer(ctx, &bytes).map(ArrayBuffer::into_value)?,
                };
                let name = if kind == Kind::Text { "message" } else { "binaryMessage" };
                Ok(vec![name.into_js(ctx)?, data])
            }
            Event::Ping => Ok(vec!["ping".into_js(ctx)?]),
            Event::Pong(took) => {
                if let (Some(took), Some(tags)) = (took, self.tags.get()) {
                    let took_ms = took.as_secs_f64() * 1000.0;
                    vu.recorder.borrow_mut().add(vu.builtin.ws_ping, tags, took_ms);
                }
                self.record_traffic(vu);
                Ok(vec!["pong".into_js(ctx)?])
            }
            Event::Closed(ended) => closed_told(ctx, &ended),
        }
    }

    fn record_opening(&mut self, ctx: &Ctx<'js>, vu: &VuState, handshake: &Handshake) {
        let response = &handshake.response;
        self.keep_cookies(vu, response);
        let Given { tags, moment, .. } = &mut self.given;
        let tags = vu.at(moment, || tag_set(ctx, vu, tags, response));
        self.tags.set(Some(tags));
        vu.recorder.borrow_mut().add_all(
            tags,
            &[
                (vu.builtin.ws_sessions, 1.0),
                (vu.builtin.ws_connecting, handshake.took.as_secs_f64() * 1000.0),
                (vu.builtin.data_sent, response.bytes_sent as f64),
                (vu.builtin.data_received, response.bytes_received as f64),
            ],
        );
    }

    fn keep_cookies(&self, vu: &VuState, response: &HttpResponse) {
        for value in response.head.all("set-cookie") {
            let Some(url) = self.line.request.address.url() else {
                return;
            };
            let jar = self.given.jar.as_ref().unwrap_or(&vu.jar);
            // A cookie that the jar refuses (a foreign domain, say) is not kept, as in a browser.
            let _ = jar.borrow_mut().parse(&value, &url);
        }
    }

    fn record_message(&self, vu: &VuState) {
        if let Some(tags) = self.tags.get() {
            vu.recorder.borrow_mut().add(vu.builtin.ws_msgs_received, tags, 1.0);
        }
        self.record_traffic(vu);
    }

    fn record_traffic(&self, vu: &VuState) {
        let Some(tags) = self.tags.get() else { return };
        let Traffic { frames_sent, bytes_sent, bytes_received } = self.line.take_traffic();
        let mut recorder = vu.recorder.borrow_mut();
        for _ in 0..frames_sent {
            recorder.add(vu.builtin.ws_msgs_sent, tags, 1.0);
        }
        let bytes = [
            (vu.builtin.data_sent, bytes_sent as f64),
            (vu.builtin.data_received, bytes_received as f64),
        ];
        for (metric, value) in bytes.into_iter().filter(|(_, value)| *value > 0.0) {
            recorder.add(metric, tags, value);
        }
    }

    /// Records the session as ended at that moment.
    fn conclude(&self, vu: &VuState, at: Instant) {
        self.record_traffic(vu);
        if let Some(tags) = self.tags.get() {
            let lasted_ms = at.saturating_duration_since(self.began).as_secs_f64() * 1000.0;
            vu.recorder.borrow_mut().add(vu.builtin.ws_session_duration, tags, lasted_ms);
        }
    }
}

fn tag_set(
    ctx: &Ctx<'_>,
    vu: &VuState,
    given: &[(String, String)],
    response: &HttpResponse,
) -> TagSetId {
    let carried = vu.bundle.defaults.system_tags;
    let status = response.status.to_string();
    let protocol = response.head.all("sec-websocket-protocol").next().unwrap_or_default();
    let ip = response.remote.map(|remote| remote.ip().to_string());
    let has_answer = response.status != 0;
    let own = [
        (SystemTag::Status, "status", Some(status.as_str()).filter(|_| has_answer)),
        (SystemTag::Subproto, "subproto", Some(protocol.as_ref()).filter(|_| has_answer)),
        (SystemTag::Ip, "ip", ip.as_deref()),
    ];
    let names = carried.has(SystemTag::Name) || carried.has(SystemTag::Url);
    let mut extra: Vec<(&str, &str)> = given
        .iter()
        .filter(|(key, _)| names || key != "name")
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    extra.extend(
        own.into_iter()
            .filter(|(tag, ..)| carried.has(*tag))
            .filter_map(|(_, key, value)| value.map(|value| (key, value))),
    );
    vu.tag_set(ctx, &extra)
}

/// 'open' with protocol, extensions and the response; or 'failed' with the error and the response.
fn handshake_told<'js>(
    ctx: &Ctx<'js>,
    line: &Line,
    handshake: &Handshake,
) -> Result<Vec<Value<'js>>> {
    let got = &handshake.response;
    let response = Object::new(ctx.clone())?;
    let came = got.status != 0;
    let url = asked::as_socket(line.request.address.as_str());
    response.set("url", if handshake.failed() { "" } else { url.as_str() })?;
    response.set("status", got.status)?;
    let headers = Object::new(ctx.clone())?;
    for (name, value) in got.head.headers().filter(|_| came) {
        headers.set(canonical(&name), value.as_ref())?;
    }
    response.set("headers", headers)?;
    response.set("body", String::from_utf8_lossy(&got.body).as_ref())?;
    let failure = got.failure.as_ref().map(|failure| failure.message.as_str());
    response.set("error", failure.unwrap_or_default())?;
    let response = response.into_value();
    if let Some(error) = failure.or(handshake.refused.as_deref()) {
        return Ok(vec!["failed".into_js(ctx)?, error.into_js(ctx)?, response]);
    }
    let protocol = got.head.all("sec-websocket-protocol").next().unwrap_or_default();
    let extensions: Vec<String> =
        got.head.all("sec-websocket-extensions").map(|value| value.into_owned()).collect();
    Ok(vec![
        "open".into_js(ctx)?,
        protocol.as_ref().into_js(ctx)?,
        extensions.into_js(ctx)?,
        response,
    ])
}

/// 'closed' with code, reason, and the error if it is one.
fn closed_told<'js>(ctx: &Ctx<'js>, ended: &Ended) -> Result<Vec<Value<'js>>> {
    let code = if ended.failure.is_some() { close::ABNORMAL } else { ended.code };
    Ok(vec![
        "closed".into_js(ctx)?,
        code.into_js(ctx)?,
        ended.reason.as_str().into_js(ctx)?,
        ended.error().into_js(ctx)?,
    ])
}
