#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "tracelake/perfetto/timeline_writer.h"

namespace aaco::tracelake::perfetto {

// Several clocks at one instant.
using ClockReading = std::vector<core::TimePoint>;

// A file for Perfetto's viewer and trace processor. `clocks` relate the home clock to others, so that the viewer can show the
// time of day; where there are none (a trace with a clock of its own), times stand as they are.
core::Result<std::unique_ptr<TimelineWriter>> make_perfetto_writer(const std::string& file, core::ClockId home_clock,
                                                                   const std::vector<ClockReading>& clocks);

}  // namespace aaco::tracelake::perfetto
