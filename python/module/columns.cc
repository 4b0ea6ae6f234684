#include "workflows/columns.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "python/module/bind.h"
#include "python/module/world.h"

namespace aaco::python {
namespace {

namespace py = pybind11;
using tracelake::Column;
using tracelake::ColumnKind;
using tracelake::Columns;

// A column keeps its table.
struct ColumnView {
  std::shared_ptr<const Columns> table;
  const Column* column = nullptr;
};
struct Bits {  // a column's validity
  std::shared_ptr<const Columns> table;
  const Column* column = nullptr;
};

std::string_view kind_name(ColumnKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {"int8",   "int16",   "int32",   "int64", "uint8", "uint16",    "uint32",
                                                       "uint64", "float32", "float64", "bool",  "date",  "timestamp", "text"};
  return kNames.at(static_cast<std::size_t>(kind));
}

// As the struct module writes it; booleans, dates and timestamps are views of their integers.
std::string format_of(ColumnKind kind) {
  constexpr std::array<const char*, 14> kFormats = {"b", "h", "i", "q", "B", "H", "I", "Q", "f", "d", "?", "i", "q", "B"};
  return kFormats.at(static_cast<std::size_t>(kind));
}

py::buffer_info buffer_of(const void* data, std::size_t width, const std::string& format, std::size_t count) {
  static constexpr std::uint64_t kNothing = 0;  // an empty buffer has an address, too
  const void* address = count == 0 ? &kNothing : data;
  return {const_cast<void*>(address),        static_cast<py::ssize_t>(width),   format, 1,
          {static_cast<py::ssize_t>(count)}, {static_cast<py::ssize_t>(width)}, true};
}

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

py::object python_text(std::string_view text) {
  auto* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// Equal texts are one object: names repeat from row to row.
py::list texts_of(const ColumnView& view) {
  if (view.column->kind != ColumnKind::text) throw py::type_error("column '" + view.column->name + "' is not text");
  std::unordered_map<std::string_view, py::object> seen;
  py::list out(view.column->rows);
  for (std::size_t row = 0; row < view.column->rows; ++row) {
    if (!view.column->valid(row)) {
      out[row] = py::none();
      continue;
    }
    const std::string_view text = view.column->text(row);
    auto found = seen.find(text);
    if (found == seen.end()) found = seen.emplace(text, python_text(text)).first;
    out[row] = found->second;
  }
  return out;
}

template <class Struct>
py::capsule capsule_of(std::unique_ptr<Struct> made, const char* name) {
  PyObject* const capsule = PyCapsule_New(made.get(), name, [](PyObject* object) {
    auto* const held = static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);  // nobody took it
    delete held;
  });
  if (capsule == nullptr) throw py::error_already_set();
  (void)made.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::capsule stream_of(const std::shared_ptr<Columns>& table, const py::object&) {
  auto stream = std::make_unique<tracelake::ArrowArrayStream>();
  tracelake::export_stream(table, stream.get());
  return capsule_of(std::move(stream), "arrow_array_stream");
}

py::capsule schema_of(const std::shared_ptr<Columns>& table) {
  auto schema = std::make_unique<tracelake::ArrowSchema>();
  tracelake::export_schema(*table, schema.get());
  return capsule_of(std::move(schema), "arrow_schema");
}

py::list column_names(const Columns& table) {
  py::list names;
  for (const Column& column : table.columns) names.append(python_text(column.name));
  return names;
}

void bind_column(py::module_& core) {
  py::class_<Bits>(core, "Validity", py::buffer_protocol()).def_buffer([](const Bits& bits) {
    return buffer_of(bits.column->validity.data(), 1, "B", bits.column->validity.size());
  });
  py::class_<ColumnView>(core, "Column", py::buffer_protocol())
      .def_property_readonly("name", [](const ColumnView& view) { return python_text(view.column->name); })
      .def_property_readonly("type", [](const ColumnView& view) { return view.column->type; })
      .def_property_readonly("kind", [](const ColumnView& view) { return std::string(kind_name(view.column->kind)); })
      .def_property_readonly("null_count", [](const ColumnView& view) { return view.column->nulls; })
      .def_property_readonly("address", [](const ColumnView& view) { return address_of(view.column->values.data()); })
      .def("__len__", [](const ColumnView& view) { return view.column->rows; })
      .def("validity",
           [](const ColumnView& view) -> py::object {
             return view.column->validity.empty() ? py::none() : py::cast(Bits{view.table, view.column});
           })
      .def("texts", &texts_of)
      .def_buffer([](const ColumnView& view) {
        const Column& column = *view.column;
        const std::size_t width = std::max<std::size_t>(1, width_of(column.kind));
        return buffer_of(column.values.data(), width, format_of(column.kind), column.values.size() / width);
      });
}

}  // namespace

void bind_columns(py::module_& core) {
  bind_column(core);
  py::class_<Columns, std::shared_ptr<Columns>>(core, "Columns")
      .def_property_readonly("names", &column_names)
      .def("__len__", [](const Columns& table) { return table.rows; })
      .def("column",
           [](const std::shared_ptr<Columns>& table, std::size_t index) {
             return ColumnView{table, &table->columns.at(index)};
           })
      .def("__arrow_c_stream__", &stream_of, py::arg("requested_schema") = py::none())
      .def("__arrow_c_schema__", &schema_of);
  core.def("query", [](const py::dict& world, const std::string& sql) {
    std::atomic<bool> stop{false};
    const workflows::Services services = services_of(world, &stop);
    return std::make_shared<Columns>(value_or_raise(
        attend(std::async(std::launch::async, [&] { return workflows::query_columns(sql, services.paths, &stop); }), stop)));
  });
  core.def("session_table", [](const py::dict& world, const std::string& session_path, const std::string& table) {
    return std::make_shared<Columns>(
        short_call(world, [&](const workflows::Services&) { return workflows::session_columns(session_path, table); }));
  });
  core.def("session_tables", [](const std::string& session_path) {
    py::list names;
    for (const std::string& name : workflows::session_tables(session_path)) names.append(name);
    return names;
  });
}

}  // namespace aaco::python
