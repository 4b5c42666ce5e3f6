//! Undoes the Content-Encoding of a response before it is recorded: one that cannot be undone has failed, as in k6,
//! whether the script reads the body or not.

use std::borrow::Cow;
use std::rc::Rc;

use plimsoll_script::allowance::{Allowance, Claim, Gathered};
use plimsoll_script::effect::{code, Failure, HttpRequest, HttpResponse};
use plimsoll_script::http::compression::{Decoding, STEP_BYTES};

/// Texts become so many times smaller.
const USUAL_RATIO: usize = 4;
/// Room by which a reader sees that it is at the end.
const SPARE_BYTES: usize = 64;

/// The response with its body decoded, or failed. Between the pieces the thread's other work goes on, and time limits end
/// it. Bodies that nobody keeps are not decoded, as in k6, unless the request is one that `checks_coding`.
pub async fn decoded(
    mut response: Box<HttpResponse>,
    request: &HttpRequest,
    allowance: &Rc<Allowance>,
) -> Box<HttpResponse> {
    let location =
        || response.head.all("location").next().is_some_and(|location| !location.is_empty());
    if !response.is_coded
        || request.discards(true)
        || request.goes_on_after(response.status, location())
    {
        return response;
    }
    match undo(&mut response, allowance).await {
        Ok(()) => response,
        Err(failure) => Box::new(response.spoilt(failure)),
    }
}

async fn undo(response: &mut HttpResponse, allowance: &Rc<Allowance>) -> Result<(), Failure> {
    let broken = |message| Failure { code: code::DECOMPRESSION, message };
    let codings: Vec<Cow<str>> = response.head.all("content-encoding").collect();
    let Some(mut decoding) =
        Decoding::new(&codings.join(","), response.body.clone()).map_err(broken)?
    else {
        return Ok(());
    };
    let mut plain =
        Gathered::with_capacity(response.body.len().saturating_mul(USUAL_RATIO).min(STEP_BYTES));
    let mut claim = Claim::on(allowance);
    loop {
        let is_end = decoding.step(plain.room(SPARE_BYTES)).map_err(broken)?;
        claim
            .grow_to(plain.length())
            .map_err(|over| Failure { code: code::GENERIC, message: over.to_string() })?;
        if is_end {
            break;
        }
        tokio::task::yield_now().await;
    }
    (response.body, response.claim, response.is_coded) = (plain.whole(), claim, false);
    Ok(())
}
