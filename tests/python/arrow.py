"""Arrow's C stream interface by ctypes alone: what a consumer of a table sees."""
import ctypes


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_char_p), ('flags', ctypes.c_int64),
                   ('n_children', ctypes.c_int64), ('children', ctypes.POINTER(ctypes.POINTER(Schema))),
                   ('dictionary', ctypes.POINTER(Schema)), ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
                   ('private_data', ctypes.c_void_p)]
Array._fields_ = [('length', ctypes.c_int64), ('null_count', ctypes.c_int64), ('offset', ctypes.c_int64), ('n_buffers', ctypes.c_int64),
                  ('n_children', ctypes.c_int64), ('buffers', ctypes.POINTER(ctypes.c_void_p)),
                  ('children', ctypes.POINTER(ctypes.POINTER(Array))), ('dictionary', ctypes.POINTER(Array)),
                  ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ('private_data', ctypes.c_void_p)]
Stream._fields_ = [('get_schema', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ('get_next', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ('get_last_error', ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ('private_data', ctypes.c_void_p)]

ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Batch:
    """The only batch of a table's stream, with its schema; release() gives both back."""

    def __init__(self, table):
        self.capsule = table.__arrow_c_stream__()
        self.stream = ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer(self.capsule, b'arrow_array_stream'), ctypes.POINTER(Stream))
        self.schema, self.array, self.end = Schema(), Array(), Array()
        self.codes = [self.stream.contents.get_schema(self.stream, self.schema), self.stream.contents.get_next(self.stream, self.array),
                      self.stream.contents.get_next(self.stream, self.end)]
        self.formats = {self.field(i).name.decode(): self.field(i).format.decode() for i in range(self.schema.n_children)}

    def field(self, index):
        return self.schema.children[index].contents

    def column(self, name):
        return self.array.children[list(self.formats).index(name)].contents

    def address(self, name, buffer):
        return self.column(name).buffers[buffer]

    def texts(self, name):
        """A text column by its offsets and bytes."""
        column = self.column(name)
        offsets = (ctypes.c_int64 * (column.length + 1)).from_address(column.buffers[1])
        data = ctypes.string_at(column.buffers[2], offsets[column.length])
        return [data[offsets[i]:offsets[i + 1]].decode() for i in range(column.length)]

    def release(self):
        self.schema.release(self.schema)
        self.array.release(self.array)
