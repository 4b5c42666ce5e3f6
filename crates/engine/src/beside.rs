//! Requests that run beside their script (`http.asyncRequest`): each is sent at once, and goes on while the script
//! computes, sleeps or waits for another one. An iteration that starts none pays nothing.

use std::collections::VecDeque;
use std::future::{pending, poll_fn, Future};
use std::pin::{pin, Pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use plimsoll_script::bundle::RequestDefaults;
use plimsoll_script::effect::{Effect, HttpRequest, HttpResponse, Reply};

use crate::client::Client;
use crate::drive;

type Answer = (u32, Box<HttpResponse>);

/// The requests of one iteration; dropped, they are given up.
#[derive(Default)]
pub struct Beside<'a> {
    running: FuturesUnordered<LocalBoxFuture<'a, Answer>>,
    /// What came while the script did something else.
    answered: VecDeque<Answer>,
}

impl<'a> Beside<'a> {
    /// What carries out an effect, if it has to do with requests beside the script: from the first one on.
    pub fn concerned<'b>(of_iteration: &'b mut Option<Box<Self>>, effect: &Effect) -> Option<&'b mut Self> {
        if of_iteration.is_none() && matches!(effect, Effect::Start(..)) {
            *of_iteration = Some(Box::default());
        }
        of_iteration.as_deref_mut()
    }

    /// Carries out an effect, and meanwhile keeps the requests going.
    pub fn carry_out<'b>(&'b mut self, client: &'a Client, effect: Effect, defaults: &'b RequestDefaults) -> Pin<Box<dyn Future<Output = Reply> + 'b>>
    where
        'a: 'b,
    {
        Box::pin(async move {
            match effect {
                Effect::Start(number, request) => self.start(client, number, request).await,
                Effect::Next(until) => Reply::Next(self.next(until).await),
                blocking => {
                    let mut work = pin!(drive::carry_out(client, blocking, defaults));
                    poll_fn(|context| {
                        self.progress(context);
                        work.as_mut().poll(context)
                    })
                    .await
                }
            }
        })
    }

    /// Sends the request as far as it goes without waiting.
    async fn start(&mut self, client: &'a Client, number: u32, request: Rc<HttpRequest>) -> Reply {
        self.running.push(Box::pin(async move { (number, client.perform(&request).await) }));
        poll_fn(|context| {
            self.progress(context);
            Poll::Ready(Reply::Started)
        })
        .await
    }

    fn progress(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(answer)) = self.running.poll_next_unpin(context) {
            self.answered.push_back(answer);
        }
    }

    /// The next answer, or none if `until` comes first.
    async fn next(&mut self, until: Option<Instant>) -> Option<Answer> {
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
