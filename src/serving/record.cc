#include "serving/record.h"

#include <algorithm>
#include <array>

namespace aaco::serving {
namespace {

constexpr std::array<std::string_view, 11> kNames = {"ok",           "refused",   "tls",   "http_429", "http_4xx", "http_5xx",
                                                     "stream_error", "truncated", "reset", "timeout",  "protocol"};

}  // namespace

std::string_view to_string(Outcome outcome) {
  const auto index = static_cast<std::size_t>(outcome);
  return index < kNames.size() ? kNames[index] : "cancelled";
}

void add_own_event(std::vector<std::int64_t>& events, std::int64_t ns) {
  if (events.empty() || (ns >= kLongEventNs && events.front() >= kLongEventNs))
    events.push_back(ns);
  else
    events.front() = std::max(events.front(), ns);  // a short one, until the first long one takes its place
}

void add_waits(SocketWaits& waits, const SocketWaits& more) {
  using Wait = std::optional<std::int64_t> SocketWaits::*;
  for (const Wait wait :
       {&SocketWaits::read_lag_ns, &SocketWaits::write_wait_ns, &SocketWaits::tls_record_ns, &SocketWaits::tls_own_ns})
    waits.*wait = std::max(waits.*wait, more.*wait);
  for (const std::int64_t ns : more.event_own_ns) add_own_event(waits.event_own_ns, ns);
  for (const std::int64_t ns : more.gap_own_ns) add_own_event(waits.gap_own_ns, ns);
}

}  // namespace aaco::serving
