"""What values of declared types have in them (`syntax.type_parts`)."""

from __future__ import annotations

from lsp_mcp.syntax.type_parts import DeclaredType, declared_types
from lsp_mcp.text import Text

CODE = """package a

type Both[K comparable, V Limit] struct {
	list []Item
	*other.Base
	call func(Taken) (Result, error)
	get  func() Made
	by   map[pkg.Key]chan Value `json:"Tag"`
}

type (
	Name = Both[int, Item]
	Iface interface {
		Part
		Do(Taken)
	}
)

func f(p Param) {
	type local struct{ body any }
}
"""


def test_a_type_has_in_it_what_its_fields_are_made_of_and_not_what_functions_take() -> None:
    found = declared_types(Text(CODE), "go")
    assert [CODE[at:].startswith(one.name) for at, one in found.items()] == [True] * 4
    assert {one.name: one for one in found.values()} == {
        "Both": DeclaredType("Both", frozenset({"comparable", "Limit", "Item", "Base", "Made", "Key", "Value"})),
        "Name": DeclaredType("Name", frozenset({"Both", "int", "Item"})),
        "Iface": DeclaredType("Iface", frozenset({"Part"}), holds_any=True, is_interface=True),
        "local": DeclaredType("local", frozenset({"any"}), holds_any=True),
    }
