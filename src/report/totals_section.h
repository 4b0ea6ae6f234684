#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// What a profiler wrote in place of events: profiler/kernel_summary.json of a session (docs/formats/kernel_summary.md).
struct ProfilerTotals {
  struct Entry {
    std::string name;
    std::int64_t count = 0, sum_ns = 0;
    std::optional<double> mean_ns;
    std::optional<std::int64_t> min_ns, max_ns;  // where every file states them
    std::optional<std::string> domain;           // of a call
    std::optional<std::string> family, library;  // of a kernel
    core::Json parameters;                       // of a kernel, by its name; null: none
  };
  struct Instruction {
    std::string instruction;
    std::optional<std::string> source;
    std::int64_t samples = 0;
  };
  struct Kernel {
    std::string name;
    std::int64_t samples = 0;
  };
  struct Dispatch {
    std::uint64_t dispatch_id = 0;
    std::int64_t samples = 0;
  };
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;
  // Sampled program counters; lists hold the most frequent.
  struct Samples {
    std::int64_t samples = 0, first_ns = 0, last_ns = 0;
    std::vector<Instruction> instructions;
    std::int64_t different_instructions = 0;
    Counts types, stall_reasons;
    std::vector<Dispatch> dispatches;
    std::optional<std::int64_t> different_dispatches;
    std::vector<Kernel> kernels;  // of those dispatches that the session's trace names
  };
  std::vector<Entry> kernels, calls;  // most time first
  std::optional<Samples> samples;
};

core::Json to_json(const ProfilerTotals& section);
// Of a kernel_summary.json; missing members are 0 or empty.
ProfilerTotals totals_from(const core::Json& summary);
void write_text(TextPage& page, const ProfilerTotals& section, const ReportModel& model);

}  // namespace aaco::report
