#pragma once

#include "workflows/timeline_window.h"

namespace aaco::cli {

struct Context;

// What each track of a trace did in a stretch of time, one line a track.
void print_timeline(const Context& context, const workflows::SessionTimeline& timeline);

}  // namespace aaco::cli
