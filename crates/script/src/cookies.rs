//! The cookie jar of a VU, as `http.cookieJar()` shows it.

use std::rc::Rc;

use rquickjs::function::{Func, Opt};
use rquickjs::{Ctx, Exception, Object, Result, Value};
use url::Url;

use crate::http::parse_address;
use crate::native::text_of;
use crate::state::VuState;

pub fn install<'js>(state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    let cookies_for = move |ctx: Ctx<'js>, url: String| -> Result<Object<'js>> {
        let found = Object::new(ctx.clone())?;
        let url = parse_url(&ctx, &url)?;
        for (name, value) in vu.jar.borrow().get_request_values(&url) {
            found.set(name, vec![value])?;
        }
        Ok(found)
    };
    native.set("cookiesFor", Func::from(cookies_for))?;
    let vu = state.clone();
    let set_cookie = move |ctx: Ctx<'js>, url: String, name: String, value: String, options: Object<'js>| -> Result<()> {
        let url = parse_url(&ctx, &url)?;
        let mut text = format!("{name}={value}");
        for (key, attribute) in [("domain", "Domain"), ("path", "Path"), ("expires", "Expires"), ("max_age", "Max-Age")] {
            let option: Value = options.get(key)?;
            if !option.is_undefined() {
                text.push_str(&format!("; {attribute}={}", text_of(&option)));
            }
        }
        if options.get::<_, Option<bool>>("secure")?.unwrap_or(false) {
            text.push_str("; Secure");
        }
        vu.jar
            .borrow_mut()
            .parse(&text, &url)
            .map(|_| ())
            .map_err(|error| Exception::throw_message(&ctx, &format!("cookie '{name}': {error}; check its domain and path")))
    };
    native.set("setCookie", Func::from(set_cookie))?;
    let vu = state.clone();
    let clear = move |ctx: Ctx<'js>, url: String, name: Opt<Option<String>>| -> Result<()> {
        let url = parse_url(&ctx, &url)?;
        let doomed: Vec<_> = vu
            .jar
            .borrow()
            .matches(&url)
            .iter()
            .filter(|cookie| name.0.as_ref().and_then(Option::as_ref).is_none_or(|name| name == cookie.name()))
            .map(|cookie| (String::from(&cookie.domain), String::from(&cookie.path), cookie.name().to_owned()))
            .collect();
        for (domain, path, name) in doomed {
            vu.jar.borrow_mut().remove(&domain, &path, &name);
        }
        Ok(())
    };
    native.set("clearCookies", Func::from(clear))
}

fn parse_url(ctx: &Ctx<'_>, text: &str) -> Result<Url> {
    parse_address(ctx, text)?.url().ok_or_else(|| Exception::throw_message(ctx, &format!("'{text}' is not a URL")))
}
