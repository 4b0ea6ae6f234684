#pragma once

#include <string_view>
#include <vector>

#include "importers/stream/json_skim.h"
#include "importers/stream/trace_events.h"

namespace aaco::importers {

// Takes the text of a trace document apart, window by window.
class TraceDocument {
 public:
  enum class Progress { wants_more, ended };

  // Takes events from [begin, end) into `events`; moves `begin` behind what is done with. After wants_more the rest must stand at
  // the front of the next window. An error means that this is no trace document at all.
  core::Result<Progress> take(const char*& begin, const char* end, std::vector<TraceEvent>& events);
  [[nodiscard]] DocumentEnd& end() { return end_; }
  // Where the text stopped: for the message about a cut.
  [[nodiscard]] std::string_view place() const;

 private:
  enum class State { start, members, events, done };
  core::Result<Progress> start(const char*& at, const char* end);
  Progress take_members(const char*& at, const char* end);
  Progress take_events(const char*& at, const char* end, std::vector<TraceEvent>& events);
  Progress damaged(std::string_view what);

  State state_ = State::start;
  bool in_object_ = false;
  DocumentEnd end_;
};

}  // namespace aaco::importers
