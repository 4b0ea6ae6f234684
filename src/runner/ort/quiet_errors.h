#pragma once

#include <cstdint>

#include "core/handles.h"

namespace aaco::runner::ort {

// Holds back what is written to standard error while it lives, and writes it there at the end, without the lines about schemas
// that builds of ONNX Runtime with a shared ONNX library print by the hundred when they start. Of the whole process: other
// threads' lines wait, too. Where it cannot be set up, nothing is held back.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

  // Writes what is to be said now; the number of lines that were left out so far. Ends the holding back.
  std::int64_t finish();

 private:
  core::FileDescriptor before_, held_;
  std::int64_t left_out_ = 0;
};

}  // namespace aaco::runner::ort
