#pragma once

#include <pybind11/pybind11.h>

#include "core/json.h"

namespace aaco::python {

// A document as dict, list, str, int, float, bool and None.
pybind11::object to_python(const core::Json& document);
// The other way, for what numbers, texts, paths, lists and dicts there are; a timedelta is its seconds. Raises WrongType for
// anything else, InvalidArgument for text that is not Unicode.
core::Json to_json(pybind11::handle value);

// Raises the exception of aaco.errors that fits.
[[noreturn]] void raise(const core::Error& error);

template <class T>
T value_or_raise(core::Result<T>&& result) {
  if (!result) raise(result.error());
  return *std::move(result);
}
inline void value_or_raise(core::Status&& status) {
  if (!status) raise(status.error());
}

}  // namespace aaco::python
