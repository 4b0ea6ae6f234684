#pragma once

#include "core/phrasing.h"

namespace aaco::python {

// Errors of the library as callers of the module aaco need them: its functions and arguments, not commands and options.
const core::Phrasing& python_phrasing();

}  // namespace aaco::python
