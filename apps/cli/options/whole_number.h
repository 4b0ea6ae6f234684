#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/numbers.h"

// Whole numbers of a command line. CLI11 by itself takes "-1" for an unsigned one as the largest there is, an empty text as 0,
// and answers a wrong one with the range of a double. It reads "010" as 8, in base eight, which nobody means.
namespace aaco::cli {

inline constexpr std::int64_t kMostCount = 1'000'000'000;

inline bool leads_with_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text.starts_with('0');
}

inline CLI::Validator whole_number(std::int64_t low, std::int64_t high, std::string type = "N") {
  return {[low, high](std::string& text) {
            const auto value = core::parse_i64(text);
            if (value && leads_with_zero(text)) return "'" + text + "' begins with a zero: write it without";
            if (value && *value >= low && *value <= high) return std::string();
            return "'" + text + "' is not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
          },
          std::move(type)};
}

inline CLI::Validator positive_count() { return whole_number(1, kMostCount, "POSITIVE"); }

// A number that is one: CLI11 takes "nan" and "inf".
inline CLI::Validator finite_number() {
  return {[](std::string& text) {
            const auto value = core::parse_f64(text);
            return value && std::isfinite(*value) ? std::string() : "'" + text + "' is not a number";
          },
          ""};
}

// Any number of 64 bits without a sign.
inline CLI::Validator seed_number() {
  return {[](std::string& text) {
            if (leads_with_zero(text)) return "'" + text + "' begins with a zero: write it without";
            return core::parse_u64(text) ? std::string() : "'" + text + "' is not a whole number of 64 bits without a sign";
          },
          "SEED"};
}

}  // namespace aaco::cli
