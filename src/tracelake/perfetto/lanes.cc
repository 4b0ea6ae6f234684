#include "tracelake/perfetto/lanes.h"

#include <algorithm>
#include <limits>
#include <string>

namespace aaco::tracelake::perfetto {

void Lanes::end_until(Lane& lane, std::int64_t time_ns) {
  while (!lane.ends.empty() && lane.ends.back() <= time_ns) {
    writer_->end(lane.track, lane.ends.back());
    lane.ends.pop_back();
  }
}

bool Lanes::add(const Slice& slice) {
  auto lane = lanes_.begin();
  for (; lane != lanes_.end(); ++lane) {
    end_until(*lane, slice.start_ns);
    if (lane->ends.empty() || (overlap_ == Overlap::nest && slice.end_ns <= lane->ends.back())) break;
  }
  if (lane == lanes_.end()) {
    if (lanes_.size() == kMaxLanes) return false;
    TrackInfo info = info_;
    if (!lanes_.empty()) {
      info.name += " (" + std::to_string(lanes_.size() + 1) + ")";
      info.kind = TrackInfo::Kind::slices;  // a thread is described once
    }
    lane = lanes_.insert(lanes_.end(), Lane{writer_->add_track(info), {}});
  }
  writer_->begin(lane->track, slice);
  lane->ends.push_back(slice.end_ns);
  return true;
}

void Lanes::close() {
  for (Lane& lane : lanes_) end_until(lane, std::numeric_limits<std::int64_t>::max());
}

}  // namespace aaco::tracelake::perfetto
