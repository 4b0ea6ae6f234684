"""Tables of sessions and answers of queries, as Arrow, NumPy and pandas."""
from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NoReturn, Optional, Union

from aaco import _core, _html, _world
from aaco.errors import InvalidArgument, UnknownKey, WrongType

_TIMES = ('date', 'timestamp')


def _refuse_pickling(what: str) -> NoReturn:
    raise WrongType(f'a {what} is memory of the library and cannot be pickled or copied',
                    'pass its to_pandas() or to_numpy(), or the id of its session, to aaco.open() on the other side')


class Column:
    """A column in contiguous memory. numpy.asarray() sees the same bytes, uncopied; iteration gives None where a value is missing."""

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

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __getitem__(self, row: Union[int, slice]) -> Any:
        """The value of a row, None where it is missing; a list for a slice. Negative rows count from the end."""
        if isinstance(row, slice):
            return self.to_list()[row]
        try:
            index = operator.index(row)
        except TypeError:
            raise WrongType(f'the row is of type {type(row).__name__}', 'pass an int or a slice; NumPy selects by arrays: to_numpy()') from None
        index += len(self) if index < 0 else 0
        if not 0 <= index < len(self):
            raise IndexError(f'row {row} of {len(self)}')
        if self._view.kind == 'text':
            return self.texts()[index]
        bits = self._view.validity()
        if bits is not None and not memoryview(bits)[index // 8] >> index % 8 & 1:  # type: ignore[arg-type]
            return None
        return memoryview(self._view)[index]  # type: ignore[arg-type]

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _refuse_pickling('column')

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """values(), which a plain array shows as they are. Raises InvalidArgument where numbers are missing."""
        if self.null_count and self._view.kind != 'text':
            raise InvalidArgument(f'column {self.name} has {self.null_count} missing values, which a plain array cannot show',
                                  'use to_numpy(), which masks them, or values() and missing()')
        values = self.values()
        wanted = values if dtype is None else values.astype(dtype, copy=False)
        return wanted.copy() if copy and wanted is values else wanted

    def to_list(self, rows: Optional[int] = None) -> list[Any]:
        """The values, or the first `rows` of them; None where one is missing. Times are integers, as they are stored."""
        if self._view.kind == 'text':
            return self.texts()[:rows]
        bits = self._view.validity()
        present = memoryview(bits) if bits is not None else None  # type: ignore[arg-type]
        return [value if present is None or present[row // 8] >> row % 8 & 1 else None
                for row, value in enumerate(memoryview(self._view)[:rows].tolist())]  # type: ignore[arg-type]

    def memory(self) -> memoryview:
        """The stored values as a read-only memoryview without a copy; 0 where a value is missing. memoryview(column) itself does not
        work: only classes of Python 3.12 and newer can offer a buffer. Raises WrongType for text, whose values have no fixed width."""
        if self._view.kind == 'text':
            raise WrongType(f'column {self.name} is text, whose values have no fixed width', 'use texts() or to_list()')
        return memoryview(self._view)  # type: ignore[arg-type]

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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _refuse_pickling('table')

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        names = self.columns
        if name not in names:
            raise UnknownKey(f'no column {name!r}', f'columns: {", ".join(names)}')
        if names.count(name) > 1:
            raise InvalidArgument(f'{names.count(name)} columns have the name {name!r}', 'give them names with AS')
        return Column(self._columns.column(names.index(name)))

    def _all(self) -> list[Column]:
        return [Column(self._columns.column(index)) for index in range(len(self.columns))]

    def to_numpy(self) -> dict[str, Any]:
        """A dict of NumPy arrays, masked where values are missing; numbers are not copied. Raises InvalidArgument where a name repeats."""
        return {name: self[name].to_numpy() for name in self.columns}

    def to_pandas(self) -> Any:
        """A pandas DataFrame. Columns of numbers without missing values are not copied."""
        import pandas
        frame = pandas.DataFrame({index: column.to_pandas() for index, column in enumerate(self._all())}, copy=False)
        frame.columns = pandas.Index(self.columns, dtype=object)
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._columns.__arrow_c_schema__()

    def head(self, rows: int = _html.MAX_ROWS) -> list[dict[str, Any]]:
        """The first rows as dicts; None where a value is missing. Raises InvalidArgument where a name repeats."""
        if not isinstance(rows, int) or rows < 0:
            raise InvalidArgument(f'rows is {rows!r:.40}', 'pass a number of rows, 0 or more')
        lists = {name: self[name].to_list(rows) for name in self.columns}
        return [dict(zip(lists, row)) for row in zip(*lists.values())]

    def __repr__(self) -> str:
        return f'<aaco.Table {self.name + ": " if self.name else ""}{len(self)} rows, {len(self.columns)} columns>'

    def _repr_html_(self) -> str:
        shown = _html.table(self.columns, zip(*(column.to_list(_html.MAX_ROWS) for column in self._all())))
        return shown + (_html.paragraph(f'{len(self):,} rows') if len(self) > _html.MAX_ROWS else '')


def query(sql: str, *, sessions: Optional[_world.PathLike] = None) -> Table:
    """Runs one SELECT over all sessions and returns the answer.

    The tables are those of sessions, with session_id and date, and `sessions`, `metrics` and `kernel_totals`
    ("SELECT * FROM (SHOW TABLES)" lists them). Nothing can be written. Ctrl-C ends the query.
    Raises InvalidArgument for wrong SQL and PermissionDenied for statements that write.
    """
    return Table(_core.query(_world.current(sessions), _world.text(sql, 'sql')))
