#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "importers/importer.h"
#include "importers/rocm/columns.h"
#include "importers/rocprof/flow_links.h"
#include "importers/stream/trace_events.h"

namespace aaco::importers::rocprof {

// Turns the events of rocprof's JSON into rows. Call events() with each batch, then finish() once.
class JsonReader {
 public:
  JsonReader(trace::Sink& sink, trace::Account& account);

  core::Status events(std::span<const TraceEvent> batch);
  void finish(ImportResult& result);

 private:
  // What stands in a section ("pid") of the document, by the name that its metadata gives it.
  enum class Section { unknown, hip, hsa, kfd, marker, copy, gpu, barriers };
  struct Fields;

  void event(const TraceEvent& event);
  void section_name(const TraceEvent& event);
  void complete(const TraceEvent& event);
  void kernel(const Fields& fields, const TraceEvent& event, const Place& place);
  void copy(const Fields& fields, const TraceEvent& event, const Place& place);
  void call(const Fields& fields, const TraceEvent& event, Section section, const Place& place, std::int64_t duration_us);
  void counters(const TraceEvent& event, const trace::KernelRow& kernel);
  Fields read_fields(const TraceEvent& event);
  rocm::Column column(std::string_view key);
  void drop(const char* reason) { ++dropped_[reason]; }
  trace::ProcessBook& processes() { return sink_.processes() != nullptr ? *sink_.processes() : own_processes_; }

  trace::Sink& sink_;
  trace::Account& account_;
  trace::ProcessBook own_processes_;
  TextIds ids_;
  FlowLinks links_;
  std::unordered_map<std::int64_t, Section> sections_;
  std::map<std::string, rocm::Column, std::less<>> columns_;  // by the argument's key
  std::map<std::string, std::int64_t> counters_;              // values by the counter's name
  std::unordered_map<const char*, std::int64_t> dropped_;     // by literal
  std::int64_t kept_ = 0;
  std::int64_t dispatches_ = 0;
};

}  // namespace aaco::importers::rocprof
