#pragma once

#include <optional>
#include <string>

#include "core/environment.h"

namespace aaco::workflows {

// Where --self-test stores what it found.
std::string client_ceiling_path(const core::Paths& paths);

// The stored ceiling in chunks per second, of this model of CPU; empty where there is none that fits.
std::optional<double> stored_client_ceiling(const core::Paths& paths, const std::string& cpu_model);

}  // namespace aaco::workflows
