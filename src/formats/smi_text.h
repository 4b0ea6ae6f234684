#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// What amd-smi, rocm-smi and nvidia-smi print, as text, JSON or CSV, in the metrics and units of docs/formats/telemetry.md.
namespace aaco::formats::smi_text {

enum class Tool : std::uint8_t { amd_smi, rocm_smi, nvidia_smi };
std::string_view to_string(Tool tool);  // "amd-smi"

struct Reading {
  std::int64_t device = 0;
  std::string_view metric;  // "gpu.power_watts": lives for ever
  double value = 0;
  std::optional<std::int64_t> realtime_ns;  // where the log stamps it; local times are taken as UTC
  std::int64_t snapshot = 0;                // 0, 1, 2 ...: which of the log's readings of this device it belongs to
  bool operator==(const Reading&) const = default;
};

struct Log {
  Tool tool = Tool::amd_smi;
  std::string layout;  // "metric (text)", "table", "JSON", "CSV"
  std::vector<Reading> readings;
  std::map<std::int64_t, std::map<std::string, std::string>> devices;  // number -> "name", "uuid", "pci_address"
  std::int64_t not_available = 0;                                      // known quantities that stand as N/A
  std::int64_t not_understood = 0;                                     // known quantities whose value or unit is not readable
  std::int64_t unread_lines = 0;                                       // among a table's rows: cut, or messages
  std::int64_t other = 0;                                              // quantities that are not kept
};

// By the first bytes: whether decode() would know the layout.
bool is_smi_text(std::string_view head);

// Refuses what is no output of these tools, and layouts that are not known.
core::Result<Log> decode(std::string_view text);

}  // namespace aaco::formats::smi_text
