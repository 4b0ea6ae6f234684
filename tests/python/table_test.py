"""Tables: Arrow, NumPy and pandas over the same memory; queries."""
import ctypes
import gc
import pickle
import re
import unittest

import arrow
from module import ModuleTest, aaco, needs_numpy, needs_pandas, numpy


class SessionTableTest(ModuleTest):
    RUN = {'profile': True}

    def setUp(self):
        self.table = self.session.table('inference_iters')

    def test_a_table_has_its_rows_in_order_of_time(self):
        self.assertGreaterEqual(len(self.table), 60)
        starts = memoryview(self.table['start_ns']._view).tolist()
        self.assertEqual(starts, sorted(starts))

    def test_tables_lists_what_the_session_has(self):
        self.assertIn('node_executions', self.session.tables)
        self.assertNotIn('rocprof_kernels', self.session.tables)

    def test_texts_are_strings(self):
        self.assertLessEqual({'warmup', 'measure'}, set(self.table['phase'].texts()))

    def test_arrow_has_the_rows_of_the_table(self):
        batch = arrow.Batch(self.table)
        self.assertEqual(batch.codes, [0, 0, 0])
        self.assertFalse(batch.end.release)
        self.assertEqual(list(batch.formats), self.table.columns)
        self.assertEqual((batch.formats['start_ns'], batch.formats['phase']), ('l', 'U'))
        self.assertEqual(batch.array.length, len(self.table))
        self.assertEqual(batch.texts('phase'), self.table['phase'].texts())
        batch.release()

    def test_arrow_is_not_a_copy(self):
        batch = arrow.Batch(self.table)
        for name in ('start_ns', 'duration_ns', 'rank'):
            self.assertEqual(batch.address(name, 1), self.table[name].address)
        self.assertEqual(batch.address('phase', 2), self.table['phase'].address)
        batch.release()

    @needs_numpy
    def test_numpy_is_not_a_copy(self):
        batch = arrow.Batch(self.table)
        for name in ('start_ns', 'duration_ns', 'rank'):
            values = self.table[name].to_numpy()
            self.assertEqual(values.__array_interface__['data'], (self.table[name].address, True))
            self.assertEqual(values.__array_interface__['data'][0], batch.address(name, 1))
        batch.release()

    @needs_numpy
    def test_a_column_is_an_array_to_numpy(self):
        column = self.table['duration_ns']
        array = numpy.asarray(column)
        self.assertEqual(array.__array_interface__['data'], (column.address, True))
        self.assertEqual(numpy.median(column), numpy.median(column.to_numpy()))
        self.assertEqual(numpy.asarray(self.table['phase']).tolist(), self.table['phase'].texts())
        self.assertEqual(numpy.asarray(column, dtype='float64').dtype, 'float64')

    @needs_numpy
    def test_an_array_outlives_its_table(self):
        values, expected = self.session.table('inference_iters')['duration_ns'].to_numpy(), memoryview(self.table['duration_ns']._view).tolist()
        gc.collect()
        self.assertEqual(values.tolist(), expected)

    def test_a_batch_outlives_its_table_and_stream(self):
        batch = arrow.Batch(self.session.table('inference_iters'))
        batch.capsule = None
        gc.collect()
        column = batch.column('duration_ns')
        self.assertEqual(list((ctypes.c_int64 * column.length).from_address(column.buffers[1])),
                         memoryview(self.table['duration_ns']._view).tolist())
        batch.release()

    def test_a_stream_that_nobody_reads_is_released(self):
        for _ in range(1000):
            self.table.__arrow_c_stream__()
            self.table.__arrow_c_schema__()

    def test_memory_is_not_a_copy_and_cannot_be_written(self):
        column = self.table['duration_ns']
        memory = column.memory()
        self.assertEqual((memory.readonly, memory.itemsize, memory.tolist()), (True, 8, column.to_list()))
        if numpy:
            self.assertEqual(numpy.frombuffer(memory, 'i8').ctypes.data, column.address)
        self.refused(TypeError, 'is text|hint: use texts()', self.table['phase'].memory)

    @needs_numpy
    def test_arrays_cannot_be_written(self):
        with self.assertRaises(ValueError):
            self.table['duration_ns'].values()[0] = 1

    @needs_numpy
    def test_missing_values_are_masked(self):
        column = self.table['migrations']
        if column.null_count == 0:
            self.skipTest('skipped, the kernel counted everything')
        self.assertEqual(int(column.missing().sum()), column.null_count)
        self.assertTrue(numpy.ma.is_masked(column.to_numpy()))

    @needs_pandas
    def test_a_data_frame_has_all_columns(self):
        frame = self.table.to_pandas()
        self.assertEqual(list(frame.columns), self.table.columns)
        self.assertEqual(len(frame), len(self.table))
        measured = frame[frame.phase == 'measure'].duration_ns.median()
        self.assertAlmostEqual(measured, self.session.metrics['latency.p50_ns'].value, delta=measured / 10)

    def test_a_notebook_shows_the_first_rows(self):
        shown = self.table._repr_html_()
        self.assertIn('duration_ns', shown)
        self.assertEqual(shown.count('<tr>'), 21)

    def test_unknown_tables_are_refused(self):
        self.refused(LookupError, "unknown table 'nonsense'|hint: tables of this session: inference_iters", self.session.table, 'nonsense')
        self.refused(LookupError, "this session has no table 'rocprof_kernels'", self.session.table, 'rocprof_kernels')

    def test_unknown_columns_are_refused(self):
        self.refused(KeyError, "no column 'nonsense'|hint: columns:|duration_ns", self.table.__getitem__, 'nonsense')
        self.refused(aaco.errors.NotFound, 'no column 0', self.table.__getitem__, 0)


class QueryTest(ModuleTest):
    def one(self, sql):
        table = aaco.query('SELECT ' + sql + ' AS x')
        self.assertEqual((len(table), table.columns), (1, ['x']))
        return table

    def value(self, sql):
        return self.one(sql).head()[0]['x']

    def test_types_that_arrow_has(self):
        for sql, form in (('1::TINYINT', 'c'), ('1::SMALLINT', 's'), ('1::INTEGER', 'i'), ('1::BIGINT', 'l'), ('1::UTINYINT', 'C'),
                          ('1::USMALLINT', 'S'), ('1::UINTEGER', 'I'), ('1::UBIGINT', 'L'), ('1::FLOAT', 'f'), ('1::DOUBLE', 'g'),
                          ('true', 'b'), ("DATE '2026-11-21'", 'tdD'), ("TIMESTAMP '2026-11-21 08:15:30'", 'tsu:'), ("'a'", 'U'),
                          ('1.5::DECIMAL(9,2)', 'g'), ('sum(1)', 'l'), ('[1, 2]', 'U'), ("TIMESTAMP_NS '2026-11-21 08:15:30'", 'tsu:')):
            batch = arrow.Batch(self.one(sql))
            self.assertEqual(batch.formats['x'], form, sql)
            batch.release()

    def test_sums_are_integers_while_they_fit(self):
        self.assertEqual(self.value('sum(9007199254740993)'), 9007199254740993)
        self.assertEqual(self.value('170141183460469231731687303715884105727::HUGEINT'), 2.0**127)
        self.assertEqual(self.value('(-1)::HUGEINT'), -1)

    def test_a_sum_that_grows_beyond_64_bits_is_real(self):
        table = aaco.query('SELECT unnest([1::HUGEINT, -2::HUGEINT, NULL, 2::HUGEINT ** 70]) AS x')
        self.assertEqual([row['x'] for row in table.head()], [1.0, -2.0, None, 2.0**70])

    def test_decimals_are_real(self):
        self.assertEqual(self.value('1.25::DECIMAL(9,2)'), 1.25)

    def test_missing_values_are_none(self):
        table = aaco.query("SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE i END AS x, CASE WHEN i % 2 = 0 THEN 'even' END AS t FROM range(9000) r(i)")
        self.assertEqual(table['x'].null_count, 3000)
        self.assertEqual(table['t'].null_count, 4500)
        self.assertEqual([row['x'] for row in table.head(5)], [None, 1, 2, None, 4])
        self.assertEqual(table['t'].texts()[:3], ['even', None, 'even'])

    def test_booleans_are_bits_in_arrow(self):
        batch = arrow.Batch(aaco.query('SELECT i % 3 = 0 AS x FROM range(10) r(i)'))
        self.assertEqual(ctypes.string_at(batch.address('x', 1), 2), bytes([0b01001001, 0b00000010]))
        batch.release()

    def test_an_empty_answer_has_its_columns(self):
        table = aaco.query("SELECT session_id, 1 AS one FROM sessions WHERE false")
        self.assertEqual((len(table), table.columns, table.head()), (0, ['session_id', 'one'], []))
        batch = arrow.Batch(table)
        self.assertEqual(batch.array.length, 0)
        batch.release()

    def test_names_may_repeat(self):
        table = aaco.query('SELECT 1 AS x, 2 AS x')
        self.assertEqual(table.columns, ['x', 'x'])
        self.assertIn('<td>2</td>', re.sub(' style="[^"]*"', '', table._repr_html_()))
        for function in (table.head, table.to_numpy, lambda: table['x']):
            self.refused(ValueError, "2 columns have the name 'x'|hint: give them names with AS", function)

    @needs_pandas
    def test_a_data_frame_keeps_columns_of_one_name(self):
        frame = aaco.query('SELECT 1 AS x, 2 AS x').to_pandas()
        self.assertEqual((list(frame.columns), frame.values.tolist()), (['x', 'x'], [[1, 2]]))

    def test_a_column_lists_its_values(self):
        self.assertEqual(list(aaco.query('SELECT unnest([1, NULL, 3]) AS x')['x']), [1, None, 3])
        self.assertEqual(list(aaco.query("SELECT unnest(['a', NULL]) AS x")['x']), ['a', None])

    def test_a_column_gives_the_value_of_a_row(self):
        for sql, values in (('unnest([1, NULL, 3])', [1, None, 3]), ("unnest(['a', NULL, 'c'])", ['a', None, 'c']), ('unnest([true, NULL, false])', [True, None, False])):
            column = aaco.query(f'SELECT {sql} AS x')['x']
            self.assertEqual([column[row] for row in (0, 1, 2, -1, -3)], [*values, values[2], values[0]])
            self.assertEqual((column[1:], column[::-1]), (values[1:], values[::-1]))
            for row in (3, -4):
                self.assertRaises(IndexError, column.__getitem__, row)
            self.refused(aaco.errors.WrongType, 'the row is of type str|hint:', column.__getitem__, 'x')

    def test_tables_say_how_they_reach_another_process(self):
        table = aaco.query('SELECT 1 AS x')
        for one in (table, table['x']):
            self.refused(aaco.errors.WrongType, 'cannot be pickled|hint: pass its to_pandas()', pickle.dumps, one)

    @needs_numpy
    def test_missing_numbers_are_never_zeros_in_a_plain_array(self):
        self.refused(ValueError, 'column x has 1 missing values|hint: use to_numpy()', numpy.asarray, aaco.query('SELECT unnest([1, NULL]) AS x')['x'])

    @needs_pandas
    def test_pandas_keeps_whole_numbers_with_gaps_whole(self):
        frame = aaco.query("SELECT unnest([1, NULL, 3]) AS x, unnest([true, NULL, false]) AS b, unnest([0.5, NULL, 1.5])::DOUBLE AS d, "
                           "unnest([DATE '2026-11-21', NULL, DATE '1969-12-31']) AS day").to_pandas()
        self.assertEqual([str(kind) for kind in frame.dtypes], ['Int32', 'boolean', 'Float64', 'datetime64[ns]'])
        self.assertEqual(frame.isna().sum().tolist(), [1, 1, 1, 1])
        self.assertEqual(str(frame.day[2]), '1969-12-31 00:00:00')

    @needs_numpy
    def test_times_are_datetimes(self):
        self.assertEqual(str(self.one("TIMESTAMP '2026-11-21 08:15:30'")['x'].to_numpy()[0]), '2026-11-21T08:15:30.000000')

    def test_wrong_sql_is_refused(self):
        self.refused(ValueError, 'nonsense', aaco.query, 'SELECT nonsense FROM sessions')
        self.refused(ValueError, 'no SQL statement', aaco.query, '')
        self.refused(ValueError, 'only one statement', aaco.query, 'SELECT 1; SELECT 2')

    def test_statements_that_write_are_refused(self):
        for sql in ('DROP TABLE sessions', "COPY (SELECT 1) TO '/tmp/x'", 'CREATE TABLE t (i INTEGER)'):
            self.refused(PermissionError, 'read-only', aaco.query, sql)

    def test_files_outside_the_lake_are_refused(self):
        self.refused(aaco.Error, 'asswd', aaco.query, "SELECT * FROM read_text('/etc/passwd')")


if __name__ == '__main__':
    unittest.main()
