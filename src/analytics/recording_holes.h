#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// Times of a trace in which its profiler was off: a profiler that is switched on and off (a schedule that repeats, a capture
// range) writes several windows of one run into one file, and the time between them says nothing of the program.
namespace aaco::analytics::trace_time {

struct RecordingHole {
  std::int32_t rank = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::optional<std::int64_t> step_before, step_after;  // numbers of the profiler's steps beside it, where they jump
  bool operator==(const RecordingHole&) const = default;
};

// Finds the times of kMinHoleNs and more in which a rank has neither a host event nor device work, and beside which it is proven
// that nothing was recorded: the numbers of the profiler's steps jump, the recorded Python frames all end and begin anew (a
// running interpreter always has one open), or the program's calls stop and start the profiler. Other silence may be a program
// that waits. Call order: add() of calls and of work, each in order of start of its rank, then finish().
class RecordingHoles {
 public:
  static constexpr std::int64_t kMinHoleNs = 20'000'000;
  static constexpr std::size_t kMaxSilences = 10'000;  // of a rank

  void add(const trace::ApiCallRow& row, const trace::NameTable& names);
  void add_work(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns);
  [[nodiscard]] std::vector<RecordingHole> finish() const;

 private:
  enum class Kind : std::int8_t { unseen, other, silence, python, step, profiler };
  struct Silence {
    std::int64_t start_ns = 0, end_ns = 0;
    std::optional<std::int64_t> step_before, step_after;
    bool python_before = false, python_after = false, profiler = false;
    [[nodiscard]] bool is_proven() const;
  };
  struct Rank {
    std::int64_t host_until_ns = INT64_MIN, work_until_ns = INT64_MIN;
    std::optional<std::int64_t> last_step;
    bool python = false, last_is_profiler = false;
    std::vector<Silence> host, work;
  };
  Kind kind_of(const trace::ApiCallRow& row, const trace::NameTable& names);

  std::vector<Kind> kinds_;  // by name id
  std::map<std::int32_t, Rank> ranks_;
};

// "2 windows of recording: between them nothing was recorded for 10.1 s, and steps 5 to 44 are missing".
std::string text_of(const std::vector<RecordingHole>& holes);

}  // namespace aaco::analytics::trace_time
