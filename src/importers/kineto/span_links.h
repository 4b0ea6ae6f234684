#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "importers/stream/trace_events.h"
#include "trace/rows.h"
#include "trace/sink.h"

namespace aaco::importers::kineto {

// Joins calls to device work in traces whose arrows begin somewhere within the call, not at its start (rocmProfileData's
// rpd2tracing). Rows wait for their arrows, which come behind all of them; at most kMaxHeld of a kind, the others go on without.
class SpanLinks {
 public:
  explicit SpanLinks(trace::Sink& sink) : sink_(sink) {}

  void add(const trace::ApiCallRow& row);
  void add(const TraceEvent& event, const trace::KernelRow& row);
  void add(const TraceEvent& event, const trace::CopyRow& row);
  // True where the arrow joined something.
  bool arrow(const TraceEvent& event, std::int64_t time_ns, std::int64_t process, std::int64_t thread);
  void flush();
  [[nodiscard]] bool empty() const { return calls_.empty() && kernels_.empty() && copies_.empty(); }

  static constexpr std::size_t kMaxHeld = 1'000'000;

 private:
  static std::string place_of(const TraceEvent& event);
  template <class Row>
  bool take(std::multimap<std::string, Row>& waiting, const std::string& place, std::uint64_t id);

  trace::Sink& sink_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, trace::ApiCallRow>> calls_;  // by thread, start
  std::size_t held_calls_ = 0;
  std::multimap<std::string, trace::KernelRow> kernels_;  // by process, thread and time
  std::multimap<std::string, trace::CopyRow> copies_;
  std::unordered_map<std::uint64_t, std::uint64_t> call_ids_;  // an arrow's id -> the id of the call that it leaves
};

}  // namespace aaco::importers::kineto
