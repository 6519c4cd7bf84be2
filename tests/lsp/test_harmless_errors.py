"""Errors that hide nothing, such as those of a compile command, which a trial leaves out."""

from __future__ import annotations

from lsp_mcp.lsp.life.diagnostics import Diagnostics


def test_an_error_of_the_command_is_told_by_its_code() -> None:
    diagnostics = Diagnostics("drv_")
    assert diagnostics.is_harmless({"message": "Unknown argument", "code": "drv_unknown_argument"})
    assert not Diagnostics().is_harmless({"message": "Unknown argument", "code": "drv_unknown_argument"})
    assert not diagnostics.is_harmless({"message": "expected ';'", "code": "expected_semi"})
    assert not diagnostics.is_harmless({"message": "expected ';'"})
