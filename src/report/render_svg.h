#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/result.h"
#include "report/model.h"

namespace aaco::report {

inline constexpr std::array<std::string_view, 7> kSvgPlots = {"latency",   "distribution", "operators", "timeline",
                                                              "telemetry", "flame",        "roofline"};
// One plot as a stand-alone SVG, one of kSvgPlots, for print: light, no script, nothing fetched. `not_found` where the report
// has no data for it.
core::Result<std::string> render_svg(const ReportModel& model, std::string_view plot);

}  // namespace aaco::report
