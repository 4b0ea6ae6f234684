#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/names.h"

// What holds launched work back on the device: calls of the host that make a stream wait before its next work.
namespace aaco::analytics::gaps {

// For another stream's event (cudaStreamWaitEvent), for a function that the host runs when the stream reaches it
// (cudaLaunchHostFunc), or for a value or semaphore in memory (cuStreamWaitValue32, cudaWaitExternalSemaphoresAsync).
enum class Hold : std::uint8_t { event, host_function, value };
// By the name of a runtime or driver call; empty: it holds nothing back.
std::optional<Hold> hold_of(std::string_view name);

struct HoldCall {
  std::int64_t start_ns = 0, end_ns = 0;
  trace::NameId name;
  Hold hold = Hold::event;
};

// The newest calls of each thread, in bounded memory: 4096 of each of 4096 threads.
class StreamHolds {
 public:
  // Traces name the stream of such a call seldom: without it the call belongs to a launch that follows it within this time.
  static constexpr std::int64_t kToLaunchNs = 100'000;

  void add(std::int32_t rank, std::int64_t thread_id, const HoldCall& call);  // in order of start
  // The call that holds back the work that the thread launched at `launch_ns`: the last one before that, no more than kToLaunchNs
  // before it or after the work before it in its stream was launched (`after_ns`; empty: unknown). Where that waits for an event
  // and a host function was enqueued since, the function is what the event waits for.
  [[nodiscard]] std::optional<HoldCall> before(std::int32_t rank, std::int64_t thread_id, std::int64_t launch_ns,
                                               std::optional<std::int64_t> after_ns) const;

 private:
  std::map<std::pair<std::int32_t, std::int64_t>, std::deque<HoldCall>> calls_;  // by rank and thread
};

}  // namespace aaco::analytics::gaps
