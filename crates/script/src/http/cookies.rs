//! Cookie jars: the VU's own, as `http.cookieJar()` shows it, and those that a script makes.

use std::cell::RefCell;
use std::rc::Rc;

use cookie_store::CookieStore;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt};
use rquickjs::{Class, Ctx, Exception, JsLifetime, Object, Result, Value};
use url::Url;

use crate::http::address::Address;
use crate::http::refusal;
use crate::http::response::plain_class;
use crate::runtime::host::Natives;
use crate::state::VuState;
use crate::values::{text_of, GivenText};

pub type SharedJar = Rc<RefCell<CookieStore>>;

/// A jar as scripts hold it.
pub struct Jar(pub SharedJar);

plain_class!(Jar, "CookieJarStore");

/// What a script gave of cookies with a request, beside those of the jar.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The script's own Cookie header.
    pub header: Option<String>,
    /// Names, values, and whether a value takes the place of the jar's.
    pub cookies: Vec<(String, String, bool)>,
}

impl Given {
    /// The Cookie header to an address; `None` without a cookie. After a redirect the jar knows better.
    pub fn header_to(
        &self,
        address: &Address,
        jar: &SharedJar,
        redirected: bool,
    ) -> Option<String> {
        let stored = stored_for(address, jar);
        let named = |name: &str| stored.iter().any(|(known, _)| known == name);
        let replaced =
            |name: &str| self.cookies.iter().any(|(known, _, replace)| *replace && known == name);
        let own = self
            .cookies
            .iter()
            .filter(|(name, ..)| !redirected || !named(name))
            .map(|(name, value, _)| format!("{name}={value}"));
        let kept = stored
            .iter()
            .filter(|(name, _)| redirected || !replaced(name))
            .map(|(name, value)| format!("{name}={value}"));
        let pairs: Vec<String> = self.header.iter().cloned().chain(own).chain(kept).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// A jar's cookies for an address, those of longer paths first (RFC 6265, section 5.4).
fn stored_for(address: &Address, jar: &SharedJar) -> Vec<(String, String)> {
    let jar = jar.borrow();
    let is_empty = jar.iter_any().next().is_none();
    let Some(url) = (!is_empty).then(|| address.url()).flatten() else {
        return Vec::new();
    };
    let mut found = jar.matches(&url);
    found.sort_by_key(|cookie| std::cmp::Reverse(String::from(&cookie.path).len()));
    found.into_iter().map(|cookie| (cookie.name().to_owned(), cookie.value().to_owned())).collect()
}

/// The jar that a value of a script stands for.
pub fn jar_of(value: &Value<'_>) -> Option<SharedJar> {
    let store: Value = value.as_object()?.get("store").ok()?;
    Some(Class::<Jar>::from_value(&store).ok()?.borrow().0.clone())
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("jar", |ctx: Ctx<'js>, own: bool| {
        let jar = if own { VuState::running(&ctx)?.jar.clone() } else { SharedJar::default() };
        Class::instance_proto(Jar(jar), Object::new(ctx)?)
    })?;
    natives.add("cookiesFor", cookies_for)?;
    natives.add("setCookie", set_cookie)?;
    natives.add("clearCookies", clear)
}

fn cookies_for<'js>(
    ctx: Ctx<'js>,
    jar: Class<'js, Jar>,
    GivenText(url): GivenText,
) -> Result<Object<'js>> {
    let found = Object::new(ctx.clone())?;
    for (name, value) in stored_for(&parse_address(&ctx, &url)?, &jar.borrow().0) {
        found.set(name, vec![value])?;
    }
    Ok(found)
}

fn set_cookie<'js>(
    ctx: Ctx<'js>,
    jar: Class<'js, Jar>,
    url: GivenText,
    name: GivenText,
    value: GivenText,
    options: Object<'js>,
) -> Result<bool> {
    let (GivenText(url), GivenText(name), GivenText(value)) = (url, name, value);
    let url = parse_url(&ctx, &url)?;
    if !refusal::is_value(&name) || !refusal::is_value(&value) {
        let what = format!("cookie {name:?}: a name or value with a line break or another control character cannot be sent; take it out");
        return Err(Exception::throw_message(&ctx, &what));
    }
    refuse_several(&ctx, &name, &value)?;
    let mut text = format!("{name}={value}");
    for (key, attribute) in
        [("domain", "Domain"), ("path", "Path"), ("expires", "Expires"), ("max_age", "Max-Age")]
    {
        let option: Value = options.get(key)?;
        if option.is_undefined() || option.is_null() {
            continue;
        }
        let mut option = text_of(&option);
        // Go's dates, and so k6's, name their zone; the standard's only GMT.
        if let Some(date) = option.strip_suffix(" UTC").filter(|_| key == "expires") {
            option = format!("{date} GMT");
        }
        if key == "expires" && !is_http_date(&option) {
            let what = format!("cookie '{name}': expires '{option}' is not a date like 'Wed, 21 Oct 2037 07:28:00 GMT'");
            return Err(Exception::throw_message(&ctx, &what));
        }
        text.push_str(&format!("; {attribute}={option}"));
    }
    for (key, attribute) in [("secure", "Secure"), ("http_only", "HttpOnly")] {
        if options.get::<_, Option<bool>>(key)?.unwrap_or(false) {
            text.push_str(&format!("; {attribute}"));
        }
    }
    // A cookie that the jar refuses (a foreign domain, or one that is over) is not kept, as in k6.
    let _ = jar.borrow().0.borrow_mut().parse(&text, &url);
    Ok(true)
}

/// Refuses a name or value that would be read as several cookies, or as attributes.
pub fn refuse_several(ctx: &Ctx<'_>, name: &str, value: &str) -> Result<()> {
    if !name.contains(';') && !value.contains(';') {
        return Ok(());
    }
    let what = format!("cookie {name:?}: a name or value with a semicolon would be several; encode it (encodeURIComponent), or set each by its own");
    Err(Exception::throw_message(ctx, &what))
}

/// Whether a text is a date as HTTP has them (RFC 9110, section 5.6.7).
fn is_http_date(text: &str) -> bool {
    let words: Vec<&str> = text.split([' ', '-']).collect();
    let is_time = |word: &&str| {
        word.split(':').count() == 3 && word.split(':').all(|part| part.parse::<u8>().is_ok())
    };
    words.len() == 6
        && words[0].ends_with(',')
        && words[1].parse::<u8>().is_ok()
        && words[3].parse::<u16>().is_ok()
        && is_time(&words[4])
}

fn clear<'js>(
    ctx: Ctx<'js>,
    jar: Class<'js, Jar>,
    GivenText(url): GivenText,
    name: Opt<Option<GivenText>>,
) -> Result<()> {
    let url = parse_url(&ctx, &url)?;
    let jar = jar.borrow();
    let doomed: Vec<_> = jar
        .0
        .borrow()
        .matches(&url)
        .iter()
        .filter(|cookie| {
            name.0.as_ref().and_then(Option::as_ref).is_none_or(|name| name.0 == cookie.name())
        })
        .map(|cookie| {
            (String::from(&cookie.domain), String::from(&cookie.path), cookie.name().to_owned())
        })
        .collect();
    for (domain, path, name) in doomed {
        jar.0.borrow_mut().remove(&domain, &path, &name);
    }
    Ok(())
}

fn parse_address(ctx: &Ctx<'_>, text: &str) -> Result<Address> {
    Address::parse(text).ok_or_else(|| {
        Exception::throw_message(ctx, &format!("'{text}' is not a URL; write the whole address, for example http://localhost:8080/path"))
    })
}

fn parse_url(ctx: &Ctx<'_>, text: &str) -> Result<Url> {
    parse_address(ctx, text)?
        .url()
        .ok_or_else(|| Exception::throw_message(ctx, &format!("'{text}' is not a URL")))
}
