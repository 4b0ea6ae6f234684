#include "workflows/calibrate/measurements/measurement_row.h"

#include <cmath>

#include "core/numbers.h"
#include "core/strings.h"
#include "estimation/kernel.h"

namespace aaco::workflows {

using core::ErrorCode;

tl::unexpected<core::Error> MeasurementRow::wrong(std::string_view column, std::string_view what) const {
  return core::fail(ErrorCode::invalid_input,
                    where_ + ": " + std::string(column) + " is '" + std::string(text(column)) + "', " + std::string(what));
}

std::string_view MeasurementRow::text(std::string_view column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? std::string_view{} : core::trim(fields_[found->second]);
}

core::Result<std::string> MeasurementRow::type(std::string_view column) const {
  std::string type = estimation::canonical_type(text(column));
  if (!estimation::element_of(type)) return wrong(column, "not a known data type");
  return type;
}

core::Result<std::int64_t> MeasurementRow::integer(std::string_view column) const {
  const auto value = core::parse_i64(text(column));
  if (!value) return wrong(column, "expected an integer");
  return *value;
}

core::Result<std::int64_t> MeasurementRow::integer_or(std::string_view column, std::int64_t otherwise) const {
  if (text(column).empty()) return otherwise;
  return integer(column);
}

bool MeasurementRow::infinite(std::string_view column) const {
  const std::string lower = core::to_lower(text(column));
  return lower == "inf" || lower == "+inf" || lower == "infinity";
}

core::Result<double> MeasurementRow::positive(std::string_view column) const {
  const auto value = core::parse_f64(text(column));
  if (!value || !(*value > 0) || std::isinf(*value)) return wrong(column, "expected a positive number");
  return *value;
}

core::Result<double> MeasurementRow::within(std::string_view column, double least, double most, std::string_view what) const {
  AACO_ASSIGN(const double value, positive(column));
  if (value < least || value > most) return wrong(column, std::string(what));
  return value;
}

core::Result<std::pair<std::int64_t, std::int64_t>> MeasurementRow::pair(std::string_view column) const {
  const auto parts = core::split(text(column), 'x');
  const auto first = core::parse_i64(parts.front()), second = core::parse_i64(parts.back());
  if (parts.size() > 2 || !first || !second) return wrong(column, "expected two numbers, for example 1x1");
  return std::pair{*first, *second};
}

}  // namespace aaco::workflows
