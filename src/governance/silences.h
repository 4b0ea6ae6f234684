#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace aaco::governance {

// Findings of a fleet that nobody wants to be told about (docs/formats/silences.md). A silence mutes a known problem while it is
// in force; a maintenance window mutes what begins and ends in it.
struct Silence {
  bool maintenance = false;
  std::string node = "*", kind = "*", job = "*";  // a trailing * matches a prefix
  std::optional<std::int32_t> device;
  std::int64_t since_unix_ns = INT64_MIN, until_unix_ns = INT64_MAX;
  std::string reason;
  bool operator==(const Silence&) const = default;
};

// Refuses, with file and line: another schema version, unknown keys, an entry without a reason, a maintenance window without
// both ends, times that are not valid, and an end before the beginning.
core::Result<std::vector<Silence>> parse_silences(std::string_view text, const std::string& file);

struct Silenceable {
  std::string_view node, kind, job;
  std::int32_t device = -1;
  std::int64_t since_unix_ns = 0, until_unix_ns = 0;
};
// Telemetry is averaged in bins, and hosts restart at the edges of a window: a finding may exceed a maintenance window by this.
inline constexpr std::int64_t kMaintenanceSlackNs = std::int64_t{3600} * 1'000'000'000;

// The first entry that mutes a finding; null: none.
const Silence* find_silence(std::span<const Silence> silences, const Silenceable& finding);

}  // namespace aaco::governance
