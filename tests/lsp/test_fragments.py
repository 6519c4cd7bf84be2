"""Whether an include is inside other code."""

from __future__ import annotations

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.servers.clangd.compilation.fragments import is_inside

C = load_adapter("clangd").languages[0]

INSIDE = {
    "an initializer": "static const char kinds[] = {\n#include HERE\n};\n",
    "an initializer with values before it": "static struct table t = {{ 1, 2 },\n    {\n#include HERE\n",
    "an enumeration": "enum kind {\n#define X(a) a,\n#include HERE\n#undef X\n};\n",
    "a function": "int f(int a) {\n  switch (a) {\n  case 1: g();\n#include HERE\n",
    "a class": "namespace a {\nclass B : public C {\n public:\n#include HERE\n};\n}\n",
    "arguments": "int x = max(\n#include HERE\n);\n",
    "an initializer without braces": "int a =\n#include HERE\n;\n",
    "a function with two heads": "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n  g();\n#include HERE\n}\n",
}
OUTSIDE = {
    "the top": "#include HERE\n",
    "behind declarations": "int x[] = {1};\nstatic int f(int a) { return (a); }\nstruct s { int b; };\n#include HERE\n",
    "a block with the linkage of C": 'extern "C" {\n#include HERE\n}\n',
    "a namespace": "namespace a::b {\nvoid f() {}\nnamespace {\n#include HERE\n}\n}\n",
    "linkage under a condition": '#ifdef __cplusplus\nextern "C" {\n#endif\n#include HERE\n#ifdef A\n}\n#endif\n',
    "behind braces in comments and strings": "// {\n/* ( */ char c = '{'; char *s = \"{(\";\n#include HERE\n",
    "behind a function with two heads": "#ifdef A\nint f(int a) {\n#else\nint f() {\n#endif\n g();\n}\n#include HERE\n",
    "behind nested conditions": "#if A\n#if B\nint f() {\n#elif C\nint g() {\n#endif\n}\n#endif\n#include HERE\n",
    "behind a macro of several lines": "#define F(a) \\\n  { a, \\\n  (\n#include HERE\n",
    "behind a macro's use": "MODULE(name)\n#include HERE\n",
}


@pytest.mark.parametrize("text", INSIDE.values(), ids=INSIDE)
def test_an_include_inside_other_code_brings_in_a_part_of_it(text: str) -> None:
    assert is_inside(text.partition("#include HERE")[0], C)


@pytest.mark.parametrize("text", OUTSIDE.values(), ids=OUTSIDE)
def test_an_include_between_declarations_does_not(text: str) -> None:
    assert not is_inside(text.partition("#include HERE")[0], C)


def test_a_long_file_takes_no_time() -> None:
    assert not is_inside("int f(int a) { if (a) { return (a); } return 0; }\n" * 10_000, C)
