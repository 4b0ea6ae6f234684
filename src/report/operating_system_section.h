#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// What the operating system did while the session ran, where the scheduler was watched.
struct OperatingSystem {
  struct Thread {
    std::string name;
    std::int64_t thread_id = 0, process_id = 0;
    std::int64_t run_ns = 0, run_queue_ns = 0, off_cpu_ns = 0, migrations = 0, page_faults = 0;
  };
  struct Reason {
    std::string kind, detail, call;  // "off_cpu", "sleep", "futex"
    std::int64_t count = 0, total_ns = 0, longest_ns = 0;
    std::int64_t bytes = 0;     // 0: not of data
    std::int64_t woken_ns = 0;  // of an off_cpu: waits for a CPU right after such sleeps
  };
  // Where threads waited: a thread, then the functions of its stack, outermost first.
  struct Frame {
    std::string name;
    double total_ns = 0;
    bool kernel = false;
    std::vector<Frame> children;  // most time first; small ones are left out
  };
  std::int64_t thread_count = 0;
  std::vector<Thread> threads;  // the most active
  std::vector<Reason> reasons;  // most time first
  std::optional<Frame> waits;   // of all threads; empty: no stacks were recorded
};

core::Json to_json(const OperatingSystem& section);
void write_text(TextPage& page, const OperatingSystem& section, const ReportModel& model);

}  // namespace aaco::report
