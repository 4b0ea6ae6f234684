#include "python/module/convert.h"

#include <cmath>
#include <string>

#include "python/module/phrases.h"

namespace aaco::python {
namespace {

namespace py = pybind11;
using core::Json;

[[noreturn]] void refuse(const char* kind, const std::string& message, const char* remedy) {
  const py::object made = py::module_::import("aaco.errors").attr(kind)(message, remedy);
  PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
  throw py::error_already_set();
}

// Refuses surrogates, which stand for bytes that are not UTF-8.
std::string text(py::handle value) {
  py::ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();
  const auto shown = py::reinterpret_steal<py::object>(PyObject_ASCII(value.ptr()));
  if (!shown) throw py::error_already_set();
  refuse("InvalidArgument", py::cast<std::string>(shown) + " is not Unicode text",
         "replace its surrogates, for example with value.encode(errors=\"replace\").decode()");
}

Json integer(py::handle value) {
  const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!whole) throw py::error_already_set();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow == 0) return number;
  const unsigned long long natural = overflow > 0 ? PyLong_AsUnsignedLongLong(whole.ptr()) : 0;
  if (overflow > 0 && PyErr_Occurred() == nullptr) return natural;
  PyErr_Clear();
  refuse("InvalidArgument", "an integer has more than 64 bits", "pass a smaller number");
}

// JSON has no others, and a NaN compares as inside every range.
Json real(double number) {
  if (std::isfinite(number)) return number;
  refuse("InvalidArgument", std::isnan(number) ? "a number is NaN" : "a number is infinite", "pass a finite number");
}

Json object(const py::dict& value) {
  Json out = Json::object();
  for (const auto& [key, member] : value) {
    if (!py::isinstance<py::str>(key)) refuse("WrongType", "a name in a dict is not text", "use str keys");
    out.set(text(key), to_json(member));
  }
  return out;
}

}  // namespace

py::object to_python(const Json& document) {
  if (document.is_null()) return py::none();
  if (document.is_bool()) return py::bool_(*document.as_bool());
  if (document.is_string()) {
    const std::string_view text = document.text();
    auto* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace");
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
  }
  if (document.is_array()) {
    py::list list;
    for (const Json& item : document.items()) list.append(to_python(item));
    return list;
  }
  if (document.is_object()) {
    py::dict out;
    for (const auto& [key, member] : document.members()) out[py::str(key)] = to_python(member);
    return out;
  }
  if (const auto whole = document.as_i64()) return py::int_(*whole);
  if (const auto natural = document.as_u64()) return py::int_(*natural);
  return py::float_(*document.as_f64());
}

Json to_json(py::handle value) {
  if (value.is_none()) return {};
  if (PyBool_Check(value.ptr())) return py::cast<bool>(value);
  if (py::isinstance<py::str>(value)) return text(value);
  if (PyIndex_Check(value.ptr()) != 0) return integer(value);
  if (PyFloat_Check(value.ptr())) return real(PyFloat_AsDouble(value.ptr()));
  if (py::isinstance<py::dict>(value)) return object(py::reinterpret_borrow<py::dict>(value));
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    Json list = Json::array();
    for (const py::handle item : value) list.push(to_json(item));
    return list;
  }
  if (py::hasattr(value, "__fspath__")) return to_json(value.attr("__fspath__")());
  if (py::hasattr(value, "__float__")) return real(py::cast<double>(py::float_(py::reinterpret_borrow<py::object>(value))));
  if (py::hasattr(value, "total_seconds")) return real(py::cast<double>(value.attr("total_seconds")()));
  refuse("WrongType",
         "a value of type " + py::cast<std::string>(py::str(py::type::of(value).attr("__name__"))) + " is not a valid option",
         "pass a number, a text, a path, a list or a dict; for a duration also a timedelta");
}

void raise(const core::Error& raw) {
  const core::Error error = python_phrasing().of(raw);
  py::list context;
  for (const std::string& where : error.context) context.append(where);
  const py::object made = py::module_::import("aaco.errors")
                              .attr("make_error")(std::string(to_string(error.code)), error.message, error.remedy, context);
  PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
  throw py::error_already_set();
}

}  // namespace aaco::python
