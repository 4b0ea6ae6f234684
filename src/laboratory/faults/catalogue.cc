#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "core/strings.h"
#include "laboratory/faults.h"

namespace aaco::laboratory::faults {

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds = {
      {"cpu_hog_same_core",
       "cpu_contention",
       Place::neighbour,
       "another process computes on the caller's initial CPU",
       "share of time spent computing",
       {"spin", "matrix", "system_calls"}},
      {"cpu_hog_other_core",
       "cpu_contention",
       Place::neighbour,
       "another process computes on every other CPU",
       "share of time spent computing",
       {"spin", "matrix", "system_calls"}},
      {"cpu_hog_every_core",
       "cpu_contention",
       Place::neighbour,
       "another process computes on every CPU",
       "share of time spent computing",
       {"spin", "matrix", "system_calls"}},
      {"memory_bandwidth_hog",
       "memory_contention",
       Place::neighbour,
       "another process generates memory traffic on the last CPU",
       "share of time spent moving memory",
       {"copy", "write", "random_read"}},
      {"interrupt_storm",
       "interrupts",
       Place::neighbour,
       "timer interrupts on every CPU",
       "50,000 interrupts per second per CPU",
       {"timer", "pipe"}},
      {"migration_storm",
       "migration",
       Place::neighbour,
       "threads of the run are migrated between CPUs",
       "1,000 migrations per second",
       {"affinity"}},
      {"cpu_quota",
       "cpu_throttling",
       Place::limit,
       "a cgroup quota limits CPU time",
       "a quota of a tenth of the CPUs",
       {"cgroup"}},
      {"affinity_one_core", "cpu_placement", Place::limit, "all threads share one CPU", "fixed strength", {"mask", "cpuset"}},
      {"memory_limit",
       "memory_limit",
       Place::limit,
       "a cgroup limits memory and forbids swapping",
       "a limit just above current use",
       {"cgroup"}},
      {"page_fault_storm",
       "page_faults",
       Place::call,
       "every call touches fresh memory",
       "as much extra time as the call takes, at least 60 µs",
       {"map", "release"}},
      {"io_storm",
       "storage",
       Place::call,
       "every call waits for storage I/O",
       "as much extra time as the call takes, at least 60 µs",
       {"read", "write"}},
      {"sleep",
       "host_waiting",
       Place::call,
       "every call sleeps",
       "as much extra time as the call takes, at least 60 µs",
       {"timer", "futex"}},
      {"slow_host",
       "host_computing",
       Place::call,
       "every call does host-side work before the model runs",
       "as much extra time as the call takes, at least 60 µs",
       {"hash", "sort"}},
      {"fewer_threads", "threads", Place::request, "the model runs on one thread", "fixed strength", {"option"}},
      {"graph_optimisation_off",
       "graph_optimisation",
       Place::request,
       "the graph runs without optimisation",
       "fixed strength",
       {"option"}},
      {"data_type", "data_type", Place::request, "the model runs in float16", "fixed strength", {"float16"}},
      {"batch_change", "batch", Place::request, "a larger batch size", "eight times the batch size", {"option"}},
      {"tiny_kernels",
       "launch_overhead",
       Place::request,
       "a chain of tiny operators follows the model",
       "2,000 operators",
       {"negate", "absolute"}},
  };
  return kinds;
}

core::Result<Fault> make_fault(std::string_view name, double intensity, std::string_view generator) {
  const auto& kinds = fault_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const FaultKind& one) { return one.id == name; });
  if (kind == kinds.end()) {
    std::vector<std::string_view> names;
    for (const FaultKind& one : kinds) names.push_back(one.id);
    const std::string_view near = core::nearest(name, names);
    return core::fail(core::ErrorCode::invalid_argument, "unknown fault '" + std::string(name) + "'",
                      near.empty() ? "'aaco lab faults' lists the faults" : "did you mean " + std::string(near) + "?");
  }
  if (!std::isfinite(intensity) || intensity <= 0 || intensity > 1)
    return core::fail(core::ErrorCode::invalid_argument, "the intensity must be above 0 and at most 1",
                      "1 means: " + kind->intensity);
  Fault fault{&*kind, intensity, generator.empty() ? kind->generators.front() : std::string(generator)};
  if (std::find(kind->generators.begin(), kind->generators.end(), fault.generator) == kind->generators.end())
    return core::fail(core::ErrorCode::invalid_argument, kind->id + " has no generator '" + fault.generator + "'",
                      "use one of: " + core::join(kind->generators, ", "));
  return fault;
}

core::Json to_json(const Fault& fault) {
  return core::Json::object({{"fault", fault.kind->id},
                             {"cause", fault.kind->cause},
                             {"intensity_ratio", fault.intensity},
                             {"generator", fault.generator},
                             {"means", fault.kind->title}});
}

}  // namespace aaco::laboratory::faults
