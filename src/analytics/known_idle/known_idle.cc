#include "analytics/known_idle.h"

namespace aaco::analytics::known_idle {

std::optional<Idle> Finder::add(const Call& call) {
  finish_until(call.start_ns);
  State& device = devices_[{call.rank, call.device}];
  std::optional<Idle> out;
  switch (call.act) {
    case Act::submit:
    case Act::submit_and_wait:
      if (device.idle_since && *device.idle_since < call.start_ns)
        out = Idle{call.rank, call.device, *device.idle_since, call.start_ns, device.last, call};
      device.idle_since.reset();
      device.last = call.work;
      device.streams[call.stream].end_ns = call.end_ns;
      if (call.act == Act::submit_and_wait) waiting_.push(call);
      break;
    case Act::record_event: marks_[{call.rank, call.event}] = {call.stream, call.start_ns}; break;
    case Act::wait_device:
    case Act::wait_stream:
    case Act::wait_event: waiting_.push(call); break;
  }
  return out;
}

void Finder::finish_until(std::int64_t time_ns) {
  while (!waiting_.empty() && waiting_.top().end_ns <= time_ns) {
    finish(waiting_.top());
    waiting_.pop();
  }
}

// What was given by a call that had returned when the wait began is done now; what came meanwhile may not be.
void Finder::finish(const Call& wait) {
  State& device = devices_[{wait.rank, wait.device}];
  if (device.streams.empty()) return;
  const auto done = [&](std::uint64_t stream, std::int64_t before_ns) {
    const auto found = device.streams.find(stream);
    if (found != device.streams.end() && found->second.end_ns <= before_ns) device.streams.erase(found);
  };
  switch (wait.act) {
    case Act::wait_device:
      std::erase_if(device.streams, [&](const auto& one) { return one.second.end_ns <= wait.start_ns; });
      break;
    case Act::wait_stream: done(wait.stream, wait.start_ns); break;
    case Act::submit_and_wait: done(wait.stream, wait.end_ns); break;
    case Act::wait_event:
      if (const auto mark = marks_.find({wait.rank, wait.event}); mark != marks_.end())
        done(mark->second.stream, mark->second.start_ns);
      break;
    case Act::submit:
    case Act::record_event: break;
  }
  if (device.streams.empty()) device.idle_since = wait.end_ns;
}

}  // namespace aaco::analytics::known_idle
