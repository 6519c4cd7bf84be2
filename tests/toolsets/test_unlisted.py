"""What is accepted and not listed: parameters and tools."""

import asyncio
from typing import Annotated

import pytest
from pydantic import Field

from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.tool import UNLISTED, Call, tool, tools_of


class Tools:
    """Two tools."""

    def lists(self, name: str) -> bool:
        return True

    @tool(title="One", read_only=True)
    async def one(self, call: Call, name: str, often: Annotated[int, Field(ge=1), UNLISTED] = 2) -> str:
        """Say it often."""
        return name * often

    @tool(title="Old", read_only=True, listed=False)
    async def old(self, call: Call) -> str:
        """Say nothing."""
        return ""


ONE, OLD = tools_of(Tools())


def test_a_parameter_that_is_not_listed_is_accepted_and_checked() -> None:
    assert list(ONE.input_schema["properties"]) == ["name"]
    assert list(ONE.whole_schema["properties"]) == ["name", "often"]
    assert asyncio.run(ONE.call(Call(), {"name": "a", "often": 3})) == "aaa"
    with pytest.raises(CallerError, match="often: input should be greater than or equal to 1"):
        asyncio.run(ONE.call(Call(), {"name": "a", "often": 0}))
    with pytest.raises(CallerError, match=r"unknown argument 'oftn' \(did you mean 'often'\?\)"):
        asyncio.run(ONE.call(Call(), {"name": "a", "oftn": 3}))


def test_a_schema_is_made_once_for_all_clients() -> None:
    again = tools_of(Tools())[0]
    assert again.input_schema is ONE.input_schema and again.whole_schema is ONE.whole_schema
    counting_from_0 = tools_of(Tools(), base=0)[0]
    assert counting_from_0.whole_schema is not ONE.whole_schema


def test_a_client_that_checks_what_it_sends_lets_it_pass() -> None:
    assert "additionalProperties" not in ONE.input_schema
    assert OLD.whole_schema["additionalProperties"] is False


def test_a_tool_that_is_not_listed_can_be_called() -> None:
    assert ONE.listed()
    assert not OLD.listed()
    assert asyncio.run(OLD.call(Call(), {})) == ""
