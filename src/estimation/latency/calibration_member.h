#pragma once

#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"

// Members of a calibration's head. What is missing or wrong is invalid_input with the member's name.
namespace aaco::estimation {

// Finite.
core::Result<double> number(const core::Json& document, std::string_view member, bool may_be_negative = false);
// Not empty.
core::Result<std::string> text(const core::Json& document, std::string_view member);

tl::unexpected<core::Error> wrong_member(std::string_view member, std::string_view what);
tl::unexpected<core::Error> wrong_calibration(const std::string& what);
// What to do next where nobody knows the device.
std::string fit_again();

}  // namespace aaco::estimation
