#include "collectors/kmod/drm_text.h"

#include <optional>

#include "collectors/probe/scanner.h"

namespace aaco::collectors::kmod {
namespace {

constexpr std::string_view kResident = "drm-resident-", kMemory = "drm-memory-";

struct KeyAndValue {
  std::string_view key, value;
};

std::optional<KeyAndValue> split(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto word = probe::Scanner(line.substr(colon + 1)).next_word();
  return KeyAndValue{line.substr(0, colon), word.value_or(std::string_view{})};
}

// The value of a line "KEY: 12 KiB" in bytes; without a unit it is bytes.
std::optional<double> bytes_of(std::string_view line) {
  probe::Scanner words(line.substr(line.find(':') + 1));
  const auto number = words.next_u64();
  if (!number) return std::nullopt;
  const auto unit = words.next_word();
  if (!unit) return static_cast<double>(*number);
  if (*unit == "KiB") return static_cast<double>(*number) * 1024;
  if (*unit == "MiB") return static_cast<double>(*number) * 1024 * 1024;
  return std::nullopt;
}

}  // namespace

bool DrmText::add(std::string_view text) {
  bool any = false;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    any = add_file(text.substr(0, end)) || any;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
  return any;
}

bool DrmText::add_file(std::string_view text) {
  std::string device, client;
  std::map<std::string, double> resident, memory;
  probe::Scanner lines(text);
  while (const auto line = lines.next_line()) {
    const auto pair = split(*line);
    if (!pair) continue;
    if (pair->key == "drm-pdev" || (pair->key == "drm-driver" && device.empty())) device = pair->value;
    if (pair->key == "drm-client-id") client = pair->value;
    auto* regions = pair->key.starts_with(kResident) ? &resident : pair->key.starts_with(kMemory) ? &memory : nullptr;
    if (!regions) continue;
    const auto bytes = bytes_of(*line);
    const std::size_t prefix = regions == &resident ? kResident.size() : kMemory.size();
    if (bytes && pair->key.size() > prefix) (*regions)[std::string(pair->key.substr(prefix))] = *bytes;
  }
  const auto& regions = resident.empty() ? memory : resident;
  if (regions.empty() || device.empty()) return false;
  // Without an id every file counts: two of one client cannot be recognised.
  if (!client.empty() && !seen_.emplace(device + " " + client, true).second) return true;
  for (const auto& [region, bytes] : regions) memory_[device + " " + region] += bytes;
  return true;
}

}  // namespace aaco::collectors::kmod
