#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// Divides an imported trace into iterations, to obtain a latency series.
namespace aaco::analytics::steps {

enum class Method : std::uint8_t { none, profiler_step, marker, kernel_period, optimiser_step };
std::string_view to_string(Method method);

struct Steps {
  Method method = Method::none;
  double confidence = 0;                        // 0..1
  std::string explanation;                      // one sentence
  std::vector<trace::IterationRow> iterations;  // phase "step", in time order within a rank
};

// Call order: add_call() and add_kernel() in order of start, in any mixture; then finish().
// Profiler steps ("ProfilerStep#7") are taken first; else the marker range that repeats and covers most of the time (numbers in
// names do not count: "step 1" and "step 2" are the same; of ranges that cover alike the outermost); else, where the host runs
// ahead of the device, the range that repeats and whose name says "step", "iteration" or "batch"; else the period of the sequence
// of kernel names on the device with most kernels: the shortest after which at least nine of ten names come again, cut where the
// device usually idles longest (the host begins a step there), or at the first kernel where no such place stands out, unless
// these are layers: most periods begin inside one launch (of a graph), or a recorded Python stack has fewer forward passes
// (outermost "nn.Module: " frames) than there are periods; else the optimizer's steps, each of which ends one. Without kernels
// the time is that of the calls. Ranges most of which contain no kernel and no launch are no steps.
// Memory: 32 bytes a kernel, of at most the first million of a rank.
class StepFinder {
 public:
  explicit StepFinder(trace::NameTable& names) : names_(names) {}
  void add_call(const trace::ApiCallRow& row);
  void add_kernel(const trace::KernelRow& row);
  Steps finish();

 private:
  struct Range {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct Kernels {
    std::vector<std::uint32_t> names;
    std::vector<std::int64_t> starts_ns;
    std::vector<float> idle_ns;           // of the device before each
    std::vector<std::uint64_t> launches;  // their correlation ids
    std::int64_t end_ns = INT64_MIN;
  };
  struct Forward {
    std::int64_t count = 0, until_ns = INT64_MIN;
  };
  enum class Role : std::int8_t { unseen, ignored, step, optimiser, marker, module, launch };
  Role role_of(const trace::ApiCallRow& row);
  std::uint32_t stem_of(trace::NameId name);
  Steps from_profiler_steps();
  Steps from_markers();
  [[nodiscard]] bool has_work(std::int32_t rank, const std::vector<Range>& ranges) const;
  Steps from_period();
  Steps from_optimiser();
  [[nodiscard]] std::string why_layers(std::int32_t rank, const Kernels& kernels, std::size_t begin, std::size_t period) const;
  trace::IterationRow row_of(std::int32_t rank, std::int64_t number, Range range);

  trace::NameTable& names_;
  std::map<std::uint64_t, Role> roles_;
  std::map<std::uint32_t, std::uint32_t> stems_;                                    // names of markers without their numbers
  std::map<std::int32_t, std::vector<Range>> profiler_steps_;                       // by rank
  std::map<std::pair<std::int32_t, std::uint32_t>, std::vector<Range>> optimiser_;  // by rank, name
  std::map<std::int32_t, std::vector<std::int64_t>> launches_;                      // by rank: starts of launch calls
  std::map<std::int32_t, Forward> forwards_;                                        // by rank
  std::string not_steps_;                                                           // why a period was not taken
  std::map<std::int32_t, Range> calls_;                                             // by rank: first start, last end
  std::map<std::pair<std::int32_t, std::uint32_t>, std::vector<Range>> markers_;    // by rank, stem of the name
  std::map<std::pair<std::int32_t, std::int64_t>, Kernels> kernels_;                // by rank, device
  std::int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;                         // of the kernels
};

// The period of a sequence: the smallest p for which at least `agreement` of the elements equal the one p later, with at least
// three periods in the sequence. Empty where there is none. At most the first 200,000 elements are looked at.
std::optional<std::size_t> period_of(const std::vector<std::uint32_t>& sequence, double agreement = 0.9);

// Where in the period its repetitions begin: the place whose idle time before it, in the median over the repetitions, is at least
// twice that of any other. 0 where none is. `idle_ns`: of each element of the sequence, the time before it.
std::size_t first_of_period(const std::vector<float>& idle_ns, std::size_t period);

}  // namespace aaco::analytics::steps
