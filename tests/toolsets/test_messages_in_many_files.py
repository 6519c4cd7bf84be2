"""A message is found where its longest word is in more files than are looked through."""

from pathlib import Path

from asking import Asked, asking, skip_without

skip_without("gopls")
FILES = 320  # more than are looked through


def test_a_message_is_found_by_its_rarest_word(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.23\n")
    for number in range(FILES):
        (tmp_path / f"f{number:03}.go").write_text("package a\n")
    (tmp_path / "z.go").write_text('package a\n\nvar Err = "package has no path"\n')

    async def question(ask: Asked) -> None:
        answer = await ask("find_symbol_definitions_by_name", symbol_name="package has no path", format="json")
        assert "as text: z.go:3" in answer["status"]

    asking("gopls", tmp_path, question)
