"""How many requests a service of the configurations works on at a time."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Receive, Scope, Send

from plimsoll_lab.configurations.admission import ASKED_BY_SERVICE, Admission


class Slow:
    """Answers when told to; remembers in which order requests were taken up, and how many were in work at most."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.in_work = self.most = 0
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.taken.append(scope["path"])
        self.in_work += 1
        self.most = max(self.most, self.in_work)
        await self.may_answer.wait()
        self.in_work -= 1


async def nothing() -> Message:
    raise AssertionError("no body was asked for")


async def ignored(_message: Message) -> None:
    return None


def ask(app: Admission, path: str, *headers: tuple[bytes, bytes]) -> asyncio.Task[None]:
    scope = {"type": "http", "path": path, "headers": list(headers)}
    return asyncio.ensure_future(app(scope, nothing, ignored))


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_users_wait_their_turn_in_the_order_in_which_they_came() -> None:
    async def checked() -> None:
        slow = Slow()
        app = Admission(slow, most=3)
        asked = [ask(app, f"/{number}") for number in range(10)]
        await turns()
        assert slow.taken == ["/0", "/1", "/2"]
        slow.may_answer.set()
        await asyncio.gather(*asked)
        assert slow.taken == [f"/{number}" for number in range(10)] and slow.most <= 3

    asyncio.run(checked())


def test_what_another_service_asks_does_not_wait() -> None:
    async def checked() -> None:
        slow = Slow()
        app = Admission(slow, most=1)
        asked = [ask(app, "/user"), ask(app, "/waits"), ask(app, "/service", ASKED_BY_SERVICE)]
        await turns()
        assert slow.taken == ["/user", "/service"]
        slow.may_answer.set()
        await asyncio.gather(*asked)

    asyncio.run(checked())


def test_a_request_that_fails_gives_its_turn_back() -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ValueError("broken")

    async def checked() -> None:
        app = Admission(broken, most=1)
        failed = await asyncio.gather(ask(app, "/a"), ask(app, "/b"), return_exceptions=True)
        assert [type(one) for one in failed] == [ValueError, ValueError]

    asyncio.run(checked())
