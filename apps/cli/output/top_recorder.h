#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/files.h"
#include "core/subprocess.h"

namespace aaco::cli {

// A recording of one process that `aaco top` starts and stops: `aaco record --pid` as a child.
class TopRecorder {
 public:
  TopRecorder(std::string program, std::string sessions) : program_(std::move(program)), sessions_(std::move(sessions)) {}

  // Starts, or stops what runs. `profile`: with what the operating system does (--ebpf).
  void toggle(std::int64_t process_id, bool profile);
  // What goes on, for the last line of the screen; empty: nothing.
  std::string state();
  // Lets a running recording store its session.
  void finish();

 private:
  void take_result(int exit_code);

  std::string program_, sessions_;
  std::optional<core::Child> child_;
  std::optional<core::TemporaryDirectory> folder_;
  std::string what_, note_;
  std::int64_t started_ns_ = 0;
  bool stopping_ = false;
};

}  // namespace aaco::cli
