#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A named model as `aaco zoo ls` shows it.
struct ZooLine {
  std::string name;
  std::string title;
  std::int64_t parameters = 0;
  std::string path;  // where it lies once made, empty before
};

core::Result<std::vector<ZooLine>> list_zoo(const Services& services);
// Makes the model (or finds it made) and answers its path.
core::Result<std::string> make_zoo_model(const std::string& name, std::uint64_t seed, const Services& services);

}  // namespace aaco::workflows
