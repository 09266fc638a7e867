"""Implements ``await event``: a file descriptor in the loop, no thread that runs Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._usmx import Event


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def wait(event: Event) -> None:
    """Return when the command has finished; raises what it failed with.

    Several tasks may wait for one event; cancelling one leaves the command and the others alone.
    """
    if not event.is_done:
        loop = asyncio.get_running_loop()
        finished: asyncio.Future[None] = loop.create_future()
        descriptor = event._watch()
        try:
            loop.add_reader(descriptor, _finish, finished)
            try:
                await finished
            finally:
                loop.remove_reader(descriptor)
        finally:
            os.close(descriptor)
    event.wait()
