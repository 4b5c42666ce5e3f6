//! Requests that run beside their script (`http.asyncRequest`): each is sent at once, and goes on while the script
//! computes, sleeps or waits for another one. An iteration that starts none pays nothing.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use plimsoll_script::effect::{HttpRequest, HttpResponse};

use crate::network::client::Client;

type Answer = (u32, Box<HttpResponse>);

/// The requests of one iteration; dropped, they are given up.
#[derive(Default)]
pub struct Beside<'a> {
    running: FuturesUnordered<LocalBoxFuture<'a, Answer>>,
    /// What came while the script did something else.
    answered: VecDeque<Answer>,
}

impl<'a> Beside<'a> {
    /// Sends the request as far as it goes without waiting.
    pub async fn start(&mut self, client: &'a Client, number: u32, request: Rc<HttpRequest>) {
        self.running.push(Box::pin(async move { (number, client.perform(&request).await) }));
        poll_fn(|context| {
            self.progress(context);
            Poll::Ready(())
        })
        .await
    }

    /// Gets on with the requests as far as it goes without waiting.
    pub fn progress(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(answer)) = self.running.poll_next_unpin(context) {
            self.answered.push_back(answer);
        }
    }

    /// The next answer, or none if `until` comes first.
    pub async fn next(&mut self, until: Option<Instant>) -> Option<Answer> {
        if let Some(answer) = self.answered.pop_front() {
            return Some(answer);
        }
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => pending().await,
            }
        };
        tokio::select! {
            answer = self.running.next() => answer,
            () = time => None,
        }
    }
}
