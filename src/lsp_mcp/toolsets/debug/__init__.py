"""The toolset `debug`: programs run under a debugger, without an editor (docs/contracts/debug.md)."""

from lsp_mcp.toolsets.debug.breakpoints import BreakpointTools
from lsp_mcp.toolsets.debug.control import ControlTools
from lsp_mcp.toolsets.debug.inspecting import InspectTools
from lsp_mcp.toolsets.debug.sessions import SessionTools
from lsp_mcp.toolsets.debug.starting import StartTools

TOOLS = (StartTools, ControlTools, BreakpointTools, InspectTools, SessionTools)
