#include "importers/kineto/late_ids.h"

#include "importers/stream/tokens.h"

namespace aaco::importers::kineto {
namespace {

template <class Rows, class Row>
void hold(Rows& rows, std::string key, const Row& row, trace::Sink& sink) {
  if (rows.size() >= LateIds::kMaxHeld || !rows.try_emplace(std::move(key), row).second) sink.add(row);
}

template <class Rows>
bool release(Rows& rows, const std::string& key, std::uint64_t id, trace::Sink& sink) {
  const auto waiting = rows.find(key);
  if (waiting == rows.end()) return false;
  waiting->second.correlation_id = id;
  sink.add(waiting->second);
  rows.erase(waiting);
  return true;
}

}  // namespace

std::string LateIds::key(const TraceEvent& event) {
  std::string key;
  key.append(event.process).append("\n").append(event.thread).append("\n").append(event.timestamp);
  return key;
}

void LateIds::add(const TraceEvent& event, const trace::KernelRow& row) { hold(kernels_, key(event), row, sink_); }
void LateIds::add(const TraceEvent& event, const trace::ApiCallRow& row) { hold(calls_, key(event), row, sink_); }

bool LateIds::arrow(const TraceEvent& event) {
  if (kernels_.empty() && calls_.empty()) return false;
  const auto id = token_u64(event.id);
  if (!id || *id == 0) return false;
  const bool found = event.phase == "s" ? release(calls_, key(event), *id, sink_) : release(kernels_, key(event), *id, sink_);
  if (found) ++given_;
  return found;
}

void LateIds::flush() {
  for (const auto& [key, row] : kernels_) sink_.add(row);
  for (const auto& [key, row] : calls_) sink_.add(row);
  kernels_.clear();
  calls_.clear();
}

}  // namespace aaco::importers::kineto
