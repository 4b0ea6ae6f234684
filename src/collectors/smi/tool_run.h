#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/subprocess.h"

namespace aaco::collectors::smi {

// One execution of a program beside us. poll() never waits.
class ToolRun {
 public:
  static core::Result<ToolRun> start(const std::vector<std::string>& arguments);
  enum class State : std::uint8_t { running, ended };
  // Takes in what the program has written since.
  State poll();
  [[nodiscard]] int exit_code() const { return exit_code_; }  // once ended
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] const std::string& error_output() const { return error_; }

 private:
  explicit ToolRun(core::ChildPipes pipes) : pipes_(std::move(pipes)) {}
  core::ChildPipes pipes_;
  std::string output_, error_;
  bool output_open_ = true, error_open_ = true;
  int exit_code_ = 0;
};

}  // namespace aaco::collectors::smi
