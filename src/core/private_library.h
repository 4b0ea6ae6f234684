#pragma once

#include <string>
#include <string_view>

#include "core/environment.h"

namespace aaco::core {

// A library that came with the program and is for it alone: below lib/aaco beside share/aaco, in a build and where it is
// installed.
std::string private_library(const Paths& paths, std::string_view file);

}  // namespace aaco::core
