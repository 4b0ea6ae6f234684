#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/numbers.h"

// Whole numbers of a command line. CLI11 by itself takes "-1" for an unsigned one as the largest there is, an empty text as 0,
// and answers a wrong one with the range of a double. It reads "010" as 8, in base eight, which nobody means.
namespace aaco::cli {

inline constexpr std::int64_t kMaxCount = 1'000'000'000;

inline bool leads_with_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text.starts_with('0');
}

inline CLI::Validator whole_number(std::int64_t low, std::int64_t high, std::string type = "N") {
  return {[low, high](std::string& text) {
            const auto value = core::parse_i64(text);
            if (value && leads_with_zero(text)) return "'" + text + "' has a leading zero";
            if (value && *value >= low && *value <= high) return std::string();
            return "'" + text + "' is not an integer between " + std::to_string(low) + " and " + std::to_string(high);
          },
          std::move(type)};
}

inline CLI::Validator positive_count() { return whole_number(1, kMaxCount, "POSITIVE"); }

// A number that is one: CLI11 takes "nan" and "inf".
inline CLI::Validator finite_number() {
  return {[](std::string& text) {
            const auto value = core::parse_f64(text);
            return value && std::isfinite(*value) ? std::string() : "'" + text + "' is not a number";
          },
          ""};
}

inline CLI::Validator positive_number() {
  return {[](std::string& text) {
            const auto value = core::parse_f64(text);
            return value && std::isfinite(*value) && *value > 0 ? std::string() : "'" + text + "' is not a positive number";
          },
          "POSITIVE"};
}

inline CLI::Validator number_in(double low, double high) {
  return {[low, high](std::string& text) {
            const auto value = core::parse_f64(text);
            if (value && *value >= low && *value <= high) return std::string();
            return fmt::format("'{}' is not a number between {} and {}", text, low, high);
          },
          ""};
}

// Any number of 64 bits without a sign.
inline CLI::Validator seed_number() {
  return {[](std::string& text) {
            if (leads_with_zero(text)) return "'" + text + "' has a leading zero";
            return core::parse_u64(text) ? std::string() : "'" + text + "' is not an unsigned 64-bit integer";
          },
          "SEED"};
}

}  // namespace aaco::cli
