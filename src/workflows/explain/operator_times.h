#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// What the operators of a trace without device work do, by their own time (less that of the operators inside).
class OperatorTimes {
 public:
  explicit OperatorTimes(const trace::NameTable& names) : names_(names) {}
  void add(const trace::ApiCallRow& row);  // in order of start

  struct Leading {
    std::string_view id, title;
    double share = 0;       // of the operators' own time
    bool computes = false;  // what takes it is arithmetic
  };
  // Matrix products or convolutions where they take most of the time; dispatch where operators are so short that it does. Empty:
  // none.
  [[nodiscard]] std::optional<Leading> leading() const;

 private:
  struct Open {
    std::int64_t end_ns = 0;
    std::uint32_t name = 0;
  };
  const trace::NameTable& names_;
  std::int64_t count_ = 0;
  std::map<std::uint32_t, std::int64_t> own_ns_;                             // by name
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<Open>> open_;  // by rank and thread
};

}  // namespace aaco::workflows
