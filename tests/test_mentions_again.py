"""Files that mention a symbol outside the code of its server are read again once they have changed, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking import Asked, asking, skip_without
from lsp_mcp.disk.files import Signature

FILES = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "a.go": "package m\n\nfunc Kernel(n int) int\n\nvar Use = Kernel(1)\n",
    "a_amd64.s": "TEXT ·Kernel(SB), NOSPLIT, $0\n\tRET\n",
    "b_arm64.s": "// nothing\n",
}
MORE = "TEXT ·Kernel(SB), NOSPLIT, $0\n\tRET\n"


def test_a_file_that_mentions_a_symbol_from_now_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without("gopls")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    looked_at: list[str] = []
    read = Signature.read

    def noted(path: str | Path) -> Signature | None:
        if str(path).endswith(".s"):
            looked_at.append(Path(path).name)
        return read(path)

    async def question(ask: Asked) -> None:
        async def told() -> str:
            answer = await ask("find_symbol_references_by_anchor", symbol_anchor="a.go:3:Kernel", wait=True)
            return str(answer["status"])

        assert "a_amd64.s" in (first := await told())
        assert "b_arm64.s" not in first
        monkeypatch.setattr(Signature, "read", noted)
        assert await told() == first
        assert "b_arm64.s" not in looked_at
        (tmp_path / "b_arm64.s").write_text(MORE, "utf-8")
        assert "b_arm64.s" in await told()
        (tmp_path / "b_arm64.s").unlink()
        assert "b_arm64.s" not in await told()

    asking("gopls", tmp_path, question)
