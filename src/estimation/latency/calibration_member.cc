#include "estimation/latency/calibration_member.h"

#include <cmath>

namespace aaco::estimation {

using core::ErrorCode;

std::string fit_again() { return "recreate it with 'aaco calibrate'"; }

tl::unexpected<core::Error> wrong_calibration(const std::string& what) {
  return core::fail(ErrorCode::invalid_input, what, fit_again());
}

tl::unexpected<core::Error> wrong_member(std::string_view member, std::string_view what) {
  return wrong_calibration("the calibration's " + std::string(member) + " " + std::string(what));
}

core::Result<double> number(const core::Json& document, std::string_view member, bool may_be_negative) {
  const auto value = document[member].as_f64();
  if (!value || !std::isfinite(*value)) return wrong_member(member, "is not a number");
  if (*value < 0 && !may_be_negative) return wrong_member(member, "is negative");
  return *value;
}

core::Result<std::string> text(const core::Json& document, std::string_view member) {
  auto value = document[member].as_string();
  if (!value || value->empty()) return wrong_member(member, "is not a string");
  return *std::move(value);
}

}  // namespace aaco::estimation
