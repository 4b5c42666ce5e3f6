//! The hops of a call: redirections (RFC 9110, section 15.4), the answer to a digest challenge, and cookies on the way.

use std::borrow::Cow;
use std::time::Instant;

use bytes::Bytes;
use rquickjs::Ctx;

use super::Call;
use crate::effect::{code, is_redirection, HttpRequest, HttpResponse};
use crate::http::address::Address;
use crate::http::auth;
use crate::state::VuState;

impl Call {
    /// Records the hop; whether there is a next one, which this call then describes.
    pub(super) fn follow(&mut self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse) -> bool {
        if response.failure.as_ref().is_some_and(|failure| failure.code == code::INVALID_URL) {
            self.record_unsent(ctx, vu, response);
            return false;
        }
        let proof = if self.secret.is_some() { self.prove(response) } else { None };
        self.record(ctx, vu, response, proof.is_some());
        self.keep_cookies(vu, response);
        if let Some(proof) = proof {
            self.next_hop(response).headers.push(("Authorization".into(), proof));
            return true;
        }
        let Some(next) = self.redirect_target(vu, response) else {
            return false;
        };
        self.redirects_left -= 1;
        self.redirect_to(next, response);
        self.request_mut().follows_redirects = self.redirects_left > 0;
        self.add_cookies(vu, true);
        true
    }

    /// The answer to a digest challenge.
    fn prove(&mut self, response: &HttpResponse) -> Option<String> {
        let secret = self.secret.take().filter(|_| response.status == 401)?;
        let request = &self.request;
        let target = auth::Target {
            method: &request.method,
            uri: request.address.target(),
            body: &request.body,
        };
        response
            .head
            .all("www-authenticate")
            .find_map(|challenge| auth::digest(&challenge, &secret, &target))
    }

    /// The request of the next hop, to describe. All hops of a call share its timeout, as in k6.
    fn next_hop(&mut self, response: &HttpResponse) -> &mut HttpRequest {
        self.first.get_or_insert_with(|| self.request.clone());
        self.called = Instant::now();
        self.lag_ms = 0.0;
        let request = self.request_mut();
        request.timeout = request.timeout.saturating_sub(response.took);
        request
    }

    /// Makes the request one to where it was redirected (RFC 9110, section 15.4), as k6 does.
    fn redirect_to(&mut self, next: Address, response: &HttpResponse) {
        let stays =
            response.head.all("location").next().is_some_and(|location| !location.contains("//"));
        let request = self.next_hop(response);
        if !matches!(response.status, 307 | 308) {
            if request.method != "HEAD" {
                request.method = "GET".into();
            }
            request.body = Bytes::new();
            request.headers.retain(|(name, _)| {
                !["content-type", "content-encoding"]
                    .iter()
                    .any(|gone| name.eq_ignore_ascii_case(gone))
            });
        }
        if !stays {
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
        }
        let changes_host = next.origin.host != request.address.origin.host;
        if changes_host {
            request.headers.retain(|(name, _)| {
                !["authorization", "cookie"].iter().any(|gone| name.eq_ignore_ascii_case(gone))
            });
        }
        let refers = next.origin.tls || !request.address.origin.tls;
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("referer"));
        if refers {
            request.headers.push((
                "Referer".into(),
                request.address.without_credentials().as_str().to_owned(),
            ));
        }
        request.address = next;
        if changes_host {
            self.cookies = None;
        }
    }

    fn redirect_target(&self, vu: &VuState, response: &HttpResponse) -> Option<Address> {
        if !is_redirection(response.status) {
            return None;
        }
        // One that is empty leads nowhere, as in k6.
        let location = response.head.location().filter(|location| !location.is_empty())?;
        if self.redirects_left == 0 {
            if self.warns {
                let how = "pass {redirects: n} with the request or set options.maxRedirects to silence this";
                let at = vu.bundle.secrets.clean(&self.request.address.masked());
                crate::tell!("WARN stopped after the most redirects at {at} and returned the redirection; {how}");
            }
            return None;
        }
        Some(self.request.address.join(&location))
    }

    fn keep_cookies(&self, vu: &VuState, response: &HttpResponse) {
        for value in response.head.all("set-cookie") {
            let Some(url) = self.request.address.url() else {
                return;
            };
            let jar = self.jar.as_ref().unwrap_or(&vu.jar);
            // A cookie that the jar refuses (a foreign domain, say) is not kept, as in a browser.
            let _ = jar.borrow_mut().parse(&value, &url);
        }
    }

    /// Sets the Cookie header; `redirected` after the first hop.
    pub(super) fn add_cookies(&mut self, vu: &VuState, redirected: bool) {
        let jar = self.jar.as_ref().unwrap_or(&vu.jar);
        if self.cookies.is_none() && jar.borrow().iter_any().next().is_none() {
            return;
        }
        let given = self.cookies.as_deref().map_or_else(Cow::default, Cow::Borrowed);
        let header = given.header_to(&self.request.address, jar, redirected);
        let headers = &mut self.request_mut().headers;
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        headers.extend(header.map(|header| ("Cookie".into(), header)));
    }
}
