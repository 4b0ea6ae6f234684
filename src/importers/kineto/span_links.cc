#include "importers/kineto/span_links.h"

#include <iterator>

#include "importers/stream/tokens.h"

namespace aaco::importers::kineto {

std::string SpanLinks::place_of(const TraceEvent& event) {
  std::string place;
  place.append(event.process).append("\n").append(event.thread).append("\n").append(event.timestamp);
  return place;
}

void SpanLinks::add(const trace::ApiCallRow& row) {
  if (held_calls_ >= kMaxHeld || !calls_[{row.process_id, row.thread_id}].try_emplace(row.start_ns, row).second)
    sink_.add(row);
  else
    ++held_calls_;
}
void SpanLinks::add(const TraceEvent& event, const trace::KernelRow& row) {
  if (kernels_.size() >= kMaxHeld)
    sink_.add(row);
  else
    kernels_.emplace(place_of(event), row);
}
void SpanLinks::add(const TraceEvent& event, const trace::CopyRow& row) {
  if (copies_.size() >= kMaxHeld)
    sink_.add(row);
  else
    copies_.emplace(place_of(event), row);
}

template <class Row>
bool SpanLinks::take(std::multimap<std::string, Row>& waiting, const std::string& place, std::uint64_t id) {
  const auto found = waiting.find(place);
  if (found == waiting.end()) return false;
  found->second.correlation_id = id;
  sink_.add(found->second);
  waiting.erase(found);
  return true;
}

bool SpanLinks::arrow(const TraceEvent& event, std::int64_t time_ns, std::int64_t process, std::int64_t thread) {
  const auto id = token_u64(event.id);
  if (!id || *id == 0) return false;
  if (event.phase == "s") {
    const auto calls = calls_.find({process, thread});
    if (calls == calls_.end()) return false;
    auto call = calls->second.upper_bound(time_ns);
    if (call == calls->second.begin()) return false;
    call = std::prev(call);
    if (call->second.end_ns < time_ns) return false;
    if (call->second.correlation_id == 0) call->second.correlation_id = *id;
    call_ids_[*id] = call->second.correlation_id;
    return true;
  }
  const auto leaves = call_ids_.find(*id);
  if (leaves == call_ids_.end()) return false;
  const std::string place = place_of(event);
  return take(kernels_, place, leaves->second) || take(copies_, place, leaves->second);
}

void SpanLinks::flush() {
  for (const auto& [thread, calls] : calls_)
    for (const auto& [start, row] : calls) sink_.add(row);
  for (const auto& [place, row] : kernels_) sink_.add(row);
  for (const auto& [place, row] : copies_) sink_.add(row);
  calls_.clear();
  kernels_.clear();
  copies_.clear();
}

}  // namespace aaco::importers::kineto
