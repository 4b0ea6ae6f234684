#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// How long equal kernels take in the course of a trace: executions of one name, grid and block are taken for the same work.
namespace aaco::analytics::trace_time {

// Mean duration of consecutive executions.
struct PacePoint {
  std::int64_t start_ns = 0;  // of the first of them
  double mean_ns = 0;
  bool operator==(const PacePoint&) const = default;
};

struct EqualKernels {
  trace::NameId name;
  std::string family;
  std::int64_t count = 0, sum_ns = 0;
  std::int64_t first_start_ns = 0, last_start_ns = 0;
  std::int64_t group_count = 0;  // work-groups (blocks) of each; 0: the trace has no grids
  std::vector<PacePoint> points;
};

// Collects executions in order of start and in bounded memory: at most kMaxKinds kinds of equal kernels, further ones are left
// out, with at most kMaxPoints points each.
class KernelPace {
 public:
  static constexpr std::size_t kMaxKinds = 4096, kMaxPoints = 64;
  void add(const trace::KernelRow& row, std::string_view family);
  // Of one device; the largest time first.
  [[nodiscard]] std::vector<EqualKernels> of(std::int32_t rank, std::int64_t device) const;

 private:
  struct Key {
    std::array<std::int64_t, 9> parts{};  // rank, device, name, grid and block
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Kind {
    EqualKernels kernels;
    std::int64_t per_point = 1;  // executions
    std::int64_t open_count = 0, open_sum_ns = 0, open_start_ns = 0;
  };
  static void close_point(Kind& kind);

  std::unordered_map<Key, Kind, Hash> kinds_;
};

// Most of the kernel time is in equal kernels that take longer at the end than at the beginning. A falling clock does that to
// kernels of several families at once; what grows with the input changes some of them.
struct SlowingKernels {
  std::int64_t kernel_count = 0;  // different names
  double time_ratio = 0;          // of the kernel time that can be judged
  double late_to_early_ratio = 0;
  double excess_ns = 0;  // beyond the time of as many executions at the pace of the beginning
  bool operator==(const SlowingKernels&) const = default;
};
// `kernels` of one device that worked from first_ns to last_ns. Empty: they do not, or too few executions tell.
std::optional<SlowingKernels> slowing_kernels(const std::vector<EqualKernels>& kernels, std::int64_t first_ns,
                                              std::int64_t last_ns);

// Kernels that take a tenth of the span or more with fewer work-groups than half of the device's units: the costliest of them.
std::optional<EqualKernels> few_groups(const std::vector<EqualKernels>& kernels, double unit_count, std::int64_t span_ns);

}  // namespace aaco::analytics::trace_time
