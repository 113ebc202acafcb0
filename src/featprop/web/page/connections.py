"""Connections to the labelling page: time limits, and a number below the limit of open files."""

from __future__ import annotations

import asyncio
import resource
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_TIMEOUT_S = 10.0
"""Time for a whole request, head and body, to arrive."""
IDLE_TIMEOUT_S = 75
"""Time a connection stays open between two requests."""
BACKLOG = 64
"""Connections accepted at once."""
RESERVED_FILES = 100
"""Open files that are not connections."""
MAX_CONNECTIONS = 4096


def max_connections() -> int:
    """Return how many connections may be open, given the limit of open files."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return min(MAX_CONNECTIONS, max(8, limit - BACKLOG - RESERVED_FILES))


class TimedProtocol(H11Protocol):
    """HTTP with time limits.

    A connection closes unless a whole request arrives in time. When there are too many connections, the one that has
    waited longest for the rest of its request closes, or else the new one; so nobody can lock people out by opening
    connections.
    """

    _deadline: asyncio.TimerHandle | None = None
    _waiting: ClassVar[dict[TimedProtocol, None]] = {}
    """Connections without a whole request, oldest first."""

    def connection_made(self, transport: Any) -> None:
        """Start the time limit, and make room if there are too many connections."""
        super().connection_made(transport)
        self._expect_request()
        if len(self.connections) > max_connections():
            oldest = next(iter(self._waiting))
            oldest._stop_waiting()
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the time limit when the request is whole, or start it at the first bytes of the next one."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            if self._deadline is None:
                self._expect_request()
        else:
            self._stop_waiting()

    def _expect_request(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_TIMEOUT_S, self._expire)
        self._waiting[self] = None

    def _stop_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._stop_waiting()
        if self.transport is not None:
            self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Refuse WebSockets quietly: the request is answered like any other."""
