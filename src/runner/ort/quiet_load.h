#pragma once

#include "core/handles.h"

namespace aaco::runner::ort {

// While it lives, standard error goes to a file in memory; at its end what was written follows, without the lines of
// is_schema_noise(). It does so only in a process with ONNX's operators in a library of their own (as Debian builds it), where
// the first session registers them twice, and where such a file can be made. What is written while a model is opened is lost if
// the process ends there.
class QuietLoad {
 public:
  QuietLoad();
  QuietLoad(const QuietLoad&) = delete;
  QuietLoad& operator=(const QuietLoad&) = delete;
  ~QuietLoad();

 private:
  core::FileDescriptor usual_, kept_;
};

}  // namespace aaco::runner::ort
