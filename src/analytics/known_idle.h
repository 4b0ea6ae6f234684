#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "trace/names.h"

// When a device had no work of a process, by the process's runtime calls alone: from the return of a synchronisation that covers
// all work given to the device until the next call that gives it work. A lower bound: work may have ended before the host asked.
namespace aaco::analytics::known_idle {

enum class Act : std::uint8_t {
  submit,           // gives work to a stream
  submit_and_wait,  // and returns when it is done: a blocking copy to the host
  wait_device,
  wait_stream,
  record_event,  // marks what the stream has to do
  wait_event,    // and the same of a query that answers "done"
};

// Streams of calls that do not name one: their work is only known to be done when the whole device is.
inline constexpr std::uint64_t kUnknownStream = ~std::uint64_t{0};

struct Call {
  Act act = Act::submit;
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::uint64_t stream = 0;
  std::uint64_t event = 0;
  std::int64_t thread_id = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  trace::NameId name;  // of the function
  trace::NameId work;  // kernel, or the function
};

struct Idle {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  trace::NameId previous;  // work before it
  Call next;               // the call that ends it
};

// Calls in order of start; each may end idle times. Calls that failed are left out by the caller.
class Finder {
 public:
  std::optional<Idle> add(const Call& call);

 private:
  using Device = std::pair<std::int32_t, std::int64_t>;
  struct Given {
    std::int64_t end_ns = 0;  // of the last call that gave it work
  };
  struct State {
    std::map<std::uint64_t, Given> streams;  // with work that is not known to be done
    std::optional<std::int64_t> idle_since;
    trace::NameId last;
  };
  struct Mark {
    std::uint64_t stream = 0;
    std::int64_t start_ns = 0;
  };
  struct Later {
    bool operator()(const Call& a, const Call& b) const { return a.end_ns > b.end_ns; }
  };
  void finish_until(std::int64_t time_ns);
  void finish(const Call& wait);

  std::map<Device, State> devices_;
  std::map<std::pair<std::int32_t, std::uint64_t>, Mark> marks_;  // by rank and event
  std::priority_queue<Call, std::vector<Call>, Later> waiting_;   // take effect when they return
};

}  // namespace aaco::analytics::known_idle
