#include <string>

#include "python/module/bind.h"
#include "python/module/phrases.h"

PYBIND11_MODULE(_core, core) {
  core.doc() = "The library behind the package aaco; use that instead.";
  core.attr("__version__") = AACO_VERSION;
  aaco::python::bind_columns(core);
  aaco::python::bind_sessions(core);
  aaco::python::bind_measuring(core);
  aaco::python::bind_judging(core);
  core.def("phrased", [](const std::string& text) { return aaco::python::python_phrasing().of(text); });
}
