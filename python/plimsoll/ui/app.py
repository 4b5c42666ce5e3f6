"""The addresses of the live page.

/                       the runs of the folder; /now: the run that the process beside which this one is has begun
/runs/NAME              a run, live while it goes on; …/events its server-sent events; …/report its report
/runs/NAME/control      pause, resume, level, stop; …/note, …/tags, …/keep, …/delete
/compare?run=A&run=B    two runs side by side
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from plimsoll.errors import PlimsollError
from plimsoll.runs.kept.catalogue import stored_run
from plimsoll.runs.kept.labels import add_note, notes_of, set_tags
from plimsoll.ui import pages
from plimsoll.ui.audience import Audience
from plimsoll.ui.compared import compared
from plimsoll.ui.controlling import Owner, control_of, tell_run
from plimsoll.ui.folder import INSIDE, Folder
from plimsoll.ui.reports import Reports
from plimsoll.ui.requests import Refused, form_of
from plimsoll.ui.safety import REPORT_POLICY, Safety
from plimsoll.verbs.stored import delete_runs, keep_run, search_runs, stored_runs, unlisted_runs

STATIC = Path(__file__).with_name("static")
REPORT_STYLE = Path(__file__).parents[1] / "report" / "templates" / "report.css"
MOST_VIEWERS = 100
MOST_ROWS = 500  # of the list
_FILES = {
    "page.js": "text/javascript",
    "charts.js": "text/javascript",
    "page.css": "text/css",
    "uPlot.iife.min.js": "text/javascript",
    "uPlot.min.css": "text/css",
}
Endpoint = Callable[[Request], Awaitable[Response]]


class LivePage:
    """The app. `owner`: the verb beside which this process is, None for `plimsoll ui`."""

    def __init__(self, root: Path, host: str, port: int, token: str | None = None, owner: Owner | None = None) -> None:
        self.folder, self.owner = Folder(root), owner
        self._csrf = secrets.token_urlsafe(24)
        self._reports = Reports()
        self._audiences: dict[Path, Audience] = {}
        self._is_closing = False
        app = Starlette(routes=self._routes(), exception_handlers={Refused: _refused, PlimsollError: _failed})
        self.asgi = Safety(app, host, port, token, lambda is_wrong: pages.page("enter", is_wrong=is_wrong))

    async def close(self) -> None:
        """Tell all viewers the last state, and no more."""
        self._is_closing = True
        await asyncio.gather(*(one.close() for one in self._audiences.values()))

    def _routes(self) -> list[Route]:
        return [
            Route("/", self._list),
            Route("/now", self._now),
            Route("/runs/{name}", self._run),
            Route("/runs/{name}/events", self._events),
            Route("/runs/{name}/report", self._report),
            Route("/runs/{name}/control", self._control, methods=["POST"]),
            Route("/runs/{name}/note", self._note, methods=["POST"]),
            Route("/runs/{name}/tags", self._tags, methods=["POST"]),
            Route("/runs/{name}/keep", self._keep, methods=["POST"]),
            Route("/runs/{name}/delete", self._ask_delete),
            Route("/runs/{name}/delete", self._delete, methods=["POST"]),
            Route("/compare", self._compare),
            Route("/static/{file}", self._static),
        ]

    # pages

    async def _list(self, request: Request) -> Response:
        words = request.query_params.get("q", "").split()[:20]
        root = self.folder.root
        found = await asyncio.to_thread(lambda: search_runs(words, root) if words else stored_runs(root))
        rows = [pages.row_of(one, one.path.name) for one in found]
        rows.sort(key=lambda row: not row["is_running"])
        shown = {
            "rows": rows[:MOST_ROWS],
            "left": len(rows[MOST_ROWS:]),
            "counted": pages.counted(rows),
            "unlisted": [] if words else await asyncio.to_thread(unlisted_runs, root),
            "query": " ".join(words),
            "root": str(root),
        }
        return self._html("runs", **shown)

    async def _now(self, request: Request) -> Response:
        name = self.owner.name_of_run(self.folder) if self.owner is not None else None
        if name is not None:
            return RedirectResponse(f"/runs/{name}", 303)
        return self._html("waiting") if self.owner is not None else RedirectResponse("/", 303)

    async def _run(self, request: Request) -> Response:
        name, path = self._found(request)
        run = await asyncio.to_thread(stored_run, path)
        if run.experiment == "study":
            inside = await asyncio.to_thread(stored_runs, path)
            rows = [pages.row_of(one, f"{name}{INSIDE}{one.path.name}") for one in reversed(inside)]
            return self._html("study", row=pages.row_of(run, name), rows=rows)
        control = control_of(run, self.owner)
        notes = [dict(note) for note in notes_of(path)]
        ending = None if run.status == "running" else pages.ending_of(path)
        return self._html("run", row=pages.row_of(run, name), control=control, notes=notes, ending=ending)

    async def _events(self, request: Request) -> Response:
        _, path = self._found(request)
        audience = self._audiences.get(path)
        if audience is None or audience.is_over:
            following = self.owner.newest if self.owner is not None and self.owner.owns(path) else None
            for seen in [seen for seen, one in self._audiences.items() if one.is_over]:
                del self._audiences[seen]
            audience = self._audiences[path] = Audience(path, pages.ending_of, following)
        if self._is_closing or sum(one.viewers for one in self._audiences.values()) >= MOST_VIEWERS:
            raise Refused("Too many pages look at this already.", 503)
        return StreamingResponse(audience.messages(), media_type="text/event-stream")

    async def _report(self, request: Request) -> Response:
        _, path = self._found(request)
        text = await asyncio.to_thread(self._reports.page, path)
        return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})

    async def _compare(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        paths = [self.folder.find(name) for name in names]
        if len(names) != 2 or None in paths:
            raise Refused("Choose two runs to compare.", 400)
        found = [path for path in paths if path is not None]
        return self._html("compare", **await asyncio.to_thread(compared, names, found))

    async def _static(self, request: Request) -> Response:
        name = request.path_params["file"]
        if name == "report.css":
            return FileResponse(REPORT_STYLE, media_type="text/css")
        if name not in _FILES:
            raise Refused("There is no such file.", 404)
        return FileResponse(STATIC / name, media_type=_FILES[name])

    # what changes something

    async def _control(self, request: Request) -> Response:
        _, path = self._found(request)
        form = await form_of(request, self._csrf)
        run = await asyncio.to_thread(stored_run, path)
        answer = await asyncio.to_thread(tell_run, run, self.owner, form.one("verb"), form.one("level"))
        return self._answer(request, answer)

    async def _note(self, request: Request) -> Response:
        _, path = self._found(request)
        form = await form_of(request, self._csrf)
        run = await asyncio.to_thread(stored_run, path)
        is_running = run.status == "running"
        await asyncio.to_thread(lambda: add_note(path, form.one("text"), is_running=is_running))
        return self._answer(request, "The note is kept with the run.")

    async def _tags(self, request: Request) -> Response:
        _, path = self._found(request)
        form = await form_of(request, self._csrf)
        tags = await asyncio.to_thread(set_tags, path, form.one("tags").split(","))
        return self._answer(request, f"Tags: {', '.join(tags)}" if tags else "The run has no tags now.")

    async def _keep(self, request: Request) -> Response:
        _, path = self._found(request)
        form = await form_of(request, self._csrf)
        await asyncio.to_thread(keep_run, path, form.one("kept") == "yes")
        return self._answer(request, "Done.")

    async def _ask_delete(self, request: Request) -> Response:
        name, path = self._found(request)
        return self._html("delete", row=pages.row_of(await asyncio.to_thread(stored_run, path), name))

    async def _delete(self, request: Request) -> Response:
        name, path = self._found(request)
        await form_of(request, self._csrf)
        if INSIDE in name:
            raise Refused("This run belongs to a study. Delete the study's run.", 409)
        await asyncio.to_thread(delete_runs, [path])
        return RedirectResponse("/", 303)

    # parts

    def _found(self, request: Request) -> tuple[str, Path]:
        name = request.path_params["name"]
        path = self.folder.find(name)
        if path is None:
            raise Refused("There is no such run in this folder.", 404)
        return name, path

    def _html(self, template: str, **content: Any) -> HTMLResponse:
        beside = self.owner is not None
        return HTMLResponse(pages.page(template, csrf=self._csrf, beside=beside, **content))

    @staticmethod
    def _answer(request: Request, words: str) -> Response:
        """JSON for a script; a browser without one goes back to the run."""
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"answer": words})
        return RedirectResponse(f"/runs/{request.path_params['name']}", 303)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _told(request, error.words, error.status)


async def _failed(request: Request, error: Exception) -> Response:
    return _told(request, str(error), 409)


def _told(request: Request, words: str, status: int) -> Response:
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"error": words}, status)
    return HTMLResponse(pages.page("refused", words=words), status)
