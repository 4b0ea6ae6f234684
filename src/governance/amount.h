#pragma once

#include <string>

namespace aaco::governance {

// A value with its unit, for text: "12.3 ms" of ns, "4.5 MiB" of bytes, "3.1 %" of a ratio, else four digits and the unit.
std::string amount(double value, const std::string& unit);

}  // namespace aaco::governance
