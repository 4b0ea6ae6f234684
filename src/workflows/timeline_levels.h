#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analytics/levels.h"
#include "core/result.h"
#include "trace/stored_names.h"
#include "workflows/timeline/event_segments.h"
#include "workflows/timeline/record_file.h"

namespace aaco::workflows {

// Makes the levels of detail of a trace's timeline from its rows while an analysis reads them, so that they are decoded once.
// add() in the order of starts (kernels and copies may alternate), end_table() before rows that begin earlier again, then
// finish().
// The finest level goes to the sink at once, the others wait in files for finish(): so the table comes in its order, and need not
// be sorted. Does nothing where the plan is empty.
class TimelineLevels {
 public:
  // `session_path`: of the open bundle that the rows come from and go to.
  TimelineLevels(const analytics::levels::Plan& plan, std::string session_path, trace::NameTable& names, trace::Sink& sink);
  TimelineLevels(const TimelineLevels&) = delete;
  TimelineLevels& operator=(const TimelineLevels&) = delete;

  template <class Row>
  void add(const Row& row) {
    if (wanted_) events_.add(row);
  }
  void end_table() { events_.release(); }
  // After all other rows; reads the collectives of the flushed bundle, which are few.
  core::Status finish();

 private:
  void store(const analytics::levels::Track& track, std::int64_t resolution_ns, const analytics::levels::Segment& segment);

  bool wanted_;
  std::string session_path_;
  trace::NameTable& names_;
  trace::Sink& sink_;
  std::vector<trace::NameId> kinds_;
  trace::StoredNames stored_;
  std::vector<std::int64_t> resolutions_;
  std::vector<RecordFile<trace::TimelineLevelRow>> coarser_;  // of each resolution but the finest
  core::Status status_;                                       // of these
  analytics::levels::LevelFold fold_;
  EventSegments events_;
};

// The levels of a flushed bundle whose events no analysis reads: one more pass over them.
core::Status store_levels(const std::string& session_path, const analytics::levels::Plan& plan, trace::Sink& sink,
                          const std::function<core::Status()>& go_on);

}  // namespace aaco::workflows
