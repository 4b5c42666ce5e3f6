//! What a script asks for, as a call: its URL, body and parameters.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plimsoll_core::duration;
use rquickjs::{Coerced, Ctx, Exception, FromJs, Object, Result, Value};

use super::{Call, Expected};
use crate::effect::HttpRequest;
use crate::http::address::Address;
use crate::http::auth::{self, Scheme};
use crate::http::body;
use crate::http::compression;
use crate::http::cookies;
use crate::runtime::raw::each_property;
use crate::state::VuState;
use crate::values::{tags_of, text_of};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Headers of a script; a value that is no text is what JavaScript's String() makes of it, as in k6.
pub fn headers_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    if let Some(given) = value.as_object() {
        each_property(given, |name, value| {
            let is_plain = value.is_string() || value.is_number() || value.is_bool();
            let text =
                if is_plain { text_of(&value) } else { Coerced::<String>::from_js(ctx, value)?.0 };
            headers.push((name.to_owned(), text));
            Ok(())
        })?;
    }
    Ok(headers)
}

impl Call {
    /// A request of `batch()`: a URL, an array of method, URL, body and parameters, or an object of these.
    pub(super) fn read_row<'js>(ctx: &Ctx<'js>, vu: &VuState, row: &Value<'js>) -> Result<Self> {
        let method = |given: Value<'js>| {
            if given.is_string() {
                text_of(&given).to_uppercase()
            } else {
                "GET".to_owned()
            }
        };
        if let Some(row) = row.as_array() {
            let (body, params) = (row.get(2)?, row.get(3)?);
            return Self::read(
                ctx,
                vu,
                &method(row.get(0)?),
                &row.get(1)?,
                Some(&body),
                Some(&params),
            );
        }
        let Some(fields) = row.as_object().filter(|_| !row.is_string()) else {
            return Self::read(ctx, vu, "GET", row, None, None);
        };
        // What http.url made has a name beside its URL.
        let url = if fields.contains_key("name")? { row.clone() } else { fields.get("url")? };
        let (body, params) = (fields.get("body")?, fields.get("params")?);
        Self::read(ctx, vu, &method(fields.get("method")?), &url, Some(&body), Some(&params))
    }

    pub(super) fn read<'js>(
        ctx: &Ctx<'js>,
        vu: &VuState,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> Result<Self> {
        let called = Instant::now();
        let (address, mut name) = match url.as_object() {
            Some(template) if !url.is_string() => {
                (template.get("url")?, template.get::<_, Option<String>>("name")?)
            }
            _ => (text_of(url), None),
        };
        let defaults = &vu.bundle.defaults;
        let request = HttpRequest {
            method: method.to_owned(),
            address: Address::parse_or_nowhere(&address),
            headers: Vec::new(),
            user_agent: None,
            body: Bytes::new(),
            timeout: DEFAULT_TIMEOUT,
            uncompressed: None,
            discard_body: defaults.discard_response_bodies,
            checks_coding: false,
            follows_redirects: false,
        };
        let mut call = Self {
            request: Rc::new(request),
            first: None,
            name: None,
            tags: Vec::new(),
            redirects_left: defaults.max_redirects,
            warns: true,
            as_binary: false,
            expected: vu.expected.borrow().clone(),
            throw: defaults.throw,
            called,
            lag_ms: vu.lag_to_charge_ms.replace(0.0),
            cookies: None,
            jar: None,
            scheme: Scheme::Basic,
            secret: None,
            compression: None,
            refusal_is_told: false,
        };
        if let Some(params) = params.and_then(Value::as_object) {
            call.read_params(ctx, params)?;
        }
        if let Some(at) = call.tags.iter().position(|(key, _)| key == "name") {
            name = Some(call.tags.swap_remove(at).1);
        }
        call.name = name;
        call.request_mut().follows_redirects = call.redirects_left > 0;
        if let Some(body) = body.filter(|body| !body.is_null() && !body.is_undefined()) {
            call.read_body(ctx, body)?;
        }
        call.read_headers(defaults.user_agent.clone());
        if call.request.address.credentials().is_some() {
            call.authorize();
        }
        call.add_cookies(vu, false);
        Ok(call)
    }

    fn read_body<'js>(&mut self, ctx: &Ctx<'js>, body: &Value<'js>) -> Result<()> {
        let own = self
            .request
            .headers
            .iter()
            .position(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let (bytes, content_type) =
            body::read(ctx, body, own.map(|at| self.request.headers[at].1.as_str()))?;
        let request = self.request_mut();
        request.body = bytes;
        match (content_type, own) {
            (Some(content_type), None) => {
                request.headers.push(("Content-Type".into(), content_type))
            }
            // It names no boundary, so that nobody could read the parts.
            (Some(content_type), Some(at))
                if body::is_multipart_without_boundary(&request.headers[at].1, &content_type) =>
            {
                request.headers[at].1 = content_type;
            }
            _ => {}
        }
        match self.compression.take() {
            Some(codings) => self.compress(ctx, &codings),
            None => Ok(()),
        }
    }

    /// What headers of the script's own stand for what is sent otherwise.
    fn read_headers(&mut self, user_agent: Arc<str>) {
        let (mut agent, mut cookie) = (None, None);
        for (at, (name, _)) in self.request.headers.iter().enumerate() {
            match name.len() {
                10 if name.eq_ignore_ascii_case("user-agent") => agent = Some(at),
                6 if name.eq_ignore_ascii_case("cookie") => cookie = Some(at),
                _ => {}
            }
        }
        if let Some(at) = cookie {
            self.cookies.get_or_insert_default().header = Some(self.request.headers[at].1.clone());
        }
        match agent {
            None => self.request_mut().user_agent = Some(user_agent),
            // An empty one is sent not at all, as in k6.
            Some(at) if self.request.headers[at].1.is_empty() => {
                drop(self.request_mut().headers.remove(at))
            }
            Some(_) => {}
        }
    }

    /// Compresses the body as the parameter `compression` says.
    fn compress(&mut self, ctx: &Ctx<'_>, codings: &str) -> Result<()> {
        let (body, header) = compression::encode(codings, &self.request.body)
            .map_err(|what| Exception::throw_message(ctx, &format!("compression: {what}")))?;
        let has_header = self.has_header("Content-Encoding");
        let request = self.request_mut();
        request.uncompressed = Some(Box::new(std::mem::replace(&mut request.body, body)));
        if !has_header {
            request.headers.push(("Content-Encoding".into(), header));
        }
        Ok(())
    }

    /// Uses the user and password of the URL.
    fn authorize(&mut self) {
        let Some(credentials) = self.request.address.credentials().cloned() else {
            return;
        };
        match self.scheme {
            Scheme::Basic if self.has_header("Authorization") => {}
            Scheme::Basic => {
                self.request_mut().headers.push(("Authorization".into(), auth::basic(&credentials)))
            }
            Scheme::Digest => {
                let address = self.request.address.without_credentials();
                self.request_mut().address = address;
                self.secret = Some(credentials);
            }
        }
    }

    fn read_params<'js>(&mut self, ctx: &Ctx<'js>, params: &Object<'js>) -> Result<()> {
        each_property(params, |key, value| {
            match key {
                "headers" => self.request_mut().headers = headers_of(ctx, &value)?,
                "tags" => self.tags = tags_of(&value)?,
                "cookies" => {
                    let Some(given) = value.as_object() else {
                        return Ok(());
                    };
                    let cookies = &mut self.cookies.get_or_insert_default().cookies;
                    each_property(given, |name, cookie| {
                        let (text, replace) = match cookie.as_object() {
                            Some(object) => (
                                text_of(&object.get("value")?),
                                object.get::<_, Option<bool>>("replace")?.unwrap_or(false),
                            ),
                            None => (text_of(&cookie), false),
                        };
                        cookies::refuse_several(ctx, name, &text)?;
                        cookies.push((name.to_string(), text, replace));
                        Ok(())
                    })?;
                }
                "jar" => self.jar = cookies::jar_of(&value),
                "timeout" => {
                    self.request_mut().timeout =
                        duration::parse(&text_of(&value)).map_err(|what| {
                            Exception::throw_message(ctx, &format!("timeout: {what}"))
                        })?;
                }
                "redirects" => {
                    self.redirects_left = value.as_number().unwrap_or(0.0).max(0.0) as u32;
                    self.warns = false;
                }
                "responseType" if value.is_undefined() || value.is_null() => {}
                "responseType" => {
                    let kind = text_of(&value);
                    if !matches!(kind.as_str(), "text" | "binary" | "none") {
                        return Err(Exception::throw_message(
                            ctx,
                            &format!("responseType '{kind}': use 'text', 'binary' or 'none'"),
                        ));
                    }
                    self.as_binary = kind == "binary";
                    self.request_mut().discard_body = kind == "none";
                }
                "responseCallback" => self.expected = Expected::read(&value)?,
                "throw" => self.throw = value.as_bool().unwrap_or(false),
                "auth" => {
                    self.scheme = match text_of(&value).as_str() {
                        "digest" => Scheme::Digest,
                        "ntlm" => {
                            return Err(Exception::throw_message(
                                ctx,
                                "auth: 'ntlm' is not supported yet; use 'basic' or 'digest'",
                            ))
                        }
                        _ => Scheme::Basic,
                    };
                }
                "compression" => {
                    self.compression = Some(text_of(&value)).filter(|codings| !codings.is_empty())
                }
                _ => {}
            }
            Ok(())
        })
    }
}
