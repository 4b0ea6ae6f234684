#include "tracelake/perfetto/track_set.h"

#include <array>
#include <utility>

namespace aaco::tracelake::perfetto {
namespace {

// More than any process number of Linux (4,194,304).
constexpr std::int64_t kRankStride = 5'000'000;

std::int64_t apart(std::int64_t rank, std::int64_t id) { return id + rank * kRankStride; }

// The unit that a metric's name ends with; empty where it ends with none ("system.load_1min").
std::string unit_of(std::string_view metric) {
  if (metric.ends_with("_per_second")) return "1/s";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kUnits = {{{"ns", "ns"},
                                                                                     {"bytes", "bytes"},
                                                                                     {"count", "count"},
                                                                                     {"hz", "Hz"},
                                                                                     {"ratio", "ratio"},
                                                                                     {"watts", "W"},
                                                                                     {"joules", "J"},
                                                                                     {"celsius", "celsius"},
                                                                                     {"volts", "V"},
                                                                                     {"seconds", "s"},
                                                                                     {"cores", "cores"},
                                                                                     {"rpm", "rpm"},
                                                                                     {"lanes", "lanes"}}};
  for (const auto& [suffix, unit] : kUnits)
    if (metric.size() > suffix.size() && metric.ends_with(suffix) && metric[metric.size() - suffix.size() - 1] == '_')
      return std::string(unit);
  return {};
}

}  // namespace

TrackId TrackSet::group(Group group, std::int64_t rank, std::int64_t device) {
  const auto [found, added] = groups_.try_emplace({group, rank, device}, 0);
  if (!added) return found->second;
  std::string name = group == Group::host        ? "host"
                     : group == Group::scheduler ? "scheduler"
                     : group == Group::requests  ? "requests"
                                                 : "GPU " + std::to_string(device);
  if (rank > 0) name += " (rank " + std::to_string(rank) + ")";
  return found->second = writer_.add_track({.kind = TrackInfo::Kind::group, .name = std::move(name)});
}

TrackId TrackSet::add_process(std::int64_t rank, std::int64_t process_id, const std::string& name) {
  const std::string text = rank > 0 ? name + " (rank " + std::to_string(rank) + ")" : name;
  const TrackId track =
      writer_.add_track({.kind = TrackInfo::Kind::process, .name = text, .process_id = apart(rank, process_id)});
  processes_.emplace(std::pair(rank, process_id), track);
  return track;
}

void TrackSet::thread_slice(std::int64_t rank, std::int64_t process_id, std::int64_t thread_id, TrackId process,
                            std::string_view name, const Slice& slice) {
  if (!can_be_shown(slice)) return;
  auto found = threads_.find({rank, process_id, thread_id});
  if (found == threads_.end()) {
    TrackInfo info{.kind = TrackInfo::Kind::thread, .name = std::string(name), .parent = process};
    info.process_id = apart(rank, process_id);
    info.thread_id = apart(rank, thread_id);
    found =
        threads_.emplace(std::tuple(rank, process_id, thread_id), Lanes(writer_, std::move(info), Lanes::Overlap::nest)).first;
  }
  add(found->second, slice);
}

bool TrackSet::can_be_shown(const Slice& slice) {
  if (slice.start_ns < 0)
    account_.drop("before time zero");
  else if (slice.end_ns < slice.start_ns)
    account_.drop("ends before it starts");
  else
    return true;
  return false;
}

void TrackSet::add(Lanes& lanes, const Slice& slice) {
  if (lanes.add(slice))
    account_.keep();
  else
    account_.drop("more than " + std::to_string(Lanes::kMaxLanes) + " overlapping in one row");
}

void TrackSet::counter(TrackId parent, const std::string& name, std::string_view metric, std::int64_t time_ns, double value) {
  if (time_ns < 0) return account_.drop("before time zero");
  const auto [found, added] = counters_.try_emplace({parent, name}, 0);
  if (added)
    found->second =
        writer_.add_track({.kind = TrackInfo::Kind::counter, .name = name, .parent = parent, .unit = unit_of(metric)});
  writer_.counter(found->second, time_ns, value);
  account_.keep();
}

void TrackSet::close() {
  for (auto& [key, lanes] : lanes_) lanes.close();
  for (auto& [key, lanes] : threads_) lanes.close();
}

}  // namespace aaco::tracelake::perfetto
