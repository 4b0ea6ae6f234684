#pragma once

#include "runner/backend.h"
#include "runner/ort/api.h"

namespace aaco::runner::ort {

ONNXTensorElementDataType to_ort(ElementType type);
ElementType from_ort(ONNXTensorElementDataType type);

// The declared inputs (or outputs) of a session.
core::Result<std::vector<TensorInfo>> describe_tensors(const Api& api, const OrtSession* session, bool inputs);

// A value over `data`'s own bytes: `data` must outlive it and stay where it is.
core::Result<std::shared_ptr<OrtValue>> wrap(const Api& api, const OrtMemoryInfo* cpu, TensorData& data);

// A host copy of a value's elements; unsupported for strings and for memory the host cannot read.
core::Result<TensorData> copy_out(const Api& api, const std::string& name, const OrtValue* value);

// The value where it is.
core::Result<TensorView> view(const Api& api, const std::string& name, const OrtValue* value);

}  // namespace aaco::runner::ort
