#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::metrics {

// Rows for tests, one after the other in time.
struct TestRows {
  trace::NameTable names;
  std::vector<trace::IterationRow> iterations;
  std::vector<trace::NodeExecutionRow> executions;
  std::vector<trace::SystemEventRow> host;
  std::vector<trace::GpuEventRow> gpu;
  std::int64_t now_ns = 1000;

  // Follows the one before without a gap; the number counts within the phase.
  trace::IterationRow& iteration(std::string_view phase, std::int64_t duration_ns, std::int64_t block = 0) {
    trace::IterationRow row;
    row.phase = names.intern(phase);
    for (const trace::IterationRow& other : iterations) row.iteration += other.phase == row.phase;
    row.block = block;
    row.start_ns = now_ns;
    row.duration_ns = duration_ns;
    now_ns += duration_ns;
    return iterations.emplace_back(row);
  }

  trace::NodeExecutionRow& node(std::int64_t iteration, std::string_view name, std::int64_t start_ns, std::int64_t duration_ns,
                                std::int64_t thread_id = 1) {
    trace::NodeExecutionRow row;
    row.iteration = iteration;
    row.node_name = names.intern(name);
    row.op_type = names.intern(name.substr(0, name.find('_')));
    row.provider = names.intern("CPU");
    row.start_ns = start_ns;
    row.duration_ns = duration_ns;
    row.thread_id = thread_id;
    return executions.emplace_back(row);
  }

  void sample(std::string_view metric, std::string_view entity, std::int64_t time_ns, double value) {
    host.push_back({0, time_ns, names.intern(metric), names.intern(entity), value});
  }
  void gpu_sample(std::string_view metric, std::int64_t device, std::int64_t time_ns, double value,
                  std::string_view source = "sensor") {
    gpu.push_back({0, time_ns, device, names.intern(metric), names.intern(source), value});
  }
};

}  // namespace aaco::analytics::metrics
