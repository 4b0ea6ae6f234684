#include "governance/amount.h"

#include <fmt/format.h>

#include "core/numbers.h"

namespace aaco::governance {

std::string amount(double value, const std::string& unit) {
  if (unit == "ns") return core::format_duration(value);
  if (unit == "bytes") return core::format_bytes(value);
  if (unit == "ratio") return core::format_percent(value);
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

}  // namespace aaco::governance
