"""Tables of sessions and answers of queries, as Arrow, NumPy and pandas."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from aaco import _core, _html, _world

_TIMES = ('date', 'timestamp')


class Column:
    """A column in contiguous memory. It is a read-only buffer: memoryview() and numpy.asarray() see the same bytes, uncopied."""

    def __init__(self, view: _core.Column) -> None:
        self._view = view

    @property
    def name(self) -> str:
        """The column's name; a suffix is its unit: _ns, _bytes, _hz, _watts, _ratio."""
        return self._view.name

    @property
    def type(self) -> str:
        """SQL's name of the type."""
        return self._view.type

    @property
    def null_count(self) -> int:
        """The number of values that were not measured."""
        return self._view.null_count

    @property
    def address(self) -> int:
        """The address of the first value, the same in Arrow and NumPy."""
        return self._view.address

    def __len__(self) -> int:
        return len(self._view)

    def texts(self) -> list[Optional[str]]:
        """The values of a text column; equal texts are one object."""
        return self._view.texts()

    def missing(self) -> Any:
        """A NumPy array of bool: which values were not measured."""
        import numpy
        bits = self._view.validity()
        if bits is None:
            return numpy.zeros(len(self), dtype=bool)
        return numpy.unpackbits(numpy.asarray(bits), count=len(self), bitorder='little') == 0

    def values(self) -> Any:
        """The stored values as a read-only NumPy array without a copy; 0 where a value is missing. Text is an array of objects, dates
        are datetime64; these are copies."""
        import numpy
        if self._view.kind == 'text':
            out = numpy.empty(len(self), dtype=object)
            out[:] = self._view.texts()
            return out
        array = numpy.asarray(self._view)
        array.flags.writeable = False
        if self._view.kind == 'date':
            return array.astype('datetime64[D]')
        return array.view('datetime64[us]') if self._view.kind == 'timestamp' else array

    def to_numpy(self) -> Any:
        """values(), masked where values are missing."""
        import numpy
        values = self.values()
        return numpy.ma.MaskedArray(values, self.missing()) if self.null_count and self._view.kind != 'text' else values

    def to_pandas(self) -> Any:
        """A pandas Series; with missing values of the nullable type (Int64, Float64, boolean) or NaT, never 0."""
        import pandas
        values = self.values()
        if self._view.kind in _TIMES:
            values = values.astype('datetime64[ns]')
            if self.null_count:
                values[self.missing()] = 'NaT'
        elif self.null_count and self._view.kind == 'bool':
            return pandas.Series(pandas.arrays.BooleanArray(values.copy(), self.missing()), name=self.name)
        elif self.null_count and self._view.kind.startswith('float'):
            return pandas.Series(pandas.arrays.FloatingArray(values.copy(), self.missing()), name=self.name)
        elif self.null_count and self._view.kind != 'text':
            return pandas.Series(pandas.arrays.IntegerArray(values.copy(), self.missing()), name=self.name)
        return pandas.Series(values, name=self.name, copy=False)

    def __repr__(self) -> str:
        return f'<aaco.Column {self.name} {self.type}: {len(self)} values, {self.null_count} missing>'


class Table:
    """A table in memory. Libraries that read Arrow's C data interface take it as it is, without a copy and without an Arrow library
    on this side: pyarrow.table(t), polars.DataFrame(t), duckdb.from_arrow(pyarrow.table(t))."""

    def __init__(self, columns: _core.Columns, name: str = '') -> None:
        self._columns = columns
        self.name = name

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._columns.names

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        names = self.columns
        if name not in names:
            raise KeyError(f'{name}; columns: {", ".join(names)}')
        return Column(self._columns.column(names.index(name)))

    def to_numpy(self) -> dict[str, Any]:
        """A dict of NumPy arrays, masked where values are missing; numbers are not copied."""
        return {name: self[name].to_numpy() for name in self.columns}

    def to_pandas(self) -> Any:
        """A pandas DataFrame. Columns of numbers without missing values are not copied."""
        import pandas
        return pandas.DataFrame({name: self[name].to_pandas() for name in self.columns}, copy=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._columns.__arrow_c_schema__()

    def head(self, rows: int = _html.MAX_ROWS) -> list[dict[str, Any]]:
        """The first rows as dicts; None where a value is missing."""
        columns = {name: self[name] for name in self.columns}
        lists = {}
        for name, column in columns.items():
            if column._view.kind == 'text':
                lists[name] = column.texts()[:rows]
            else:
                bits = column._view.validity()
                lists[name] = [value if bits is None or memoryview(bits)[row // 8] >> row % 8 & 1 else None
                               for row, value in enumerate(memoryview(column._view)[:rows].tolist())]
        return [dict(zip(lists, row)) for row in zip(*lists.values())]

    def __repr__(self) -> str:
        return f'<aaco.Table {self.name + ": " if self.name else ""}{len(self)} rows, {len(self.columns)} columns>'

    def _repr_html_(self) -> str:
        shown = _html.table(self.columns, (row.values() for row in self.head()))
        return shown + (_html.paragraph(f'{len(self):,} rows') if len(self) > _html.MAX_ROWS else '')


def query(sql: str, *, sessions: Optional[_world.PathLike] = None) -> Table:
    """Runs one SELECT over all sessions and returns the answer.

    The tables are those of sessions, with session_id and date, and `sessions`, `metrics` and `kernel_totals`
    ("SELECT * FROM (SHOW TABLES)" lists them). Nothing can be written. Ctrl-C ends the query.
    Raises InvalidArgument for wrong SQL and PermissionDenied for statements that write.
    """
    return Table(_core.query(_world.current(sessions), sql))
