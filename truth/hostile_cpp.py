"""Trees of C and C++ made at random of what is hard for a language server: `write_c`, `write_cpp`.

Everything has one of a few names of equal length, so that a new name is often taken by something that it may capture.
Each folder is a program of its own: what two of them call the same are two symbols, also in files of one name.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

_WORDS = [
    "item", "node", "base", "kind", "grow", "find", "size", "name", "list", "head", "tail", "left",
    "side", "next", "last", "unit", "mode", "rate", "lock", "hash", "text", "line", "page", "view",
]  # fmt: skip
_FOLDERS = ["north", "south", "west"]
_TRIES = 2_000  # random names of one folder until it compiles

C_FILES = ["*/*.c"]
CPP_FILES = ["*/*.cc"]
C_FLAGS = ["-std=gnu11", "-I."]
CPP_FLAGS = ["-std=c++20", "-I."]


def write_c(folder: Path, seed: int) -> None:
    """Write programs in C that compile.

    They have tags, fields, static functions, variables and constants of one name, textual includes in tables, functions
    and enumerations, a list that is included with two macros, macros that name what is around them, shadowing, types
    that only one file knows, tentative definitions, sources that only another one includes, a header with a part for
    each include, old parameter lists, and `_Generic`.
    """
    _write(folder, random.Random(seed), _c, ["gcc", *C_FLAGS], "*.c")


def write_cpp(folder: Path, seed: int) -> None:
    """Write programs in C++ that compile.

    They have unnamed namespaces and classes of one name, textual includes, diamonds, methods that override two,
    range-for, operators, conversions, literals, aliases, macros, templates, overloads, shadowing, and captures.
    """
    _write(folder, random.Random(seed), _cpp, ["g++", *CPP_FLAGS], "*.cc")


def _write(
    folder: Path,
    rng: random.Random,
    make: Callable[[str, random.Random], dict[str, str]],
    compiler: list[str],
    units: str,
) -> None:
    for name in _FOLDERS:
        for _ in range(_TRIES):
            (folder / name).mkdir(parents=True, exist_ok=True)
            for file, text in make(name, rng).items():
                (folder / name / file).parent.mkdir(exist_ok=True)
                (folder / name / file).write_text(text, "utf-8")
            paths = [str(path) for path in sorted((folder / name).glob(units))]
            command = [*compiler, "-fsyntax-only", "-pedantic-errors", *paths]
            if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0:
                break
        else:
            raise RuntimeError(f"no random names of {name} compile")


class _Names:
    """Random names; those of one group differ."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def some(self, number: int, *, but: tuple[str, ...] = ()) -> list[str]:
        return self._rng.sample([word for word in _WORDS if word not in but], number)


def _c(name: str, rng: random.Random) -> dict[str, str]:
    names = _Names(rng)
    tag, other, opaque, enum, run, walk, glob, static, made, table = top = names.some(10)
    f1, f2, f3 = names.some(3)
    g1, g2 = names.some(2)
    red, blue = (word.upper() for word in names.some(2))
    low, high = (word.upper() for word in names.some(2, but=(red.lower(), blue.lower())))
    macro = names.some(1, but=(red.lower(), blue.lower(), low.lower(), high.lower()))[0].upper()
    par, loc = names.some(2)
    own, field = names.some(2, but=tuple(top))
    return {
        "kept.h": f"""#ifndef KEPT_{name.upper()}
#define KEPT_{name.upper()}
struct {tag} {{ int {f1}; struct {tag} *{f2}; union {{ int {f3}; char *{made}_; }}; }};
typedef struct {{ int {g1}; long {g2}; }} {other}_t;
typedef struct {tag} {tag};
struct {opaque};
enum {enum} {{
#include "kinds.def"
  {low}_LAST
}};
#define {macro}({par}) (({par}) + {glob})
extern int {glob};
int {run}(struct {tag} *{par}, {other}_t {loc});
int {walk}(struct {opaque} *);
#endif
""",
        "kinds.def": f"{red},\n{blue} = 4,\n",
        "main.c": f"""#include "kept.h"
struct {own} {{ int {f1}; struct {own} *{field}; }};
enum {{ {low}, {high} }};
static struct {own} *held;
static int {static}(struct {own} *{loc}) {{ held = {loc}; return {loc}->{f1} + {low} + {red}; }}
struct {opaque} {{ int {g1}; }};
static int {made}(int {par}) {{
  int {loc} = {par};
  {{ int {par} = {loc} + 1; {loc} += {par}; }}
  goto {walk};
{walk}:
  return {macro}({loc});
}}
int {walk}(struct {opaque} *{loc}) {{
  struct {own} {par} = {{ .{f1} = {high}, .{field} = 0 }};
  return {loc}->{g1} + {static}(&{par});
}}
struct entry {{ const char *name; int (*call)(int); }};
struct entry {table}[] = {{
#include "table.inc"
}};
int main(void) {{ return {table}[0].call({glob}); }}
""",
        "table.inc": f'{{ "{made}", {made} }},\n{{ "{table}", {made} }},\n',
        "util.c": f"""#include "kept.h"
struct {own} {{ char *{f1}; long {g2}; }};
enum {{ {low} = 7 }};
int {glob} = {blue};
static struct {own} *held;
static char *{static}(struct {own} *{par}, int {loc}) {{ return {loc} + {low} ? {par}->{f1} : held->{f1}; }}
#define ENTRY(word) static int made_##word(int {par}) {{ return {par}; }}
#include "names.def"
#undef ENTRY
#define ENTRY(word) made_##word,
static int (*const every[])(int) = {{
#include "names.def"
}};
#undef ENTRY
static int of_int(int {par}) {{ return {par}; }}
static int of_text(char *{par}) {{ return {par}[0]; }}
#define PICK(value) _Generic((value), int: of_int, char *: of_text)(value)
int {run}_old({par}, {loc})
  int {par};
  struct {own} *{loc};
{{ return PICK({par}) + PICK({loc}->{f1}) + every[0]({par}); }}
int {run}(struct {tag} *{par}, {other}_t {loc}) {{
  struct {own} {field} = {{ 0, {loc}.{g2} }};
  enum {enum} {static}_kind = {red};
#include "body.inc"
  return {par}->{f1} + {par}->{f2}->{f3} + {loc}.{g1} + {static}_kind + ({static}(&{field}, 1) != 0);
}}
""",
        "names.def": f"ENTRY({f1})\nENTRY({f2})\n",
        "twice.h": f"""#ifdef {name.upper()}_TYPES
struct {opaque}_part {{ int {f1}; }};
#endif
#ifdef {name.upper()}_CALLS
static int {static}_of(struct {opaque}_part *{par}) {{ return {par}->{f1}; }}
#endif
""",
        "twice.c": f"""#define {name.upper()}_TYPES
#include "twice.h"
#undef {name.upper()}_TYPES
#define {name.upper()}_CALLS
#include "twice.h"
int {name}_twice(void) {{ struct {opaque}_part {loc} = {{ 3 }}; return {static}_of(&{loc}); }}
""",
        "unity.c": '#include "kept.h"\n#include "parts/first.c"\n#include "parts/second.c"\n',
        "parts/first.c": f"""static int {static}(int {par}) {{ return {par} + {glob}; }}
struct {own} {{ int {f2}; }};
int {name}_first(int {loc}) {{ struct {own} {par} = {{ {loc} }}; return {static}({par}.{f2}); }}
""",
        "parts/second.c": f"""int {name}_second(int {par}) {{
  struct {own} {loc} = {{ {par} }};
  return {static}({loc}.{f2}) + {name}_first(1);
}}
""",
        "body.inc": f"  {par}->{f1} += {macro}({loc}.{g1});\n  if ({par}->{f2}) {par}->{f2}->{f1} = {glob};\n",
    }


def _cpp(name: str, rng: random.Random) -> dict[str, str]:
    names = _Names(rng)
    space, base, left, right, low, face, box, sum_, over, alias, range_, glob, color = names.some(13)
    field, method, other = names.some(3, but=(base, left, right, low))
    part, get = names.some(2, but=(box,))
    step, many = names.some(2, but=(range_,))
    red, blue = (word.upper() for word in names.some(2))
    macro = names.some(1, but=(red.lower(), blue.lower()))[0].upper()
    par, loc, one = names.some(3, but=(space,))
    own, helper, hidden = names.some(3, but=(space, base, over, sum_))
    f1, f2, usage = names.some(3, but=(own, helper, hidden, space))
    literal = names.some(1)[0]
    return {
        "kept.h": f"""#pragma once
namespace {space} {{
struct {base} {{
  int {field} = 1;
  virtual int {method}(int {par}) const {{ return {par} + {field}; }}
  virtual ~{base}();
}};
struct {face} {{ virtual int {method}(int) const = 0; }};
struct {left} : virtual {base} {{ int {method}(int {loc}) const override; }};
struct {right} : virtual {base} {{ int {other}() const {{ return {field}; }} }};
struct {low} : {left}, {right}, {face} {{
  int {method}(int {one}) const override {{ return {left}::{method}({one}) + {other}(); }}
  explicit operator int() const {{ return {field}; }}
  {low}() = default;
  {low}(const char *{par}) {{ {field} = {par} ? 1 : 0; }}
}};
template <class T> struct {box} {{
  T {part};
  T {get}() const {{ return {part}; }}
  {box} operator+(const {box} &{loc}) const {{ return {{{part} + {loc}.{part}}}; }}
}};
template <class T> T {sum_}(const {box}<T> &{par}) {{ return {par}.{part} + {par}.{get}(); }}
using {alias} = {box}<int>;
typedef {base} {alias}_t;
struct {range_} {{
  int {many}[3];
  int *begin() {{ return {many}; }}
  int *end() {{ return {many} + {step}(); }}
  static int {step}() {{ return 3; }}
}};
int {over}(int {par});
int {over}(const {base} &{par});
int {over}(const char *, int {loc} = 1);
enum class {color} {{
#include "kinds.def"
}};
extern int {glob};
inline long operator""_{literal}(unsigned long long {par}) {{ return {par}; }}
}}
#define {macro}({par}) (({par}) + {space}::{glob})
""",
        "kinds.def": f"{red},\n{blue} = 4,\n",
        "main.cc": f"""#include "kept.h"
namespace {{
struct {own} {{ int {f1}; int {f2}() const {{ return {f1}; }} }};
int {helper}(const {own} &{loc}) {{ return {loc}.{f2}(); }}
int {hidden} = 2;
}}
using namespace {space};
struct {usage} {{ int {f1}; {usage}(int {par}) : {f1}({par}) {{}} }};
static int made({usage} {one}) {{ return {one}.{f1}; }}
int call(int {par}) {{
  int {loc} = {par};
  {{ int {par} = {loc} + ::{hidden}; {loc} += {par}; }}
  auto {one} = [&{loc}, {par}](int {f1}) {{ return {loc} + {par} + {f1}; }};
  {space}::{range_} {f2} = {{{{1, 2, 3}}}};
  for (int {par} : {f2}) {loc} += {par};
  {space}::{low} {hidden} = "text";
  const {space}::{face} &{helper}_face = {hidden};
  return {one}(2) + {macro}({loc}) + {helper}_face.{method}(1) + int({hidden}) + made(3) + 5_{literal};
}}
struct entry {{ const char *name; int (*call)(int); }};
entry table[] = {{
#include "table.inc"
}};
int main() {{
  ::{own} {par} = {{1}};
  return ::{helper}({par}) + {space}::{over}(1) + {space}::{over}("a") + table[0].call(1);
}}
""",
        "table.inc": f'{{ "call", call }},\n{{ "{over}", [](int {par}) {{ return {space}::{over}({par}); }} }},\n',
        "util.cc": f"""#include "kept.h"
namespace {space} {{
namespace {{
struct {own} {{ const char *{f1}; }};
const char *{helper}(const {own} &{par}, int {loc}) {{ return {loc} ? {par}.{f1} : ""; }}
}}
{base}::~{base}() {{}}
int {left}::{method}(int {par}) const {{ return {field} * {par} + {base}::{method}({par}); }}
int {glob} = int({color}::{red});
int {over}(int {par}) {{ return {par}; }}
int {over}(const {base} &{par}) {{ return {par}.{field} + {par}.{method}({glob}); }}
int {over}(const char *{par}, int {loc}) {{
  {own} {f2} = {{{par}}};
#include "body.inc"
  return {loc} + ({helper}({f2}, {loc}) != nullptr);
}}
int {usage}_sum({alias} {par}, {alias}_t &{loc}) {{ return {sum_}({par} + {par}) + {par}.{get}() + {over}({loc}); }}
}}
struct {usage} {{ char *{f1}; }};
char *{helper}_of({usage} &{par}) {{ return {par}.{f1}; }}
""",
        "body.inc": f"""  {loc} += {over}({loc}) + {glob};
  if ({loc} == int({color}::{blue})) {loc} = {range_}::{step}();
""",
    }
