#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "analytics/attribution.h"
#include "analytics/gaps.h"
#include "analytics/trace_time.h"
#include "trace/names.h"

namespace aaco::workflows {

// The newest work of a device: when its streams' last work was launched, and what ended at a given moment.
class RecentWork {
 public:
  // Work that ends within this time before another device's does what that waited for: an event takes 5 to 20 us from one device
  // to another (our own judgement).
  static constexpr std::int64_t kHandOverNs = 50'000;
  static constexpr std::int64_t kRoundingNs = 1'000;  // older traces have whole microseconds
  static constexpr std::size_t kStreamsKept = 65'536;

  // After the gap that it ended, if any; work without a launch is not noted.
  void add(const analytics::trace_time::Work& work, trace::NameId name, const analytics::attribution::Launch* launch) {
    if (launch == nullptr) return;
    if (stream_ == nullptr || work.stream != key_) {
      if (streams_.size() >= kStreamsKept && !streams_.contains(work.stream)) return;
      stream_ = &streams_[work.stream];
      key_ = work.stream;
    }
    *stream_ = launch->start_ns;
    ring_.at(next_++ % ring_.size()) = {name, launch->start_ns, work.start_ns, work.end_ns};
  }
  // When the work before was launched, in this stream.
  [[nodiscard]] std::optional<std::int64_t> launched(const analytics::trace_time::StreamKey& stream) const {
    if (stream_ != nullptr && stream == key_) return *stream_;
    const auto found = streams_.find(stream);
    return found == streams_.end() ? std::nullopt : std::optional(found->second);
  }
  // The last one of those that ended when the gap does.
  [[nodiscard]] std::optional<analytics::gaps::PeerWork> ended_at(std::int64_t time_ns) const {
    std::optional<analytics::gaps::PeerWork> found;
    for (std::size_t i = 0; i < std::min(next_, ring_.size()); ++i) {
      const auto& one = ring_.at(i);
      if (one.end_ns < time_ns - kHandOverNs || one.end_ns > time_ns + kRoundingNs) continue;
      if (!found || one.end_ns > found->end_ns) found = one;
    }
    return found;
  }

 private:
  std::map<analytics::trace_time::StreamKey, std::int64_t> streams_;  // start of the newest launch
  analytics::trace_time::StreamKey key_;                              // of stream_
  std::int64_t* stream_ = nullptr;                                    // the one that was last used
  std::array<analytics::gaps::PeerWork, 16> ring_;
  std::size_t next_ = 0;
};

}  // namespace aaco::workflows
