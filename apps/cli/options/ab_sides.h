#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/ab_worker.h"

namespace aaco::cli {

// "A... -- B..." cut at each "--"; the first may be left out.
std::vector<std::vector<std::string>> split_sides(const std::vector<std::string>& words);

// The options of one side, as `aaco run` takes them, and --inject-delay. Errors name the side.
core::Result<workflows::AbSide> parse_ab_side(const std::vector<std::string>& words, const std::string& name);

// Whether the options of a side name a model. True also where they cannot be parsed: parse_ab_side tells why.
bool side_names_model(const std::vector<std::string>& words);

}  // namespace aaco::cli
