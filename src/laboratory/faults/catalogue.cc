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
       "another process computes on the CPU the caller began on",
       "share of the time that it computes",
       {"spin", "matrix", "system_calls"}},
      {"cpu_hog_other_core",
       "cpu_contention",
       Place::neighbour,
       "another process computes on every other CPU",
       "share of the time that it computes",
       {"spin", "matrix", "system_calls"}},
      {"cpu_hog_every_core",
       "cpu_contention",
       Place::neighbour,
       "another process computes on every CPU",
       "share of the time that it computes",
       {"spin", "matrix", "system_calls"}},
      {"memory_bandwidth_hog",
       "memory_contention",
       Place::neighbour,
       "another process moves memory on the last CPU",
       "share of the time that it moves memory",
       {"copy", "write", "random_read"}},
      {"interrupt_storm",
       "interrupts",
       Place::neighbour,
       "timers interrupt every CPU",
       "50,000 interrupts a second and CPU",
       {"timer", "pipe"}},
      {"migration_storm",
       "migration",
       Place::neighbour,
       "threads of the run are moved from CPU to CPU",
       "1,000 moves a second",
       {"affinity"}},
      {"cpu_quota",
       "cpu_throttling",
       Place::limit,
       "the control group may use less CPU time",
       "a tenth of the CPUs remains",
       {"cgroup"}},
      {"affinity_one_core",
       "cpu_placement",
       Place::limit,
       "all threads have to share one CPU",
       "has one strength only",
       {"mask", "cpuset"}},
      {"memory_limit",
       "memory_limit",
       Place::limit,
       "the control group may use less memory, and may not swap",
       "a limit just above what is in use",
       {"cgroup"}},
      {"page_fault_storm",
       "page_faults",
       Place::call,
       "every call touches fresh memory",
       "as much time again as the call takes, and never less than 60 us",
       {"map", "release"}},
      {"io_storm",
       "storage",
       Place::call,
       "every call waits for storage",
       "as much time again as the call takes, and never less than 60 us",
       {"read", "write"}},
      {"sleep",
       "host_waiting",
       Place::call,
       "every call waits",
       "as much time again as the call takes, and never less than 60 us",
       {"timer", "futex"}},
      {"slow_host",
       "host_computing",
       Place::call,
       "every call computes on the host before the model runs",
       "as much time again as the call takes, and never less than 60 us",
       {"hash", "sort"}},
      {"fewer_threads", "threads", Place::request, "the model gets one thread", "has one strength only", {"option"}},
      {"graph_optimisation_off",
       "graph_optimisation",
       Place::request,
       "the graph is run as it is written",
       "has one strength only",
       {"option"}},
      {"data_type", "data_type", Place::request, "the model computes in float16", "has one strength only", {"float16"}},
      {"batch_change", "batch", Place::request, "a larger batch", "eight times the batch", {"option"}},
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
    return core::fail(core::ErrorCode::invalid_argument, "there is no fault '" + std::string(name) + "'",
                      near.empty() ? "'aaco lab faults' lists them" : "did you mean " + std::string(near) + "?");
  }
  if (!std::isfinite(intensity) || intensity <= 0 || intensity > 1)
    return core::fail(core::ErrorCode::invalid_argument, "an intensity lies above 0 and is at most 1",
                      "1 means: " + kind->intensity);
  Fault fault{&*kind, intensity, generator.empty() ? kind->generators.front() : std::string(generator)};
  if (std::find(kind->generators.begin(), kind->generators.end(), fault.generator) == kind->generators.end())
    return core::fail(core::ErrorCode::invalid_argument, kind->id + " has no generator '" + fault.generator + "'",
                      "it has " + core::join(kind->generators, ", "));
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
