#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analytics/levels.h"
#include "core/result.h"
#include "trace/rows.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

// The events of a stored session's timeline as segments: each table in its own order of starts.
class TraceEvents {
 public:
  using Visit = std::function<void(const analytics::levels::Track&, const analytics::levels::Segment&)>;
  enum class Details { none, all };  // grids, shapes, sizes and correlation ids of the events

  TraceEvents(const std::string& session_path, trace::NameTable& names, Details details, const Visit& visit);

  // What began before, found by its depth.
  void seed(const analytics::levels::Track& track, std::int64_t end_ns) { depths_.seed(track, end_ns); }
  // All events for which the SQL condition holds; empty: all.
  core::Status read(const std::string& where, const std::function<core::Status()>& go_on);

 private:
  struct Event {
    analytics::levels::Track lane;
    analytics::levels::Segment segment;
  };
  void add(const trace::ApiCallRow& row);
  void add(const trace::KernelRow& row);
  void add(const trace::CopyRow& row);
  void add(const trace::CollectiveRow& row);
  void hold(const Event& event);
  void release();
  analytics::levels::Kind kind_of(const trace::ApiCallRow& row);

  const std::string& path_;
  trace::NameTable& names_;
  bool details_;
  const Visit& visit_;
  analytics::levels::DepthBook depths_;
  std::vector<Event> held_;                                                            // of equal starts: the longest goes first
  std::vector<std::vector<std::pair<std::uint32_t, analytics::levels::Kind>>> kinds_;  // by name, of each domain
};

}  // namespace aaco::workflows
