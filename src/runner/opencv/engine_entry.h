#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "runner/backend.h"

namespace aaco::runner::opencv {

// The function of libaaco_opencv.so and its name. Both sides are of one build.
using OpenModel = void(const std::string& model_path, const BackendOptions& options,
                       core::Result<std::unique_ptr<Backend>>& model);
inline constexpr const char* kOpenModel = "aaco_opencv_open_model";

}  // namespace aaco::runner::opencv
