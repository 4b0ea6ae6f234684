#pragma once

#include <pybind11/pybind11.h>

// What aaco._core has, one source each; the package aaco makes of it what users see.
namespace aaco::python {

void bind_columns(pybind11::module_& core);    // tables and queries
void bind_sessions(pybind11::module_& core);   // reading, listing, exporting
void bind_measuring(pybind11::module_& core);  // run, observe, import, recordings of this process
void bind_judging(pybind11::module_& core);    // diff, ab, explain, analyze, history

}  // namespace aaco::python
