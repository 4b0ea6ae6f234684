#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::trace {

// What became of everything a source offered: nothing is lost without a number and a reason. read = kept + dropped.
struct Account {
  std::string source;  // "proc", "ort.profile", "kineto"
  enum class State { ok, partial, unsupported, failed } state = State::ok;
  std::string reason;  // why not ok, and the remedy
  std::int64_t read = 0;
  std::int64_t kept = 0;
  std::map<std::string, std::int64_t> dropped;  // reason -> records
  std::vector<std::string> notes;               // "cut at byte 123456: the file ends inside an event"

  void keep(std::int64_t count = 1) {
    read += count;
    kept += count;
  }
  void drop(std::string_view why, std::int64_t count = 1) {
    read += count;
    dropped[std::string(why)] += count;
  }
  [[nodiscard]] std::int64_t dropped_total() const;
  bool operator==(const Account&) const = default;
};

std::string_view to_string(Account::State state);
core::Json to_json(const Account& account);
core::Result<Account> account_from_json(const core::Json& document);

}  // namespace aaco::trace
