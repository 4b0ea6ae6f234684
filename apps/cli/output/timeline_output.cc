#include "cli/output/timeline_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/context.h"
#include "core/numbers.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

using analytics::levels::Segment;

std::string track_name(const analytics::levels::Track& track) {
  const std::string of = analytics::levels::is_device_work(track.kind) ? fmt::format("GPU {} stream {}", track.place, track.lane)
                                                                       : fmt::format("thread {} of {}", track.lane, track.place);
  return (track.rank > 0 ? fmt::format("rank {} ", track.rank) : "") + of +
         (track.depth > 0 ? fmt::format(" [{}]", track.depth) : "");
}

}  // namespace

void print_timeline(const Context& context, const workflows::SessionTimeline& timeline) {
  const auto& window = timeline.window;
  const auto text = [](std::int64_t ns) { return core::format_duration(static_cast<double>(ns)); };
  context.print(fmt::format(
      "{} from {} to {} of {}; {}\n\n", report::printable(timeline.session_id), text(window.from_ns - timeline.origin_ns),
      text(window.to_ns - timeline.origin_ns), text(timeline.span_ns),
      window.resolution_ns == 0 ? "every event" : fmt::format("events shorter than {} are merged", text(window.resolution_ns))));
  context.print(fmt::format("{:<11} {:<32} {:>8} {:>8}  longest event\n", "kind", "track", "events", "busy"));
  for (const auto& track : window.tracks) {
    std::int64_t events = 0, busy = 0;
    const Segment* longest = nullptr;
    for (const Segment& row : track.rows) {
      events += row.event_count;
      busy +=
          std::clamp<std::int64_t>(std::min(row.end_ns, window.to_ns) - std::max(row.start_ns, window.from_ns), 0, row.busy_ns);
      if (longest == nullptr || row.longest_ns > longest->longest_ns) longest = &row;
    }
    if (longest == nullptr) continue;
    const double ratio = static_cast<double>(busy) / static_cast<double>(window.to_ns - window.from_ns);
    context.print(fmt::format(
        "{:<11} {:<32} {:>8} {:>8}  {} ({})\n", to_string(track.track.kind), report::fit_left(track_name(track.track), 32),
        events, core::format_percent(std::min(1.0, ratio)),
        report::fit(report::printable(std::string(window.names->text(longest->name))), std::max(20, context.width - 75)),
        text(longest->longest_ns)));
  }
}

}  // namespace aaco::cli
