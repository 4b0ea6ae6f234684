#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "importers/pftrace/sequence.h"

namespace aaco::importers::pftrace {

enum class EventType : std::uint8_t { unspecified = 0, begin = 1, end = 2, instant = 3, counter = 4 };

// A track event with its names resolved. Texts belong to it: a slice is kept until its end comes.
struct Slice {
  EventType type = EventType::unspecified;
  std::uint64_t track = 0;
  std::string name, category;
  std::int64_t start_ns = 0;
  std::optional<double> counter;
  // Annotations of rocprofv3.
  std::optional<std::int64_t> begin_ns, end_ns, thread, queue, lds_bytes, scratch_bytes, copy_bytes;
  std::optional<std::uint64_t> correlation_id, kernel_id;
  // Annotations of aaco export.
  std::optional<std::int64_t> device, stream;
  std::array<std::optional<std::int64_t>, 3> grid, block;
  std::string agent, source_agent, target_agent;  // "4", "Agent 4", "GPU-0"
};

// Of a TrackEvent's text. Empty where it is damaged.
std::optional<Slice> read_slice(std::string_view text, const Sequence& sequence);

}  // namespace aaco::importers::pftrace
