#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/model_source.h"

namespace aaco::cli {

// "--dim NAME=SIZE,NAME=SIZE", given any number of times, as the verbs that reason about a model take it. A size of 0 is one (a
// cache without a past); one name with two sizes is not.
core::Result<graph::Bindings> parse_dimensions(const std::vector<std::string>& texts);

}  // namespace aaco::cli
