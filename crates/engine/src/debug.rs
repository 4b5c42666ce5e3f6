//! `httpDebug`: requests and responses on stderr, as HTTP/1.1 would write them, without the secrets that are known.

use plimsoll_core::options::network::HttpDebug;
use plimsoll_script::effect::{HttpRequest, HttpResponse};
use plimsoll_script::secrets::Secrets;

pub fn show_request(what: HttpDebug, request: &HttpRequest, secrets: &Secrets) {
    let mut text = format!("{} {} HTTP/1.1\n", request.method, request.address.target());
    let host = ("Host", request.address.origin.authority.as_str());
    let own_host = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
    let agent = request.user_agent.iter().map(|agent| ("User-Agent", agent.as_ref()));
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in (!own_host).then_some(host).into_iter().chain(agent).chain(headers) {
        text.push_str(&format!("{name}: {value}\n"));
    }
    if !request.body.is_empty() {
        text.push_str(&format!("Content-Length: {}\n", request.body.len()));
    }
    show("Request", what, text, &request.body, secrets);
}

pub fn show_response(what: HttpDebug, response: &HttpResponse, secrets: &Secrets) {
    match &response.failure {
        Some(failure) => plimsoll_script::tell!(
            "INFO No response: {} (error code {})\n",
            secrets.redact(&failure.message),
            failure.code
        ),
        None => {
            let head = String::from_utf8_lossy(&response.head.0)
                .replace("\r\n", "\n")
                .trim_end()
                .to_owned()
                + "\n";
            show("Response", what, head, &response.body, secrets);
        }
    }
}

fn show(which: &str, what: HttpDebug, mut text: String, body: &[u8], secrets: &Secrets) {
    if what == HttpDebug::Full && !body.is_empty() {
        text.push_str(&format!("\n{}\n", String::from_utf8_lossy(body)));
    }
    plimsoll_script::tell!("INFO {which}:\n{}", secrets.redact(&text));
}
