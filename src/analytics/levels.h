#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/names.h"

// Levels of detail of a trace's timeline: what is drawn at a resolution costs the same at any number of events.
namespace aaco::analytics::levels {

enum class Kind : std::uint8_t { python, operators, range, runtime, launch, kernel, copy, collective };
inline constexpr std::array<Kind, 8> kKinds = {Kind::python, Kind::operators, Kind::range, Kind::runtime,
                                               Kind::launch, Kind::kernel,    Kind::copy,  Kind::collective};
// As the table timeline_levels has it: "operator" of Kind::operators.
std::string_view to_string(Kind kind);
// Of a host event, by its domain and name (trace::ApiCallRow).
Kind host_kind(std::string_view domain, std::string_view name);
inline bool is_device_work(Kind kind) { return kind == Kind::kernel || kind == Kind::copy || kind == Kind::collective; }

struct Track {
  std::int32_t rank = 0;
  Kind kind = Kind::kernel;
  std::int64_t place = 0;  // process of host events, device of GPU work
  std::int64_t lane = 0;   // thread, or stream
  std::int64_t depth = 0;  // nesting, or row of overlapping work
  auto operator<=>(const Track&) const = default;
};
struct TrackHash {
  std::size_t operator()(const Track& track) const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(track.lane) * 0x9E3779B97F4A7C15;
    hash = (hash ^ static_cast<std::uint64_t>(track.place) ^ static_cast<std::uint64_t>(track.rank) << 32U) * 0xC2B2AE3D27D4EB4F;
    hash ^= static_cast<std::uint64_t>(track.depth) << 8U ^ static_cast<std::uint64_t>(track.kind);
    return (hash * 0x9E3779B97F4A7C15) >> 20U;
  }
};

// An event, or several short neighbours of one track.
struct Segment {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t event_count = 1;
  trace::NameId name;  // of the longest event
  std::int64_t longest_start_ns = 0, longest_ns = 0;
  std::uint64_t correlation_id = 0;  // these of a single event; 0 and empty: none
  trace::NameId detail;
  bool operator==(const Segment&) const = default;
};
Segment single(std::int64_t start_ns, std::int64_t end_ns, trace::NameId name);

// The stored resolutions of a trace: from `finest_ns` on, each 4 times the one before, up to `coarsest_ns`. 0: none is needed.
struct Plan {
  std::int64_t finest_ns = 0, coarsest_ns = 0;
  bool operator==(const Plan&) const = default;
  [[nodiscard]] bool empty() const { return finest_ns <= 0; }
  [[nodiscard]] std::vector<std::int64_t> resolutions() const;
  // The coarsest that is not coarser than `wanted_ns`; 0: finer than any, read the events.
  [[nodiscard]] std::int64_t best(std::int64_t wanted_ns) const;
};
inline constexpr std::int64_t kStep = 4;             // from one resolution to the next
inline constexpr std::int64_t kEventsPerBin = 256;   // at the finest resolution, over all tracks, on average, at most
inline constexpr std::int64_t kPixels = 2'048;       // of a drawing of the whole trace, which needs no events
inline constexpr std::int64_t kOverviewBins = 256;   // of the whole trace at the coarsest resolution, at least
inline constexpr std::int64_t kFewEvents = 1 << 16;  // a trace of fewer is read as it is
Plan plan_levels(std::int64_t event_count, std::int64_t span_ns);

// Values by track, for events that come from a few tracks in turns: the last value of each place of a small table is found
// without a search.
template <class Value>
class TrackMap {
 public:
  struct Entry {
    Track track;
    Value value;
  };
  Entry& operator[](const Track& track) {
    const std::size_t hash = TrackHash()(track);
    Entry*& recent = recent_[hash % kRecent];
    if (recent == nullptr || recent->track != track) {
      auto& entry = entries_[track];
      if (!entry) entry = std::make_unique<Entry>(Entry{track, {}});
      recent = entry.get();
    }
    return *recent;
  }
  [[nodiscard]] std::vector<Track> tracks() const {
    std::vector<Track> list;
    list.reserve(entries_.size());
    for (const auto& [track, entry] : entries_) list.push_back(track);
    std::sort(list.begin(), list.end());
    return list;
  }

 private:
  static constexpr std::size_t kRecent = 64;
  std::unordered_map<Track, std::unique_ptr<Entry>, TrackHash> entries_;
  std::array<Entry*, kRecent> recent_{};
};

// Finds an event's depth within its lane. Events come in the order of their starts, of equal ones the longest first.
class DepthBook {
 public:
  static constexpr std::int64_t kMaxDepth = 96;   // deeper frames share the last row
  static constexpr std::int64_t kMaxOverlap = 8;  // rows of a stream
  std::int64_t place(const Track& lane, std::int64_t start_ns, std::int64_t end_ns);
  // An event that is open where reading begins, with the depth found earlier.
  void seed(const Track& track, std::int64_t end_ns);

 private:
  TrackMap<std::vector<std::int64_t>> ends_;  // by depth; key with depth 0
};

// Merges the events of each track, at one resolution after another: linear in the events, memory by tracks and resolutions.
// add() in the order of starts, then finish().
class LevelFold {
 public:
  using Emit = std::function<void(const Track&, std::int64_t resolution_ns, const Segment&)>;
  LevelFold(std::vector<std::int64_t> resolutions, Emit emit) : resolutions_(std::move(resolutions)), emit_(std::move(emit)) {}
  void add(const Track& track, const Segment& segment);
  void finish();

 private:
  struct Open {
    bool used = false;
    std::int64_t until_ns = 0;  // end of its bin
    Segment segment;
  };
  using Levels = std::vector<Open>;
  void add(const Track& track, Levels& levels, std::size_t level, const Segment& segment);
  void flush(const Track& track, Levels& levels, std::size_t level);

  std::vector<std::int64_t> resolutions_;
  Emit emit_;
  TrackMap<Levels> tracks_;
};

}  // namespace aaco::analytics::levels
