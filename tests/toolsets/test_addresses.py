"""What callers write for a place: `parse_address`, and for a name: `bare_name`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.toolsets.addresses import Address, bare_name, name_under_test, parse_address


def is_source(name: str) -> bool:
    """Whether it is a Go, Python, C++ or TypeScript file."""
    return name.endswith((".go", ".py", ".cc", ".ts"))


@pytest.mark.parametrize(
    ("spelled", "address"),
    [
        ("command.go:905", Address("command.go", 905)),
        ("command.go#905", Address("command.go", 905)),
        ("go://command.go#905", Address("command.go", 905)),
        ("https://example.com/command.go#L905", Address("example.com/command.go", 905)),
        ("go://my%20file.go#3", Address("my file.go", 3)),
        ("file:///x/a.go#3:4", Address("/x/a.go", 3, column=4)),
        ("command.go:781:19", Address("command.go", 781, column=19)),
        ("command.go#781:19", Address("command.go", 781, column=19)),
        ("./command.go:781:19: undefined: x", Address("./command.go", 781, column=19, in_bytes=True)),
        ("vet: ./command.go:781:19: undefined: x", Address("./command.go", 781, column=19, in_bytes=True)),
        ("command.go:781:19-24", Address("command.go", 781, column=19)),
        ("command.go:10-20", Address("command.go", 10, 20)),
        ("command.go:10:2-20", Address("command.go", 10, 20, column=2)),
        ("go://command.go#10:2-20:7", Address("command.go", 10, 20, column=2, last_column=7)),
        ("a/command.go:93:VisitAll", Address("a/command.go", 93, name="VisitAll")),
        ("command.go:93:\tfunc f() {", Address("command.go", 93)),
        ("command.go:Command", Address("command.go", name="Command")),
        ("command.go:(*Command).Find", Address("command.go", name="(*Command).Find")),
        ("db.cc:leveldb::DB::Open", Address("db.cc", name="leveldb::DB::Open")),
        ("db.cc::DB", Address("db.cc", name="DB")),
        ("\t/abs/path/x.go:12 +0x1d", Address("/abs/path/x.go", 12)),
        ("main.f(...)\n\t/abs/path/x.go:12 +0x1d\nmain.main()", Address("/abs/path/x.go", 12)),
        ('  File "x.py", line 3', Address("x.py", 3)),
        ('  File "/a b/x.py", line 3, in f', Address("/a b/x.py", 3)),
        ("    at f (/x/y.ts:3:5)", Address("/x/y.ts", 3, column=5)),
        ("src/a.ts(3,5): error TS1: no", Address("src/a.ts", 3, column=5)),
        (" --> src/a.cc:3:5", Address("src/a.cc", 3, column=5)),
        ("x.go", Address("x.go")),
        ("command.go-12-\treturn nil", Address("command.go", 12)),
        ("a b/command.go-12-see x.go:3", Address("a b/command.go", 12)),
        ("command.go=12=func f() {", Address("command.go", 12)),
        ("a-1-b.go:3", Address("a-1-b.go", 3)),
        ("a.cc: In member function 'int A::f()':", Address("a.cc", name="A::f()")),
        ("a.cc: In member function ‘virtual int ns::A::f(int) const’:", Address("a.cc", name="ns::A::f(int) const")),
        ("a.cc: In constructor 'A::A(const X&)':", Address("a.cc", name="A::A(const X&)")),
        ("a.cc: In destructor 'A::~A()':", Address("a.cc", name="A::~A()")),
        ("a.cc: In function 'int main()':\na.cc:3:5: error: no", Address("a.cc", name="main()")),
        ("a.cc: In function 'f':", Address("a.cc", name="f")),
        ("a.cc: In member function 'bool A::operator==(const A&)':", Address("a.cc", name="A::operator==(const A&)")),
        ("a.cc: In instantiation of 'void A<T>::f(T) [with T = int]':", Address("a.cc", name="A<T>::f(T)")),
        ("a.cc:A::f(const X&, int) const", Address("a.cc", name="A::f(const X&, int) const")),
        ("my.go/x.go:3", Address("my.go/x.go", 3)),
    ],
)
def test_what_programs_and_people_write_for_a_place_is_understood(spelled: str, address: Address) -> None:
    assert address in parse_address(spelled, is_source)


@pytest.mark.parametrize("name", ["Command", "a.B", "A::b", "(*T).M", "Bucket#Put", "example.com/x.Open", "x.go.y", ""])
def test_a_name_is_not_an_address(name: str) -> None:
    assert parse_address(name, is_source) == []


@given(
    st.from_regex(r"[a-z_é]{1,8}(/[a-z_]{1,8}){0,2}\.go", fullmatch=True),
    st.integers(1, 10**6),
    st.one_of(st.none(), st.integers(1, 10**4)),
    st.sampled_from(["", ": undefined: x", ": error: a.go:3"]),
)
def test_a_place_is_read_back_whatever_its_file_and_message(
    file: str, line: int, column: int | None, message: str
) -> None:
    place = f"{file}:{line}" + (f":{column}" if column else "")
    wanted = Address(file, line, column=column, in_bytes=bool(column and message))
    assert parse_address(place + message, is_source) == [wanted]


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    parse_address(text, is_source)
    assert bare_name(text, {"func"}) == bare_name(text, {"func"}).strip()


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("func Open", "Open"),
        ("func Open(path string) (*DB, error) {", "Open"),
        ("func (b *Bucket) Put(key []byte) error", "Bucket.Put"),
        ("func (Bucket[K]) Put()", "Bucket.Put"),
        ("type X struct {", "X"),
        ("Bucket#Put", "Bucket.Put"),
        ("Open()", "Open"),
        ("(*T).M", "(*T).M"),
        ("(*T).M()", "(*T).M"),
        ("pkg.(*T).M", "pkg.(*T).M"),
        ("example.com/pkg.(*T).M(0xc0001, {0x0, 0x1})", "example.com/pkg.(*T).M"),
        ("example.com/pkg.(*T[...]).M(...)", "example.com/pkg.(*T[...]).M"),
        ("pkg.F(0x1)", "pkg.F"),
        ("`pkg.T.M`", "pkg.T.M"),
        ("A::f(const X&) const", "A::f"),
        ("class A : public B {", "A"),
        ("A<int>::f", "A<int>::f"),
        ("A::operator()", "A::operator()"),
        ("~A", "~A"),
        ("type", "type"),
    ],
)
def test_a_name_is_freed_of_what_stands_around_it(spelled: str, name: str) -> None:
    assert bare_name(spelled, {"func", "type", "struct", "class"}) == name


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("--- FAIL: TestX (0.00s)", "TestX"),
        ("    --- PASS: TestX/a_case (1.25s)", "TestX"),
        ("=== RUN   TestX", "TestX"),
        ("=== NAME  TestX/a", "TestX"),
        ("TestX", "TestX"),
        ("--- FAIL: ", "--- FAIL: "),
    ],
)
def test_a_line_of_go_test_names_its_test(spelled: str, name: str) -> None:
    assert name_under_test(spelled) == name


def test_a_message_that_begins_with_a_keyword_is_not_a_name() -> None:
    keywords = {"package", "import", "class", "extends", "implements"}
    assert bare_name("package has no import path", keywords) == "has no import path"
    assert bare_name("class Reader extends Base implements Closer", keywords) == "Reader"
