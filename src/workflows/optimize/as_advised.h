#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::workflows {

// Whether the configuration ("precision=float16 threads=2") changes what the advice is about: with "precision" first among its
// axes that is fewer bits, where the search had them (`space`: "space" of result.json); otherwise any of its axes.
bool is_as_advised(const core::Json& space, const std::vector<std::string>& axes, const std::string& configuration);

}  // namespace aaco::workflows
