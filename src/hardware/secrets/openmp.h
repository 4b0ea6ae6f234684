#pragma once

#include <string_view>

namespace aaco::hardware::secrets {

// OMP_NAME=VALUE can be a setting of OpenMP: the specification (6.0, chapter "Environment Variables") gives those a small
// language of numbers, units and key words. Names that take free text (a library, a format, a device's traits) can be anything.
bool may_be_openmp_setting(std::string_view name, std::string_view value);

}  // namespace aaco::hardware::secrets
