"""HTTP to one host only: a token goes nowhere else, waits are bounded, and nothing is posted twice."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable
from urllib.parse import urljoin, urlsplit

import httpx

from npu_migrate import __version__
from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
PAGE = 100
MOST_PAGES = 100
TIMEOUT = 30.0
TRIES = 5
LONGEST_WAIT = 120.0
PACE = 1.0
_TROUBLE = frozenset({500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 3
_UNPROCESSABLE = 422


class ForgeError(InputError):
    """The other side said no; ``status`` is what it said it with."""

    def __init__(self, says: str, *, status: int = 0, **facts: object) -> None:
        """Keep the HTTP status beside the sentence."""
        super().__init__(says, status=status, **facts)
        self.status = status


@dataclass(frozen=True)
class Access:
    """Where the API is, and the header that carries the token."""

    url: str
    token: str = ""
    header: str = "Authorization"
    scheme: str = "Bearer "

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {self.header: f"{self.scheme}{self.token}"} if self.token else {}


class Transport:
    """Requests to one API, relative to its URL."""

    def __init__(
        self,
        access: Access,
        headers: Mapping[str, str] = {},
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        """Refuse to send a token in the clear.

        Raises:
            InputError: the URL is none, or it is not https.
        """
        place = urlsplit(access.url)
        if place.scheme not in ("http", "https") or not place.hostname or place.username or place.query:
            raise InputError(says="bot-url", url=access.url)
        if place.scheme == "http" and place.hostname not in LOOPBACK:
            raise InputError(says="bot-plain-http", url=access.url)
        self._base = access.url.rstrip("/")
        self._token = access.token
        self._sleep = sleep or time.sleep
        self._changed = False
        agent = {"User-Agent": f"npu-migrate/{__version__}"}
        self._client = httpx.Client(headers={**agent, **headers, **access.headers}, timeout=TIMEOUT)

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """One JSON document."""
        return self._json(self._send("GET", path, query=query))

    def pages(self, path: str, **query: object) -> Iterator[Any]:
        """Every entry of a list, page by page, until a page is not full."""
        for page in range(1, MOST_PAGES + 1):
            entries = self.get(path, **query, per_page=PAGE, page=page)
            if not isinstance(entries, list):
                raise ForgeError(says="bot-answer", method="GET", path=path)
            yield from entries
            if len(entries) < PAGE:
                return

    def post(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """Make something."""
        return self._json(self._send("POST", path, body))

    def send(self, method: str, path: str, body: Mapping[str, object] | None = None) -> None:
        """Change or delete something."""
        self._send(method, path, body)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        query: Mapping[str, Any] = {},
    ) -> httpx.Response:
        url = self._base + path
        if method != "GET":
            self._pace()
        for attempt in range(TRIES):
            last = attempt == TRIES - 1
            try:
                response = self._follow(method, url, body, query)
            except httpx.TransportError as error:
                # Whether a POST arrived is not known: the next run finds out and goes on from there.
                if method == "POST" or last:
                    raise ForgeError(
                        says="bot-network", method=method, path=path, reason=self._clean(str(error))
                    ) from None
                self._sleep(_backoff(attempt))
                continue
            wait = _wait(response, attempt, method)
            if wait is None or last:
                break
            if wait > LONGEST_WAIT:
                raise ForgeError(
                    says="bot-rate-limit", status=response.status_code, method=method, path=path, seconds=round(wait)
                )
            self._sleep(wait)
        if response.is_success:
            return response
        raise ForgeError(
            says="bot-refused",
            status=response.status_code,
            method=method,
            path=path,
            reason=self._clean(_reason(response)),
        )

    def _pace(self) -> None:
        """Leave time between changes: hosts ask for it, and close the door on those who do not."""
        if self._changed:
            self._sleep(PACE)
        self._changed = True

    def _follow(
        self, method: str, url: str, body: Mapping[str, object] | None, query: Mapping[str, Any]
    ) -> httpx.Response:
        """Send, and follow redirects of reads within the same origin; the token is in every request."""
        response = self._client.request(method, url, json=body, params=query or None)
        for _ in range(_MOST_REDIRECTS):
            if response.status_code not in _REDIRECTS:
                break
            target = urljoin(str(response.url), response.headers.get("location", ""))
            if _origin(target) != _origin(url):
                raise ForgeError(says="bot-redirect", status=response.status_code, host=urlsplit(target).netloc)
            if method != "GET":
                break
            response = self._client.request(method, target)
        return response

    def _json(self, response: httpx.Response) -> Any:  # noqa: ANN401 - JSON
        try:
            return response.json()
        except (ValueError, RecursionError):
            raise ForgeError(
                says="bot-answer", status=response.status_code, method=response.request.method, path=response.url.path
            ) from None

    def _clean(self, text: str) -> str:
        """Whatever the other side says, without the token."""
        return text.replace(self._token, "***") if self._token else text


def _origin(url: str) -> tuple[str, str, int | None]:
    place = urlsplit(url)
    return place.scheme, place.hostname or "", place.port or {"http": 80, "https": 443}.get(place.scheme)


def _wait(response: httpx.Response, attempt: int, method: str) -> float | None:
    """How long to wait before asking again; None if that is no use."""
    status, headers = response.status_code, response.headers
    limited = status == 429 or (status == 403 and ("retry-after" in headers or _spent(headers)))  # noqa: PLR2004
    if limited:
        named = _number(headers.get("retry-after"))
        if named is None and _spent(headers):
            reset = _number(headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset"))
            named = None if reset is None else max(0.0, reset - time.time()) + 1
        return _backoff(attempt) if named is None else named
    if status in _TROUBLE and method != "POST":
        return _backoff(attempt)
    return None


def _spent(headers: httpx.Headers) -> bool:
    return "0" in (headers.get("x-ratelimit-remaining"), headers.get("ratelimit-remaining"))


def _number(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


def _backoff(attempt: int) -> float:
    return float(2**attempt) + random.random()  # noqa: S311 - keeps jobs apart, guards nothing


def _reason(response: httpx.Response) -> str:
    """What the answer says is wrong, on one line."""
    try:
        said = response.json()
    except (ValueError, RecursionError):
        return response.reason_phrase
    if not isinstance(said, dict):
        return response.reason_phrase
    parts = [said.get("message"), said.get("error"), said.get("error_description")]
    parts += [said["errors"]] if response.status_code == _UNPROCESSABLE and "errors" in said else []
    return " ".join(str(part) for part in parts if part)[:500] or response.reason_phrase
