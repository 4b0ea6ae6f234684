#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"

namespace aaco::workflows {

// What every use case needs of the world.
struct Services {
  core::Environment environment;
  core::Paths paths;
  std::function<void(std::string_view)> progress = [](std::string_view) {};  // what is going on, one line
  const std::atomic<bool>* stop = nullptr;                                   // set: end early, keep everything
  std::atomic<bool>* terminal_lent = nullptr;  // set while a child has the terminal, so that its Ctrl-C is the child's alone
  std::string tool_version;
  std::vector<std::string> command_line;

  [[nodiscard]] bool stopping() const { return stop != nullptr && stop->load(); }
};

}  // namespace aaco::workflows
