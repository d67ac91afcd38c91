"""What every result does: show itself with its notes, and become plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

from fujiscore._version import __version__
from fujiscore.errors import integer, one_line
from fujiscore.text.data import flat_numbers, plain, to_json
from fujiscore.text.docstrings import complete_methods
from fujiscore.text.tables import NOTEBOOK_ROWS, ROWS, Table, markdown_text, short_text

# The version of the schema of `to_dict`: raised where a key changes its meaning or goes.
SCHEMA = 1


def fields_only(self: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, as `__getstate__`: pickles leave out what is computed from them and kept."""
    return {field.name: getattr(self, field.name) for field in fields(self)}


@complete_methods
class Tabular:
    """What is shown as a summary, tables, a picture and notes: in the terminal, notebooks, Markdown and LaTeX."""

    notes: tuple[str, ...]

    _keys: ClassVar[tuple[str, ...]] = ()  # the attributes that `to_dict` holds, if not the fields of the dataclass

    def __init_subclass__(cls, **options: Any) -> None:
        """Describe the parameters that many methods share in their docstrings."""
        super().__init_subclass__(**options)
        complete_methods(cls)

    def _summary(self) -> Sequence[str]:
        """Return the lines that print shows before the notes."""
        raise NotImplementedError

    def _tables(self, rows: int | None) -> Sequence[Table]:
        """Return the tables, each of at most so many rows (None: all)."""
        raise NotImplementedError

    def _picture(self) -> str:
        """Return an SVG picture for notebooks, or nothing."""
        return ""

    def _noted(self) -> tuple[str, ...]:
        """Return the notes; small results have none."""
        return getattr(self, "notes", ())

    def _data(self) -> Mapping[str, Any]:
        """Return what `to_dict` holds beside schema, version and notes."""
        names = self._keys or [field.name for field in fields(self) if field.name != "notes"]  # type: ignore[arg-type]
        return {name: data_of(getattr(self, name)) for name in names}

    def _metrics(self) -> Mapping[str, Any]:
        """Return the numbers that summarise the result, by name; mappings of them are flattened."""
        return self._data()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: text, numbers, lists and dicts, and None for what is undefined.

        "schema" names the kind of result and the version of its keys (docs/output-formats.md), "version" is that of
        fujiscore.
        """
        head = {"schema": schema(type(self).__name__), "version": __version__}
        found: dict[str, Any] = plain({**head, **self._data(), "notes": self._noted()})
        return found

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return to_json(self.to_dict())

    def metrics(self) -> dict[str, float]:
        """Return the numbers that summarise the result, by name, for experiment trackers.

        Names hold letters, digits and "_", ".", "/" and "-"; what is undefined is left out.
        """
        return flat_numbers(self._metrics())

    def __str__(self) -> str:
        """Return the summary and the notes."""
        return "\n".join([*self._summary(), *(f"note: {one_line(note)}" for note in self._noted())])

    def __repr__(self) -> str:
        """Return the summary and the notes in at most 20 lines of 100 columns."""
        return short_text(self._summary(), self._noted())

    def _repr_html_(self) -> str:
        """Return the picture, the tables and the notes, for notebooks."""
        from fujiscore.text import notebook

        return notebook.html(self._tables(NOTEBOOK_ROWS), self._picture(), self._noted())

    def to_markdown(self, *, rows: int | None = ROWS) -> str:
        """Return the tables and the notes as Markdown, at most so many rows of each table (None for all)."""
        lines: list[str] = []
        for table in self._tables(_most(rows)):
            lines += [markdown_text(table.caption), "", *table.markdown(), ""]
            lines += [*(f"{markdown_text(one_line(note))}\n" for note in table.notes)]
        lines += [f"- {markdown_text(one_line(note))}" for note in self._noted()]
        return "\n".join(lines).rstrip() + "\n"

    def to_latex(self, *, rows: int | None = ROWS, label: str | None = None) -> str:
        """Return the tables as LaTeX, at most so many rows of each (None for all), which needs the package booktabs.

        Each table carries all notes.

        Parameters
        ----------
        label : str, optional
            Label of the first table, by default "tab:" and the kind of result; further ones have "-2", "-3" and so on
            after it.
        """
        from fujiscore.text import latex

        first = f"tab:{type(self).__name__.lower()}" if label is None else label
        tables = self._tables(_most(rows))
        labels = [first, *(f"{first}-{number}" for number in range(2, len(tables) + 1))]
        notes = self._noted()
        return "\n".join(latex.table(*each, notes) for each in zip(tables, labels, strict=True))


def schema(name: str) -> str:
    """Return the name and version of the keys of a kind of result, by the name of its class."""
    return f"fujiscore.{re.sub('(?<=[a-z])(?=[A-Z])', '_', name).lower()}/{SCHEMA}"


def summary_of(result: Tabular) -> Sequence[str]:
    """Return the lines that print shows before the notes."""
    return result._summary()  # noqa: SLF001 - of this very class


def tables_of(result: Tabular, rows: int | None = None) -> Sequence[Table]:
    """Return the tables of a result, each of at most so many rows (None: all)."""
    return result._tables(rows)  # noqa: SLF001 - of this very class


def data_of(value: Any) -> Any:
    """Return a value with results replaced by what their `to_dict` holds, but for schema, version and notes."""
    if isinstance(value, Tabular):
        return value._data()  # noqa: SLF001 - of this very class
    if isinstance(value, Mapping):
        return {key: data_of(part) for key, part in value.items()}
    return [data_of(part) for part in value] if isinstance(value, tuple) else value


def _most(rows: int | None) -> int | None:
    """Return the most rows of a table, or raise."""
    return None if rows is None else integer("rows", rows, 1)
