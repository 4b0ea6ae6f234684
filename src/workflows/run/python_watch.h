#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/json.h"
#include "hardware/python_packages.h"

namespace aaco::workflows {

// Notices the Python interpreters of a process tree while it runs, and what they could import. A look costs a few links of /proc
// and is taken ever more rarely.
class PythonWatch {
 public:
  explicit PythonWatch(std::int64_t process_id) : process_id_(process_id) {}
  // Looks when it is time to; called often.
  void look();
  // {"python": [...]} for env.json, one entry an interpreter with its search folders; empty where there was none.
  [[nodiscard]] core::Json libraries() const;

 private:
  std::int64_t process_id_;
  std::int64_t next_look_ns_ = 0;
  std::int64_t interval_ns_ = 20'000'000;
  std::set<std::int64_t> known_;                                     // processes that were looked at and are Python
  std::map<std::string, hardware::PythonEnvironment> environments_;  // by interpreter and folders
};

}  // namespace aaco::workflows
