#include "workflows/optimize/as_advised.h"

#include <algorithm>

namespace aaco::workflows {

using core::Json;

bool is_as_advised(const Json& space, const std::vector<std::string>& axes, const std::string& configuration) {
  if (axes.empty() || axes.front() != "precision") return true;
  const bool searched = std::any_of(space.items().begin(), space.items().end(), [](const Json& one) {
    return one["axis"].text() == "precision" && one["values"].items().size() > 1;
  });
  return !searched || (" " + configuration).find(" precision=") != std::string::npos;
}

}  // namespace aaco::workflows
