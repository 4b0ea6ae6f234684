#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "tracelake/perfetto/timeline_writer.h"

namespace aaco::tracelake::perfetto {

// The Trace Event Format of chrome://tracing, as one JSON object. Groups become processes and their rows threads; times are
// microseconds with three digits, exact to the nanosecond.
core::Result<std::unique_ptr<TimelineWriter>> make_chrome_writer(const std::string& file);

}  // namespace aaco::tracelake::perfetto
