#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/protobuf.h"

namespace aaco::importers::pftrace {

// What the packets of one writer share: interned names, defaults, and clocks of its own. Field numbers are those of the perfetto
// repository, protos/perfetto/trace (tests/fixtures/perfetto/trace.proto has those that AACO writes).
class Sequence {
 public:
  static constexpr std::size_t kMaxInternedBytes = std::size_t{256} << 20;

  // A packet with SEQ_INCREMENTAL_STATE_CLEARED, or its field 41, begins anew.
  void clear();
  // Of InternedData. `budget` is shared by all sequences of a file: names beyond it are not kept.
  void add_interned(std::string_view text, std::size_t& budget);
  void add_defaults(std::string_view text);        // TracePacketDefaults
  void add_clock_snapshot(std::string_view text);  // ClockSnapshot
  // The time of a packet on the trace's clock, ns; empty where it is out of range.
  std::optional<std::int64_t> time(std::optional<std::uint64_t> stated, std::optional<std::uint64_t> clock_id);

  enum class Kind : std::uint8_t { category = 1, event = 2, annotation = 3, text = 29 };  // fields of InternedData
  [[nodiscard]] std::string_view interned(Kind kind, std::uint64_t iid) const;
  [[nodiscard]] std::uint64_t default_track() const { return default_track_; }

 private:
  struct Clock {
    std::int64_t last = 0;    // of an incremental clock, in its units
    std::int64_t offset = 0;  // trace clock - own clock, ns
    std::int64_t unit_ns = 1;
    bool incremental = false;
  };
  std::map<std::uint8_t, std::unordered_map<std::uint64_t, std::string>> names_;
  std::map<std::uint64_t, Clock> clocks_;  // of the sequence: ids from 64 to 127
  std::uint64_t default_clock_ = 0, default_track_ = 0;
};

}  // namespace aaco::importers::pftrace
