#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/json.h"

namespace aaco::importers::rocm {

// Sampled program counters, counted by instruction, type, reason of a stall and dispatch.
class SampleCounts {
 public:
  void add(std::int64_t time_ns, std::string_view instruction, std::string_view source, std::string_view type,
           std::string_view stall_reason, std::uint64_t dispatch_id);
  // {samples, first_ns, last_ns, instructions, types, stall_reasons, dispatches}, the most frequent first; null without a sample.
  [[nodiscard]] core::Json summary() const;

 private:
  using Counts = std::map<std::string, std::int64_t, std::less<>>;
  static void count(Counts& counts, std::string_view key);
  [[nodiscard]] core::Json dispatches() const;

  std::int64_t samples_ = 0, first_ns_ = INT64_MAX, last_ns_ = 0;
  Counts by_instruction_, by_type_, by_stall_;
  std::map<std::uint64_t, std::int64_t> by_dispatch_;
};

}  // namespace aaco::importers::rocm
