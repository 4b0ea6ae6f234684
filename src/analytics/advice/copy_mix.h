#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace aaco::analytics::advice {

struct CopyAdvice {
  std::string what;  // "copies between host and device"
  std::string title, text;
  double exposed_ns = 0;
  bool shared_out = false;  // among several by their own time: which of them was exposed is not known
};

// Copies of a device by what they connect, and what helps against each: pinned memory helps copies between host and pageable
// memory and no others.
class CopyMix {
 public:
  // `by_kind`: time by column kind of copies; empty: unknown. `pinned_ratio`: of the time of host copies; empty: unknown.
  CopyMix(const std::map<std::string, double>& by_kind, std::optional<double> pinned_ratio);

  // The exposed time, divided as the copies' own time is; the largest first.
  [[nodiscard]] std::vector<CopyAdvice> advice(double exposed_ns) const;
  // Of calls that block while they copy: `usual`, unless the trace shows that pinned memory cannot help.
  [[nodiscard]] std::string blocking_remedy(const std::string& usual) const;

 private:
  [[nodiscard]] double total() const { return host_ns_ + device_ns_ + peer_ns_ + fill_ns_ + other_ns_; }
  double host_ns_ = 0, device_ns_ = 0, peer_ns_ = 0, fill_ns_ = 0, other_ns_ = 0;
  std::optional<double> pinned_ratio_;
};

}  // namespace aaco::analytics::advice
