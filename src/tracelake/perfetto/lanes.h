#pragma once

#include <cstdint>
#include <vector>

#include "tracelake/perfetto/timeline_writer.h"

namespace aaco::tracelake::perfetto {

// The slices of one thing (a thread, a stream). Viewers want slices of a track to nest; what overlaps otherwise gets a further
// track, a lane, beside the first.
class Lanes {
 public:
  static constexpr std::size_t kMaxLanes = 64;
  enum class Overlap { nest, spread };  // spread: no two slices of a lane overlap at all

  Lanes(TimelineWriter& writer, TrackInfo info, Overlap overlap) : writer_(&writer), info_(std::move(info)), overlap_(overlap) {}

  // Slices come by start, and of those that start together the longest first. False: there is no lane left, the slice is dropped.
  bool add(const Slice& slice);
  // Ends what is open.
  void close();

 private:
  struct Lane {
    TrackId track;
    std::vector<std::int64_t> ends;  // of the slices that are open, innermost last
  };
  void end_until(Lane& lane, std::int64_t time_ns);
  TimelineWriter* writer_;
  TrackInfo info_;
  Overlap overlap_;
  std::vector<Lane> lanes_;
};

}  // namespace aaco::tracelake::perfetto
