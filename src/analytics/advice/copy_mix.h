#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analytics/gpu_advice.h"

namespace aaco::analytics::advice {

struct CopyAdvice {
  std::string what;  // "copies between host and device"
  std::string title, text;
  double exposed_ns = 0;
  bool shared_out = false;  // among several by their own time: which of them was exposed is not known
  std::string launched_by;  // the operator, range or call of more than half of it; empty: none
  double launched_ratio = 0;
};

// Copies of a device by what they connect, and what helps against each: pinned memory helps copies between host and pageable
// memory and no others.
class CopyMix {
 public:
  // `by_kind`: time by column kind of copies; empty: unknown. `pinned_ratio`: of the time of host copies; empty: unknown.
  // `exposed`: which of them were exposed; empty: unknown.
  CopyMix(const std::map<std::string, double>& by_kind, std::optional<double> pinned_ratio,
          const std::map<std::string, ExposedCopy>& exposed = {});

  // The exposed time, divided as that of each kind is known, else as the copies' own time is; the largest first.
  [[nodiscard]] std::vector<CopyAdvice> advice(double exposed_ns) const;
  // Of calls that block while they copy: `usual`, unless the trace shows that pinned memory cannot help.
  [[nodiscard]] std::string blocking_remedy(const std::string& usual) const;

 private:
  struct Group {
    double time_ns = 0;
    ExposedCopy exposed;
  };
  enum Kind : std::uint8_t { kHost, kDevice, kPeer, kFill, kOther, kKinds };
  static Kind kind_of(const std::string& kind);
  [[nodiscard]] double time_of(Kind kind) const;
  std::array<Group, kKinds> groups_;
  double time_ns_ = 0, exposed_ns_ = 0;
  std::optional<double> pinned_ratio_;
};

}  // namespace aaco::analytics::advice
