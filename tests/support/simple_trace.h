#pragma once

#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/json.h"
#include "core/result.h"
#include "importers/file_source.h"

// The second, simple path to the numbers of a PyTorch trace: every event in memory, its boundaries sorted, the active work
// counted between two boundaries.
namespace aaco::workflows {

inline std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

inline std::int64_t nanoseconds(const core::Json& microseconds) {
  if (const auto whole = microseconds.as_i64()) return *whole * 1000;
  return std::llround(microseconds.as_f64().value_or(0) * 1000);  // exact below 9e15 ns
}

struct SimpleDevice {
  std::map<std::int64_t, std::array<int, 3>> changes;  // time -> change of the number of compute, collective, copy events
  std::int64_t kernels = 0, kernel_sum = 0, copy_sum = 0, collective_sum = 0, orphans = 0, linked_sum = 0, micro = 0;
  std::int64_t busy = 0, compute = 0, exposed_copy = 0, exposed_collective = 0, span = 0, active = 0;

  void count() {
    std::array<int, 3> now{};
    std::int64_t last = changes.begin()->first;
    for (const auto& [time, change] : changes) {
      const std::int64_t length = time - last;
      if (now[0] + now[1] + now[2] > 0) busy += length;
      if (now[0] + now[1] > 0) active += length;
      if (now[0] > 0) compute += length;
      if (now[0] == 0 && now[1] > 0) exposed_collective += length;
      if (now[0] == 0 && now[2] > 0) exposed_copy += length;
      for (std::size_t i = 0; i < 3; ++i) now[i] += change[i];
      last = time;
    }
    span = changes.rbegin()->first - changes.begin()->first;
  }
};

struct SimpleTrace {
  std::map<std::int64_t, SimpleDevice> devices;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> kernels;  // name -> count, sum

  // Whether any kernel's launch is in the file; without launches nothing is known of the host.
  [[nodiscard]] bool has_launches() const {
    for (const auto& [number, device] : devices)
      if (device.orphans < device.kernels) return true;
    return false;
  }
};

inline core::Result<std::string> whole_text(const std::string& path) {
  AACO_ASSIGN(const auto source, importers::open_file_source(path));
  std::string text, piece(1 << 20, '\0');
  for (;;) {
    AACO_ASSIGN(const std::size_t got, source->read(piece));
    if (got == 0) return text;
    text.append(piece, 0, got);
  }
}

inline SimpleTrace simple_trace(const std::string& path) {
  SimpleTrace trace;
  const auto text = whole_text(path);
  if (!text) return trace;
  const auto document = core::Json::parse(*text);
  if (!document) return trace;
  const core::Json& events = (*document)["traceEvents"];
  std::set<std::uint64_t> launches;
  for (const core::Json& event : events.items()) {
    const std::string category = lower(std::string(event["cat"].text()));
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" || category == "runtime")
      launches.insert(event["args"]["correlation"].as_u64().value_or(0));
  }
  for (const core::Json& event : events.items()) {
    if (event["ph"].text() != "X") continue;
    const std::string category = lower(std::string(event["cat"].text()));
    const bool kernel = category == "kernel";
    if (!kernel && category != "gpu_memcpy" && category != "gpu_memset" && category != "memcpy" && category != "memset") continue;
    const std::string name(event["name"].text());
    const std::int64_t start = nanoseconds(event["ts"]), length = nanoseconds(event["dur"]);
    SimpleDevice& device = trace.devices[event["args"]["device"].as_i64().value_or(-1)];
    const bool collective = kernel && lower(name).find("nccl") != std::string::npos;
    const std::size_t kind = collective ? 1 : kernel ? 0 : 2;
    ++device.changes[start][kind];
    --device.changes[start + length][kind];
    if (!kernel) {
      device.copy_sum += length;
      continue;
    }
    ++device.kernels;
    device.kernel_sum += length;
    device.micro += length < 10'000 ? 1 : 0;
    if (collective) device.collective_sum += length;
    const bool linked = launches.contains(event["args"]["correlation"].as_u64().value_or(0));
    (linked ? device.linked_sum : device.orphans) += linked ? length : 1;
    auto& sum = trace.kernels[name];
    ++sum.first;
    sum.second += length;
  }
  for (auto& [number, device] : trace.devices) device.count();
  return trace;
}

}  // namespace aaco::workflows
