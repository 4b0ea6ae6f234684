#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/numbers.h"

namespace aaco::cli {

// A whole number above 0. CLI11's own check answers with the range of a double.
inline CLI::Validator positive_count() {
  return {[](std::string& text) {
            const auto value = core::parse_i64(text);
            return value && *value > 0 ? std::string() : "'" + text + "' is not a whole number above 0";
          },
          "POSITIVE"};
}

}  // namespace aaco::cli
