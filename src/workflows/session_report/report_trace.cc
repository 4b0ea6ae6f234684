#include "workflows/session_report/report_trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/files.h"
#include "report/time_shares.h"
#include "trace/tables.h"
#include "tracelake/lake.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {
namespace {

using analytics::levels::Segment;
using report::TraceTimeline;

constexpr std::size_t kPageRows = 60'000;      // of all layers; 40 bytes each
constexpr std::size_t kOverviewRows = 24'000;  // where there is more than that to show
constexpr std::size_t kWindowRows = 6'000;     // of a detailed stretch
constexpr std::size_t kMinWindows = 2, kMaxWindows = 16;
constexpr std::int64_t kEventsPerWindow = 400'000;  // a window costs about as much time as the import of 10,000 events
constexpr std::size_t kGapWindows = 10, kKernelWindows = 5;
constexpr std::int64_t kPixels = 1'500;
constexpr std::int64_t kMinPadNs = 200'000;
constexpr std::size_t kNameBytes = 900'000, kDetailBytes = 300'000;
constexpr std::size_t kMaxNameBytes = 6'000;
constexpr int kShortName = 40;

struct Stretch {
  std::int64_t from_ns = 0, to_ns = 0;
};

// Collects windows into the section: names, details and links by number, within the page's budget.
class Collector {
 public:
  Collector(TraceTimeline& out, std::int64_t origin_ns) : out_(out), origin_ns_(origin_ns) { out_.details.emplace_back(); }

  void add(const TimelineWindow& window, std::map<std::string, std::string>& families) {
    TraceTimeline::Layer layer{window.from_ns - origin_ns_, window.to_ns - origin_ns_, window.resolution_ns, {}};
    layer.rows.reserve(window.row_count());
    known_names_.assign(window.names->size(), std::nullopt);
    known_details_.assign(window.names->size(), std::nullopt);
    for (const TimelineTrack& track : window.tracks) {
      const std::uint32_t number = track_number(track.track);
      const bool kernels = track.track.kind == analytics::levels::Kind::kernel;
      for (const Segment& segment : track.rows) layer.rows.push_back(row_of(segment, number, window, kernels, families));
    }
    rows_ += layer.rows.size();
    out_.layers.push_back(std::move(layer));
  }
  [[nodiscard]] std::size_t rows() const { return rows_; }

  // Links that only one row has say nothing, and names get their short forms: kernels those of the other sections.
  void finish(const std::vector<report::TimeShare>& kernels) {
    std::vector<std::uint32_t> uses(links_.size() + 1);
    for (const auto& layer : out_.layers)
      for (const auto& row : layer.rows) ++uses[row.link];
    std::uint32_t next = 0;
    std::vector<std::uint32_t> renumbered(uses.size());
    for (std::size_t i = 1; i < uses.size(); ++i)
      if (uses[i] > 1) renumbered[i] = ++next;
    for (auto& layer : out_.layers)
      for (auto& row : layer.rows) row.link = renumbered[row.link];
    std::vector<std::string> texts;
    for (const auto& name : out_.names) texts.push_back(name.text);
    const auto brief = report::names_for(texts, kShortName);
    for (std::size_t i = 0; i < brief.size(); ++i)
      if (brief[i] != texts[i]) out_.names[i].short_text = brief[i];
    for (const report::TimeShare& kernel : kernels)
      if (const auto known = names_.find(kernel.name); known != names_.end() && !kernel.short_name.empty())
        out_.names[known->second].short_text = kernel.short_name;
  }

 private:
  std::uint32_t track_number(const analytics::levels::Track& track) {
    const auto [place, fresh] = tracks_.try_emplace(track, static_cast<std::uint32_t>(tracks_.size()));
    if (fresh) out_.tracks.push_back({track.rank, std::string(to_string(track.kind)), track.place, track.lane, track.depth});
    return place->second;
  }

  TraceTimeline::Row row_of(const Segment& segment, std::uint32_t track, const TimelineWindow& window, bool kernel,
                            const std::map<std::string, std::string>& families) {
    TraceTimeline::Row row;
    row.track = track;
    // Texts are long, and few: each is looked up once in a window.
    auto& name = known_names_[segment.name.value];
    if (!name) name = name_number(window.names->text(segment.name), kernel, families);
    row.name = *name;
    if (segment.detail.value != 0) {
      auto& detail = known_details_[segment.detail.value];
      if (!detail) detail = detail_number(window.names->text(segment.detail));
      row.detail = *detail;
    }
    if (segment.correlation_id != 0) row.link = link_number(out_.tracks[track].rank, segment.correlation_id);
    row.start_ns = segment.start_ns - origin_ns_;
    row.duration_ns = segment.end_ns - segment.start_ns;
    row.event_count = segment.event_count;
    row.busy_ns = segment.busy_ns;
    row.longest_ns = segment.longest_ns;
    return row;
  }

  std::uint32_t name_number(std::string_view text, bool kernel, const std::map<std::string, std::string>& families) {
    const auto known = names_.find(std::string(text));
    if (known != names_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(out_.names.size());
    names_.emplace(text, number);
    TraceTimeline::Name name{std::string(text), {}, {}};
    if (kernel)
      if (const auto family = families.find(name.text); family != families.end()) name.group = family->second;
    const std::size_t room = name_bytes_ < kNameBytes ? kMaxNameBytes : 2 * kShortName;
    if (name.text.size() > room) name.text = name.text.substr(0, room) + "...";
    name_bytes_ += name.text.size();
    out_.names.push_back(std::move(name));
    return number;
  }

  std::uint32_t detail_number(std::string_view text) {
    const auto known = details_.find(std::string(text));
    if (known != details_.end()) return known->second;
    if (detail_bytes_ + text.size() > kDetailBytes) return 0;
    detail_bytes_ += text.size();
    out_.details.emplace_back(text);
    return details_.emplace(text, static_cast<std::uint32_t>(out_.details.size() - 1)).first->second;
  }

  std::uint32_t link_number(std::int64_t rank, std::uint64_t correlation) {
    constexpr unsigned kRankAt = 44;  // correlation ids count the launches of a process
    return links_
        .try_emplace(correlation ^ static_cast<std::uint64_t>(rank) << kRankAt, static_cast<std::uint32_t>(links_.size() + 1))
        .first->second;
  }

  TraceTimeline& out_;
  std::int64_t origin_ns_;
  std::map<analytics::levels::Track, std::uint32_t> tracks_;
  std::unordered_map<std::string, std::uint32_t> names_, details_;
  std::vector<std::optional<std::uint32_t>> known_names_, known_details_;  // by the window's name ids
  std::unordered_map<std::uint64_t, std::uint32_t> links_;                 // by correlation id and rank
  std::size_t rows_ = 0, name_bytes_ = 0, detail_bytes_ = 0;
};

// Kernels' families by name.
core::Result<std::map<std::string, std::string>> kernel_families(const std::string& session_path) {
  trace::NameTable names;
  std::map<std::string, std::string> families;
  AACO_ASSIGN(const auto groups, tracelake::read_table<trace::KernelGroupRow>(session_path, names));
  for (const auto& row : groups) families.try_emplace(std::string(names.text(row.kernel_name)), names.text(row.family));
  return families;
}

// Where the page has detail beyond its overview, what matters most first.
std::vector<Stretch> stretches(const report::ReportModel& model, const TimelineWindow& overview) {
  std::vector<Stretch> list;
  const auto around = [&](std::int64_t start_ns, std::int64_t length_ns) {
    const std::int64_t pad = std::max(kMinPadNs, length_ns / 4);
    list.push_back({start_ns - pad, start_ns + length_ns + pad});
  };
  if (const auto& gaps = model.sections.gaps)
    for (std::size_t i = 0; i < std::min(kGapWindows, gaps->longest.size()); ++i)
      around(gaps->longest[i].start_ns, gaps->longest[i].length_ns);
  for (std::size_t i = 0; i < std::min(kKernelWindows, model.kernels.size()); ++i) {
    const Segment* longest = nullptr;
    for (const TimelineTrack& track : overview.tracks)
      for (const Segment& row : track.rows)
        if (track.track.kind == analytics::levels::Kind::kernel && overview.names->text(row.name) == model.kernels[i].name &&
            (longest == nullptr || row.longest_ns > longest->longest_ns))
          longest = &row;
    if (longest != nullptr) around(longest->longest_start_ns, longest->longest_ns);
  }
  return list;
}

bool covered(const Stretch& stretch, const std::vector<Stretch>& done) {
  return std::any_of(done.begin(), done.end(),
                     [&](const Stretch& one) { return one.from_ns <= stretch.from_ns && stretch.to_ns <= one.to_ns; });
}

core::Result<TimelineWindow> within(const std::string& path, const trace::SessionManifest& manifest, Stretch stretch,
                                    std::size_t rows) {
  return timeline_window(path, manifest, {stretch.from_ns, stretch.to_ns, kPixels, 0, rows});
}

template <class Row>
bool has_table(const std::string& path) {
  return core::exists(core::join_path(path, trace::TableOf<Row>::kPath));
}

}  // namespace

core::Status fill_trace(report::ReportModel& model, const std::string& session_path) {
  if (model.session.kind != "import" && model.session.kind != "record") return {};  // runs have their nodes and iterations
  if (!has_table<trace::KernelRow>(session_path) && !has_table<trace::ApiCallRow>(session_path) &&
      !has_table<trace::CopyRow>(session_path))
    return {};
  const auto [start, end] = timeline_extent(model.session);
  if (end <= start) return {};
  AACO_ASSIGN(auto families, kernel_families(session_path));
  TraceTimeline section;
  section.origin_ns = start;
  section.span_ns = end - start;
  Collector collector(section, start);
  const bool few = stored_plan(model.session).empty();
  core::Result<TimelineWindow> overview = few ? timeline_window(session_path, model.session, {start, end, kPixels, 0})
                                              : within(session_path, model.session, {start, end}, kOverviewRows);
  if (overview && few && overview->row_count() > kPageRows)
    overview = within(session_path, model.session, {start, end}, kOverviewRows);
  if (!overview) return tl::unexpected<core::Error>(std::move(overview).error());
  if (overview->tracks.empty()) return {};
  collector.add(*overview, families);
  for (const auto& track : overview->tracks)
    for (const Segment& row : track.rows) section.event_count += row.event_count;
  std::vector<Stretch> done;
  const auto most = std::clamp(static_cast<std::size_t>(section.event_count / kEventsPerWindow), kMinWindows, kMaxWindows);
  if (overview->resolution_ns > 0)
    for (const Stretch& stretch : stretches(model, *overview)) {
      if (collector.rows() + kWindowRows > kPageRows || done.size() >= most) break;
      if (covered(stretch, done)) continue;
      AACO_ASSIGN(const TimelineWindow window, within(session_path, model.session, stretch, kWindowRows));
      if (window.resolution_ns >= overview->resolution_ns) continue;
      collector.add(window, families);
      done.push_back(stretch);
    }
  collector.finish(model.kernels);
  model.sections.trace = std::move(section);
  return {};
}

}  // namespace aaco::workflows
