#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analytics/levels.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "trace/silence.h"

namespace aaco::workflows {

// Turns a trace's rows into segments of tracks. Rows come in the order of their starts, then release().
class EventSegments {
 public:
  using Visit = std::function<void(const analytics::levels::Track&, const analytics::levels::Segment&)>;
  enum class Details { none, all };  // grids, shapes, sizes and correlation ids of the events

  EventSegments(trace::NameTable& names, Details details, Visit visit)
      : names_(names),
        no_frame_(names.intern(trace::kNoPythonFrame)),
        details_(details == Details::all),
        visit_(std::move(visit)) {}

  // What began before, found by its depth.
  void seed(const analytics::levels::Track& track, std::int64_t end_ns) { depths_.seed(track, end_ns); }
  void add(const trace::ApiCallRow& row);
  void add(const trace::KernelRow& row);
  void add(const trace::CopyRow& row);
  void add(const trace::CollectiveRow& row);
  // The events that still wait for others of the same start.
  void release();

 private:
  struct Event {
    analytics::levels::Track lane;
    analytics::levels::Segment segment;
  };
  void hold(const Event& event);
  analytics::levels::Kind kind_of(const trace::ApiCallRow& row);

  trace::NameTable& names_;
  trace::NameId no_frame_;  // of rows that are no event
  bool details_;
  Visit visit_;
  analytics::levels::DepthBook depths_;
  std::vector<Event> held_;                                                            // of equal starts: the longest goes first
  std::vector<std::vector<std::pair<std::uint32_t, analytics::levels::Kind>>> kinds_;  // by name, of each domain
};

}  // namespace aaco::workflows
