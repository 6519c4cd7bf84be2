"""Trees made at random of what is hard for a language server: `write_go`.

Everything has one of a few names of equal length, so that a new name is often taken by something that it may capture.
"""

from __future__ import annotations

import random
from pathlib import Path

_WORDS = [
    "item", "node", "base", "kind", "open", "read", "size", "name", "list", "head", "tail", "left",
    "side", "next", "last", "unit", "mode", "rate", "lock", "hash", "text", "line", "page", "view",
]  # fmt: skip
_PACKAGES = 4
_MODULE = "example.com/hostile"


def write_go(folder: Path, seed: int) -> None:
    """Write a module that compiles.

    It has files of one name in several packages, embedding, shadowing, generic types, aliases, method values, unnamed
    interfaces, and functions that each system has in a file of its own.
    """
    rng = random.Random(seed)
    files = {"go.mod": f"module {_MODULE}\n\ngo 1.23\n"}
    packages: list[dict[str, str]] = []
    for number in range(_PACKAGES):
        package = f"pack{'abcdefgh'[number]}"
        names, texts = _package(package, rng, packages)
        packages.append({"package": package, **names})
        files |= {f"{package}/{file}": text for file, text in texts.items()}
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, "utf-8")


def _package(package: str, rng: random.Random, others: list[dict[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    """The exported names of a package by what they are, and its files."""
    words = rng.sample(_WORDS, len(_WORDS))
    keys = ["base", "outer", "inter", "gen", "alias", "make", "sum", "system"]
    top = {key: words.pop().capitalize() for key in keys}
    var, helper = words.pop(), words.pop()
    # A type that embeds another has a field of its name, which would hide a method.
    types = {top["base"].lower(), top["outer"].lower()}
    member = rng.sample([word for word in _WORDS if word not in types], 6)
    field, method, setter, own = (word.capitalize() for word in member[:4])
    hidden, local = member[4], member[5]
    other = rng.choice(others) if others else None
    name = rng.choice(_WORDS)
    name = "" if name in (var, helper) or rng.random() < 0.4 else name
    imported = f'import {name} "{_MODULE}/{other["package"]}"\n' if other else ""
    prefix = f"{name or other['package']}." if other else ""
    embedded = f"{prefix}{other['outer']}" if other else top["base"]
    promoted = other["method"] if other else method
    # Members of the outer type hide promoted ones at random.
    own = rng.choice([own, promoted]) if own not in (embedded.rpartition(".")[2], field) else promoted
    param = rng.choice([word for word in (var, hidden, local) if word not in (name, helper)])
    inner = rng.choice([word for word in _WORDS if word not in (param, name, helper)])
    main = f"""package {package}

{imported}
type {top["base"]} struct {{
	{field} int
	{hidden} string
}}

func (r {top["base"]}) {method}() int {{ return r.{field} + len(r.{hidden}) }}

func (r *{top["base"]}) {setter if setter not in (field, method) else "Assign"}({param} int) {{ r.{field} = {param} }}

type {top["outer"]} struct {{
	{embedded}
	{hidden}s int
}}

func (r {top["outer"]}) {own}() int {{ return r.{embedded.rpartition(".")[2]}.{promoted}() }}

type {top["inter"]} interface{{ {promoted}() int }}

type {top["gen"]}[T any] struct {{ {field} T }}

func (g {top["gen"]}[T]) {method}() T {{ return g.{field} }}

type {top["alias"]} = {embedded}

var {var} = {top["gen"]}[int]{{{field}: 1}}

var _ {top["inter"]} = {top["outer"]}{{}}
"""
    uses = f"""package {package}

func {top["make"]}({param} {top["base"]}) int {{
	{inner} := {param}.{field}
	{{
		{param} := {inner} + 1
		{inner} := {param}
		_ = {inner}
	}}
	do := {param}.{method}
	return do() + {inner} + {helper}() + {top["system"]}()
}}

func {helper}() int {{
	total := 0
	for _, one := range []{top["inter"]}{{{top["outer"]}{{}}, &{top["outer"]}{{}}}} {{
		total += one.{promoted}()
	}}
	var any interface{{}} = {top["base"]}{{{field}: 1, {hidden}: ""}}
	if {local}, ok := any.(interface{{ {method}() int }}); ok {{
		total += {local}.{method}()
	}}
	return total
}}

func {top["sum"]}[T {top["inter"]}]({param} ...T) (sum int) {{
	for _, {inner} := range {param} {{
		sum += {inner}.{promoted}()
	}}
	return sum + {top["sum"]}[{top["outer"]}]()
}}
"""
    test = f"""package {package}

import "testing"

func Test{top["make"]}(t *testing.T) {{
	var {param} {top["alias"]}
	_ = {param}
	t.Log({top["make"]}({top["base"]}{{}}))
}}
"""
    texts = {
        "main.go": main,
        "uses.go": uses,
        "sys_linux.go": f"package {package}\n\nfunc {top['system']}() int {{ return {var}.{method}() }}\n",
        "sys_windows.go": f"package {package}\n\nfunc {top['system']}() int {{ return {var}.{method}() + 1 }}\n",
        "sys_other.go": f"//go:build !linux && !windows\n\npackage {package}\n\n"
        f"func {top['system']}() int {{ return 0 }}\n",
        "main_test.go": test,
    }
    return {**top, "method": own}, texts
