#include <algorithm>
#include <cmath>
#include <istream>

#include "core/json.h"
#include "laboratory/gpu.h"
#include "laboratory/gpu/cases.h"

namespace aaco::laboratory {
namespace gpu {
namespace {

using core::ErrorCode;
using core::Json;

constexpr double kGroupNs = 200'000;  // of calls between two events, which resolve about half a microsecond
constexpr std::int64_t kMaxGrouped = 1000, kMaxTimes = 20'000;
constexpr std::size_t kMaxLine = std::size_t{1} << 20;

// One operator at a time, timed by the device's events in groups of calls.
class Bench {
 public:
  Bench(Device& device, std::int64_t patience_ns) : device_(device), cases_(device, patience_ns) {}

  core::Result<Json> answer(const Json& request) {
    if (request["make"].is_object()) return make(request["make"]);
    if (const auto count = request["time"].as_i64()) return time(*count);
    return core::fail(ErrorCode::invalid_argument, "a request has \"make\" or \"time\"");
  }
  [[nodiscard]] std::vector<GpuLibrary> libraries() { return cases_.libraries(); }

 private:
  core::Result<Json> make(const Json& described) {
    call_.reset();  // its memory makes room
    const auto one = case_from_json(described);
    if (!one) return core::fail(ErrorCode::invalid_argument, "not a benchmark case");
    AACO_ASSIGN(Call call, cases_.make(*one));
    AACO_TRY(call.enqueue());
    AACO_TRY(device_.wait());
    call_ = std::move(call);
    // How many calls are a group.
    group_ = 1;
    AACO_ASSIGN(const std::vector<double> first, times(3));
    const double lowest = *std::min_element(first.begin(), first.end());
    group_ = std::clamp(static_cast<std::int64_t>(std::ceil(kGroupNs / std::max(lowest, 1.0))), std::int64_t{1}, kMaxGrouped);
    return Json::object({{"repeats", call_->repeats}});
  }

  core::Result<Json> time(std::int64_t count) {
    if (!call_) return core::fail(ErrorCode::invalid_argument, "no operator has been created");
    if (count < 1 || count > kMaxTimes) return core::fail(ErrorCode::invalid_argument, "too many times requested");
    AACO_ASSIGN(const std::vector<double> all, times(count));
    Json ns = Json::array();
    for (const double one : all) ns.push(std::max(1.0, std::round(one * 10) / 10));
    return Json::object({{"ns", std::move(ns)}, {"group", group_}});
  }

  core::Result<std::vector<double>> times(std::int64_t count) {
    const auto needed = static_cast<std::size_t>(2 * count);
    while (events_.size() < needed) {
      AACO_ASSIGN(Object event, device_.make_event());
      events_.push_back(std::move(event));
    }
    for (std::size_t i = 0; i < needed; i += 2) {
      AACO_TRY(device_.record(events_[i]));
      for (std::int64_t call = 0; call < group_; ++call) AACO_TRY(call_->enqueue());
      AACO_TRY(device_.record(events_[i + 1]));
    }
    AACO_TRY(device_.wait_for(events_[needed - 1]));
    std::vector<double> result;
    for (std::size_t i = 0; i < needed; i += 2) {
      AACO_ASSIGN(const double ns, device_.elapsed_ns(events_[i], events_[i + 1]));
      result.push_back(ns / static_cast<double>(group_));
    }
    return result;
  }

  Device& device_;
  Cases cases_;
  std::optional<Call> call_;
  std::vector<Object> events_;
  std::int64_t group_ = 1;
};

Json facts_json(const GpuFacts& facts) {
  return Json::object(
             {{"name", facts.name}, {"target", facts.target}, {"pci_address", facts.pci_address}, {"devices", facts.devices}})
      .set_if("memory_bytes", facts.memory_bytes)
      .set_if("units", facts.units)
      .set_if("lanes", facts.lanes)
      .set_if("clock_hz", facts.clock_hz)
      .set_if("cache_bytes", facts.cache_bytes)
      .set_if("memory_clock_hz", facts.memory_clock_hz)
      .set_if("bus_bits", facts.bus_bits);
}

Json libraries_json(const std::vector<GpuLibrary>& libraries) {
  Json list = Json::array();
  for (const GpuLibrary& one : libraries) {
    Json line = Json::object({{"name", one.name}});
    if (!one.absent.empty()) line.set("absent", one.absent).set("remedy", one.remedy);
    list.push(std::move(line));
  }
  return list;
}

Json error_json(const core::Error& error) {
  Json answer = Json::object({{"error", error.message}});
  if (!error.remedy.empty()) answer.set("remedy", error.remedy);
  return answer;
}

}  // namespace
}  // namespace gpu

core::Status serve_gpu(const GpuWorkerOptions& options, std::istream& in,
                       const std::function<void(const std::string&)>& line_out) {
  using core::Json;
  const auto say = [&line_out](const Json& answer) { line_out(answer.dump(-1)); };
  auto device = gpu::Device::open(options.runtime, options.device, options.patience_ns);
  if (!device) {
    say(gpu::error_json(device.error()));
    return tl::unexpected<core::Error>(device.error());
  }
  gpu::Bench bench(**device, options.patience_ns);
  say(Json::object({{"ready", true},
                    {"version", (*device)->version()},
                    {"device", to_string(options.runtime)},
                    {"name", (*device)->facts().name},
                    {"threads", 0},
                    {"gpu", gpu::facts_json((*device)->facts())},
                    {"libraries", gpu::libraries_json(bench.libraries())}}));
  for (std::string line; !(*device)->lost() && std::getline(in, line);) {
    if (line.size() > gpu::kMaxLine) return core::fail(core::ErrorCode::exhausted, "a request is longer than 1 MiB");
    auto request = Json::parse(line);
    auto answer = request ? bench.answer(*request) : core::Result<Json>(tl::unexpected<core::Error>(request.error()));
    say(answer ? *answer : gpu::error_json(answer.error()).set("ends", (*device)->lost()));
  }
  if (!(*device)->lost()) return {};
  // Whatever the driver would do at the end of the process may wait for the device for ever.
  return core::fail(core::ErrorCode::io, "the device is lost");
}

}  // namespace aaco::laboratory
