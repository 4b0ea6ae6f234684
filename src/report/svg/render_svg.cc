#include "report/render_svg.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/strings.h"
#include "report/svg/plots.h"

namespace aaco::report {

core::Result<std::string> render_svg(const ReportModel& model, std::string_view plot) {
  using Plot = std::optional<std::string> (*)(const ReportModel&);
  constexpr std::array<Plot, kSvgPlots.size()> kPlots = {plot_latency,   plot_distribution, plot_operators, plot_timeline,
                                                         plot_telemetry, plot_flame,        plot_roofline,  plot_waits};
  for (std::size_t i = 0; i < kSvgPlots.size(); ++i) {
    if (kSvgPlots[i] != plot) continue;
    if (std::optional<std::string> drawing = kPlots[i](model)) return *std::move(drawing);
    return core::fail(core::ErrorCode::not_found, "the report has no data for the plot '" + std::string(plot) + "'");
  }
  const std::vector<std::string_view> known(kSvgPlots.begin(), kSvgPlots.end());
  const std::string_view near = core::nearest(plot, known);
  return core::fail(
      core::ErrorCode::invalid_argument,
      "unknown plot '" + std::string(plot) + "'" + (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"),
      "one of: " + core::join(known, ", "));
}

}  // namespace aaco::report
