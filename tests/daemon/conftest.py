from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from mcp_process import BOUND
from shared_daemon import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Its daemons have ended at the end."""
    made = Desk(tmp_path)
    yield made
    left = [psutil.Process(about["pid"]) for about in made.status()]
    assert made.run("daemon", "stop", "--all").returncode == 0
    _, alive = psutil.wait_procs(left, BOUND)
    assert not alive
    assert not list(made.home.glob("*.sock"))
