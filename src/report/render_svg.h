#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/result.h"
#include "report/model.h"

namespace aaco::report {

inline constexpr std::array<std::string_view, 8> kSvgPlots = {"latency",   "distribution", "operators", "timeline",
                                                              "telemetry", "flame",        "roofline",  "waits"};
// One plot as a stand-alone SVG, one of kSvgPlots, for print: light, nothing fetched. Flame graphs have a script of their own to
// search and to zoom in a browser; the others have none. `not_found` where the report
// has no data for it.
core::Result<std::string> render_svg(const ReportModel& model, std::string_view plot);

}  // namespace aaco::report
