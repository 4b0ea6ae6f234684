#pragma once

#include <cstdint>

namespace aaco::server {

inline constexpr std::int64_t kPaceWindow_ns = 10'000'000'000;
inline constexpr std::int64_t kMinBytesPerWindow = 32 * 1024;  // 3.3 kB/s: a modem sends more

// Tells a client that sends slowly from one that drips bytes to hold a place. Only time spent waiting for the client counts, so
// that a slow disk of this machine refuses nobody.
class UploadPace {
 public:
  // `bytes` arrived after `waited_ns`. False: a whole window brought less than the minimum.
  bool arrived(std::int64_t bytes, std::int64_t waited_ns) {
    bytes_ += bytes;
    waited_ns_ += waited_ns;
    if (waited_ns_ < kPaceWindow_ns) return true;
    const bool enough = bytes_ >= kMinBytesPerWindow;
    bytes_ = waited_ns_ = 0;
    return enough;
  }

 private:
  std::int64_t bytes_ = 0;
  std::int64_t waited_ns_ = 0;
};

}  // namespace aaco::server
