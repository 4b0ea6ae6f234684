#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::importers::rocm {

// What the table of calls keeps of an allocation, as JSON: the agent and the size. The first kMax different ones are kept.
class AllocationArguments {
 public:
  explicit AllocationArguments(trace::Sink& sink) : sink_(sink) {}
  trace::NameId of(std::optional<std::int64_t> agent, std::optional<std::int64_t> bytes);
  void report(trace::Account& account) const;

  static constexpr std::size_t kMax = 10'000;

 private:
  trace::Sink& sink_;
  std::map<std::string, trace::NameId> known_;
  std::int64_t left_out_ = 0;
};

}  // namespace aaco::importers::rocm
