#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

// Which Python packages a program under observation could import: most of what an AI workload is made of. Read from files only;
// the interpreter is never run.
namespace aaco::hardware {

struct PythonPackage {
  std::string name, version;
  bool operator==(const PythonPackage&) const = default;
};

struct PythonEnvironment {
  std::string interpreter;              // path of its executable
  std::string virtual_environment;      // folder, or empty
  std::vector<std::string> folders;     // searched for packages, first come first imported
  std::vector<PythonPackage> packages;  // by name; of several versions the one that is imported
  std::int64_t unreadable = 0;          // distributions whose metadata could not be read
};

// python, python3, python3.12, pypy3 ...: the name of a Python interpreter.
bool is_python(std::string_view program);

// The environment of the process that /proc below `root` ("/") shows, by its executable, its command line (a virtual environment
// is started through a link in its bin folder), VIRTUAL_ENV, PYTHONPATH and PYTHONHOME. Empty where the process is gone, is not
// Python, or may not be looked at.
std::optional<PythonEnvironment> python_environment(const std::string& root, std::int64_t process_id);

core::Json to_json(const PythonEnvironment& environment);

}  // namespace aaco::hardware
