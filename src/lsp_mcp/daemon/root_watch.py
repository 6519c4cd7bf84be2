"""When the workspace root of a daemon is deleted: `deleted`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

_GRACE = 10.0  # seconds in which a root that was moved away or replaced may return


async def deleted(root: str) -> None:
    """Return once `root` has been gone for 10 s; never where the kernel does not report changes of its parent."""
    if sys.platform != "linux":
        await asyncio.Event().wait()
    from inotify_simple import INotify, flags

    news = asyncio.Event()
    loop = asyncio.get_running_loop()
    with INotify(nonblocking=True) as inotify:
        try:
            # Not the root itself: it is a working folder, which the kernel keeps as long as its programs run.
            inotify.add_watch(Path(root).parent, flags.DELETE | flags.MOVED_FROM | flags.ONLYDIR)
        except OSError:
            await asyncio.Event().wait()  # no watches are left: it ends when it has been idle
        loop.add_reader(inotify.fileno(), news.set)
        try:
            while True:
                await news.wait()
                news.clear()
                inotify.read(timeout=0)
                if Path(root).is_dir():
                    continue
                await asyncio.sleep(_GRACE)
                if not Path(root).is_dir():
                    return
        finally:
            loop.remove_reader(inotify.fileno())
