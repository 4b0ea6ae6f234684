#include "collectors/row_buffer.h"

namespace aaco::collectors {

trace::NameId RowBuffer::name(std::string_view text) {
  const std::lock_guard lock(names_mutex_);
  return names_.intern(text);
}

void RowBuffer::translate_names(trace::Sink& sink) {
  const std::lock_guard lock(names_mutex_);
  for (std::size_t id = translated_.size(); id < names_.size(); ++id)
    translated_.push_back(sink.name(names_.text(trace::NameId{static_cast<std::uint32_t>(id)})));
}

void RowBuffer::drain(trace::Sink& sink) {
  // Rows first: a name is always interned before the row that carries it.
  auto system = system_.take_sealed();
  auto gpu = gpu_.take_sealed();
  auto sched = sched_.take_sealed();
  if (system.empty() && gpu.empty() && sched.empty()) return;
  translate_names(sink);
  const auto translate = [this](trace::NameId& id) { id = translated_[id.value]; };
  for (auto& chunk : system)
    for (trace::SystemEventRow& row : chunk) translate(row.metric), translate(row.entity), sink.add(row);
  for (auto& chunk : gpu)
    for (trace::GpuEventRow& row : chunk) translate(row.metric), translate(row.source), sink.add(row);
  for (auto& chunk : sched)
    for (trace::SchedEventRow& row : chunk)
      translate(row.kind), translate(row.detail), translate(row.call), translate(row.thread_name), sink.add(row);
}

void RowBuffer::drain_all(trace::Sink& sink) {
  system_.seal();
  gpu_.seal();
  sched_.seal();
  drain(sink);
}

}  // namespace aaco::collectors
