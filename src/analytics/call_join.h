#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

// The same calls of a GPU runtime as two saw them: hooks, and a profiler whose trace ties kernels to its calls. A hook's record
// encloses the profiler's of the same call, on the same thread of the same function. Either may have missed calls that the other
// has: a call without exactly one counterpart is not joined.
namespace aaco::analytics::call_join {

struct Call {
  std::int64_t process_id = 0, thread_id = 0;
  std::uint32_t function = 0;  // equal for the same function on both sides
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t id = 0;
};

// Why something was not joined.
enum class Reason : std::uint8_t {
  other_thread,    // the hooks have no call of its thread
  no_call,         // the hooks have no call of its function at that time
  ambiguous,       // more than one call could be it
  other_function,  // launched by a function that the hooks do not record
  no_launch,       // a kernel whose launch is not in the trace, while others' launches are
  counts,          // a kernel of a stream for which no hooked stream has as many launches
  streams,         // several streams could be the kernel's
  concurrent,      // two threads launched on its stream at the same time
  graph,           // of a graph launch, which runs a number of kernels that the hooks do not know
  clock,           // the trace's clock could not be told
  limit,           // more than are kept in memory
};
std::string_view text_of(Reason reason);

using Group = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;  // process, thread, function

// Finds how far the trace's clock is from the hooks': the shift by which most of some 256 traced calls lie inside hooked ones.
class ShiftFinder {
 public:
  static constexpr std::int64_t kWindowNs = 5'000'000;  // on either side of the expected shift
  static constexpr std::size_t kSamples = 256;
  static constexpr double kEnough = 0.9;           // of the samples
  static constexpr double kEnoughExpected = 0.25;  // at the expected shift: the hooks may have been off for a while
  static constexpr std::int64_t kNearNs = 2000;    // of the expected shift: profilers convert their clock with such errors
  static constexpr double kRival = 0.8;            // of the best: another shift that is as likely
  static constexpr std::size_t kMaxIntervals = 2'000'000;  // those beyond are not considered

  struct Answer {
    std::optional<std::int64_t> shift_ns;  // to add to the trace's times; empty: none fits, or several do and none is expected
    std::size_t samples = 0, inside = 0;   // at the best shift
    bool several = false;                  // two shifts fit alike, and neither is the expected one
  };

  // `rounding_ns`: how far the trace's times may be rounded.
  ShiftFinder(const std::vector<Call>& traced, std::int64_t expected_ns, std::int64_t rounding_ns);
  void add(const Call& hooked);
  [[nodiscard]] Answer finish();

 private:
  struct Edge {
    std::int64_t at;
    int step;
  };
  std::int64_t expected_ns_, rounding_ns_;
  std::map<Group, std::vector<std::pair<std::int64_t, std::int64_t>>> samples_;  // start and end, by start
  std::size_t sample_count_ = 0;
  std::vector<Edge> edges_;
  std::vector<std::int64_t> durations_;  // of hooked calls that could enclose a sample
};

// Finds the hooked call of each traced one.
class Matcher {
 public:
  // `traced` with the shift already added to their times.
  Matcher(std::vector<Call> traced, std::int64_t tolerance_ns);
  void add(const Call& hooked);

  struct Answer {
    std::unordered_map<std::uint64_t, std::uint64_t> hooked;  // by the traced call's id
    std::unordered_map<std::uint64_t, Reason> apart;          // traced calls that were not joined
  };
  [[nodiscard]] Answer finish();

 private:
  struct Claim {
    std::uint64_t hooked = 0;
    std::uint32_t inside = 0, near = 0;  // hooked calls that enclose it; only with the tolerance
  };
  std::vector<Call> traced_;  // by group and start
  std::vector<Claim> claims_;
  std::map<Group, std::pair<std::size_t, std::size_t>> groups_;
  std::map<std::pair<std::int64_t, std::int64_t>, bool> threads_;  // of the trace: whether the hooks have it
  std::int64_t tolerance_ns_;
};

// Launches and kernels of a trace without calls, by their order on each stream.
struct Launch {
  std::uint64_t stream = 0;  // one number for a device's stream
  std::uint32_t kernel = 0;  // equal names have equal numbers; 0: unknown
  std::int64_t thread_id = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t id = 0;
  bool is_graph = false;
};
struct Kernel {
  std::uint64_t stream = 0;
  std::uint32_t name = 0;
  std::int64_t start_ns = 0;
  std::uint64_t id = 0;
};
struct OrderAnswer {
  std::unordered_map<std::uint64_t, std::uint64_t> launch;  // by the kernel's id
  std::unordered_map<std::uint64_t, Reason> apart;
};
// Of one process. A stream of kernels is that of the launches which has as many, in the order of which the names are equal and no
// kernel starts before its launch, provided that exactly one assignment of all streams does so.
OrderAnswer join_by_order(std::vector<Launch> launches, std::vector<Kernel> kernels, std::int64_t tolerance_ns);

}  // namespace aaco::analytics::call_join
