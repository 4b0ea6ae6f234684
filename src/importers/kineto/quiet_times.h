#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "importers/kineto/gpu_rows.h"

namespace aaco::importers::kineto {

// Where Python frames are recorded, a long time without one on a thread that has them is not the code of the frame around it:
// recording was off, or the process was stopped. Frames come in any order, the short ones too, so a bit for each millisecond in
// which one begins or ends is kept. Bounded: kMaxThreads threads, kMaxBuckets milliseconds from a thread's first frame on, before
// which and beyond which nothing is said.
class QuietTimes {
 public:
  static constexpr std::int64_t kBucketNs = 1'000'000;
  static constexpr std::int64_t kMinQuietNs = 10'000'000;  // as analytics::gaps::kSilenceNs
  static constexpr std::int64_t kMaxBuckets = 4'000'000;
  static constexpr std::size_t kMaxThreads = 64;

  void add_frame(std::int64_t process, std::int64_t thread, Span span);
  // Each quiet time between two marks of a thread, rounded inwards to milliseconds.
  void each(const std::function<void(std::int64_t process, std::int64_t thread, Span span)>& visit) const;

 private:
  struct Marks {
    std::int64_t first = 0;   // the bucket of bit 0
    std::vector<bool> later;  // from it on
    void set(std::int64_t bucket);
  };
  using Thread = std::pair<std::int64_t, std::int64_t>;  // process, thread
  std::map<Thread, Marks> threads_;
  std::pair<Thread, Marks*> newest_{{0, 0}, nullptr};  // frames of a thread follow each other
};

}  // namespace aaco::importers::kineto
