#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analytics/trace_time.h"
#include "trace/names.h"

// Whose copies are exposed: the part of DeviceTime::exposed_copy_ns (copies while no compute kernel runs) that each kind of copy
// and each launching call has.
namespace aaco::analytics::trace_time {

struct CopyOrigin {
  trace::NameId kind;         // column kind of copies
  trace::NameId launched_by;  // the operator or range that launched it, else the call; 0: not in the trace
  bool operator<(const CopyOrigin& other) const {
    return std::pair(kind.value, launched_by.value) < std::pair(other.kind.value, other.launched_by.value);
  }
};

// One device. Call order: add() in order of start, then finish(). Time in which several copies are exposed together is divided
// equally among them, so that the parts add up to DeviceTime::exposed_copy_ns. Memory is bounded: beyond 10,000 origins the
// launching call is left out.
class ExposedCopies {
 public:
  static constexpr std::size_t kOrigins = 10'000;
  explicit ExposedCopies(Convention convention = {}) : convention_(convention) {}
  // `origin`: of copies and memsets.
  void add(const Work& work, const CopyOrigin& origin = {});
  [[nodiscard]] std::map<CopyOrigin, std::int64_t> finish();

 private:
  struct Open {
    std::int64_t end_ns = 0;
    std::int64_t* sum_ns = nullptr;
  };
  void advance(std::int64_t to_ns);
  void spend(std::int64_t time_ns);

  Convention convention_;
  std::int64_t now_ns_ = INT64_MIN, kernels_until_ns_ = INT64_MIN;
  std::vector<Open> open_;
  std::map<CopyOrigin, std::int64_t> sums_;
};

}  // namespace aaco::analytics::trace_time
