#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "runner/backend.h"

// OpenCV's DNN module as an engine. It is a library of its own (libaaco_opencv.so), opened when it is asked for: the program does
// not link OpenCV, and a build without libopencv-dnn-dev has no such library.
namespace aaco::runner::opencv {

// What configs/backends.yaml calls it.
inline constexpr std::string_view kProvider = "OpenCVDNN";

// Where the library may be, first to last, for a program in that place.
std::vector<std::string> library_candidates(const std::string& executable);

// Loads an ONNX model. Fails with unsupported if the library is not there, if OpenCV does not read the model, or if the options
// ask for what it does not have (profiler, options of ONNX Runtime, an optimised model).
core::Result<std::unique_ptr<Backend>> open_model(const std::string& model_path, const BackendOptions& options,
                                                  const std::string& executable);

}  // namespace aaco::runner::opencv
