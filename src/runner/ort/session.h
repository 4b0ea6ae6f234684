#pragma once

#include <memory>
#include <string>

#include "runner/backend.h"
#include "runner/ort/api.h"

namespace aaco::runner::ort {

// A session over one model; the provider asked for is known to be available.
core::Result<std::unique_ptr<Backend>> open_session(std::shared_ptr<Api> api, const std::string& model_path,
                                                    const BackendOptions& options);

}  // namespace aaco::runner::ort
