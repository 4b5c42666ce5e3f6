//! What runs beside its script: requests (`http.asyncRequest`), each sent at once, and sockets. It goes on while the script
//! computes, sleeps or waits for something else. An iteration that starts none pays nothing.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use plimsoll_script::effect::{HttpRequest, HttpResponse, News, Wanted};
use plimsoll_script::socket::Line;

use crate::network::client::Client;
use crate::network::websocket;

type Answer = (u32, Box<HttpResponse>);

/// What runs beside one iteration; dropped, it is given up.
#[derive(Default)]
pub struct Beside<'a> {
    requests: FuturesUnordered<LocalBoxFuture<'a, Answer>>,
    /// Answers that came while the script did something else.
    answered: VecDeque<Answer>,
    sockets: FuturesUnordered<LocalBoxFuture<'a, ()>>,
    happened: websocket::News,
}

impl<'a> Beside<'a> {
    /// Sends the request as far as it goes without waiting.
    pub async fn start(&mut self, client: &'a Client, number: u32, request: Rc<HttpRequest>) {
        self.requests.push(Box::pin(async move { (number, client.perform(&request).await) }));
        self.get_on().await;
    }

    /// Begins to open a socket, as far as it goes without waiting.
    pub async fn open(&mut self, client: &'a Client, line: Rc<Line>) {
        let happened = self.happened.clone();
        self.sockets.push(Box::pin(websocket::run(client, line, happened)));
        self.get_on().await;
    }

    async fn get_on(&mut self) {
        poll_fn(|context| {
            self.progress(context);
            Poll::Ready(())
        })
        .await
    }

    /// Gets on with everything as far as it goes without waiting.
    pub fn progress(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(answer)) = self.requests.poll_next_unpin(context) {
            self.answered.push_back(answer);
        }
        while let Poll::Ready(Some(())) = self.sockets.poll_next_unpin(context) {}
    }

    /// The next news, or none if their time comes first.
    pub async fn next(&mut self, wanted: Wanted) -> Option<(u32, News)> {
        // A socket that never rests must not keep the thread.
        tokio::task::consume_budget().await;
        let time = async {
            match wanted.until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => pending().await,
            }
        };
        let news = poll_fn(|context| {
            if let Some(news) = self.take(wanted.of) {
                return Poll::Ready(news);
            }
            self.progress(context);
            self.take(wanted.of).map_or(Poll::Pending, Poll::Ready)
        });
        tokio::select! {
            biased;
            news = news => Some(news),
            () = time => None,
        }
    }

    /// Something that came, of that number if one is given.
    fn take(&mut self, of: Option<u32>) -> Option<(u32, News)> {
        let is_wanted = |number: u32| of.is_none_or(|wanted| wanted == number);
        if let Some(at) = self.answered.iter().position(|(number, _)| is_wanted(*number)) {
            return self.answered.remove(at).map(|(number, answer)| (number, News::Answer(answer)));
        }
        let mut happened = self.happened.borrow_mut();
        let at = happened.iter().position(|(number, _)| is_wanted(*number))?;
        happened.remove(at).map(|(number, event)| (number, News::Socket(event)))
    }
}
