#include "analytics/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.h"

namespace aaco::analytics::agreement {

void AgreementAccount::add(std::span<const double> reference, std::span<const double> candidate, std::int64_t row, bool first) {
  if (reference.size() != candidate.size()) return mismatch("an output has another number of elements");
  double squares = 0, dot = 0, other = 0, worst = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double a = reference[i], b = candidate[i];
    if (!std::isfinite(a)) continue;  // a mask's infinity says nothing about precision
    if (!std::isfinite(b)) {
      ++sum_.not_finite;
      continue;
    }
    const double error = std::abs(a - b);
    worst = std::max(worst, error);
    error_sum_ += error;
    squares += a * a;
    other += b * b;
    dot += a * b;
    ++count;
  }
  sum_.elements += count;
  if (count == 0) return;
  sum_.max_error = std::max(sum_.max_error, worst);
  const double rms = std::sqrt(squares / static_cast<double>(count));
  // Against a reference of zeros any error is as large as itself.
  sum_.max_error_ratio = std::max(sum_.max_error_ratio, rms > 0 ? worst / rms : worst);
  if (squares > 0) sum_.cosine = std::min(sum_.cosine, other > 0 ? dot / std::sqrt(squares * other) : 0.0);
  if (first && row > 1) add_top1(reference, candidate, static_cast<std::size_t>(row));
}

void AgreementAccount::add_top1(std::span<const double> reference, std::span<const double> candidate, std::size_t row) {
  for (std::size_t at = 0; at + row <= reference.size(); at += row) {
    const auto best = [&](std::span<const double> values) {
      const auto part = values.subspan(at, row);
      return std::max_element(part.begin(), part.end()) - part.begin();
    };
    ++rows_;
    if (best(reference) == best(candidate)) ++equal_rows_;
  }
}

Agreement AgreementAccount::result() const {
  Agreement result = sum_;
  if (result.elements > 0) result.mean_error = error_sum_ / static_cast<double>(result.elements);
  if (rows_ > 0) result.top1_ratio = static_cast<double>(equal_rows_) / static_cast<double>(rows_);
  return result;
}

std::string violation(const Agreement& agreement, const Tolerance& tolerance) {
  if (!agreement.mismatch.empty()) return agreement.mismatch;
  if (agreement.elements == 0 && agreement.not_finite == 0)
    return "no element of the baseline's outputs is a finite number: there is nothing to compare";
  if (agreement.not_finite > 0)
    return fmt::format("{} output elements are NaN or infinite", core::format_count(static_cast<double>(agreement.not_finite)));
  if (tolerance.kind == Tolerance::Kind::error)
    return agreement.max_error_ratio <= tolerance.value
               ? std::string()
               : fmt::format("largest output error is {:.3g} of the output RMS, tolerance {:.3g}", agreement.max_error_ratio,
                             tolerance.value);
  if (!agreement.top1_ratio) return "the first output has no classes to compare (top-1)";
  return *agreement.top1_ratio >= tolerance.value
             ? std::string()
             : fmt::format("top-1 agrees on {}, tolerance {}", core::format_percent(*agreement.top1_ratio),
                           core::format_percent(tolerance.value));
}

}  // namespace aaco::analytics::agreement
