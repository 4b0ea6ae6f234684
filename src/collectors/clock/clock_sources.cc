#include "collectors/clock/clock_sources.h"

#include <algorithm>
#include <utility>

#include "core/files.h"
#include "core/numbers.h"

namespace aaco::collectors::clock {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu";
constexpr const char* kHwmon = "/sys/class/hwmon";
constexpr double kKilohertz = 1e3;
constexpr double kMillidegree = 1e-3;

// The numbers of the CPUs that have a folder, in order.
std::vector<std::int64_t> cpu_numbers(const SysRoot& root) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : core::list_directory(root.at(kCpus)).value_or(std::vector<std::string>{})) {
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos) continue;
    if (const auto number = core::parse_i64(std::string_view(name).substr(3))) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string cpu_file(const SysRoot& root, std::int64_t cpu, const char* file) {
  return root.at(std::string(kCpus) + "/cpu" + std::to_string(cpu) + file);
}

// The sensors that stand for a whole processor.
bool package_sensor(const std::string& driver, const std::string& label) {
  return (driver == "k10temp" && (label == "Tctl" || label == "Tdie")) || (driver == "coretemp" && label.starts_with("Package"));
}

}  // namespace

std::size_t cpus_with_frequency(const SysRoot& root) {
  const auto numbers = cpu_numbers(root);
  return static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), [&](std::int64_t cpu) {
    return core::exists(cpu_file(root, cpu, "/cpufreq/scaling_cur_freq"));
  }));
}

core::Status FrequencySource::open(const SysRoot& root, const Target&) {
  for (const std::int64_t number : cpu_numbers(root)) {
    auto file = probe::ProbeFile::open(cpu_file(root, number, "/cpufreq/scaling_cur_freq"));
    if (file && file->read_i64()) cpus_.push_back({number, std::move(*file), {}});
  }
  if (cpus_.empty())
    return core::fail(core::ErrorCode::unsupported, "the kernel does not report CPU clocks (common in virtual machines)");
  return {};
}

void FrequencySource::intern(trace::Sink& sink) {
  clock_ = sink.name("cpu.clock_hz");
  for (Cpu& cpu : cpus_) cpu.entity = sink.name("cpu" + std::to_string(cpu.number));
}

void FrequencySource::sample(probe::Emitter& out) {
  for (Cpu& cpu : cpus_) {
    const auto khz = cpu.file.read_i64();
    if (khz && *khz > 0)
      out.host(clock_, cpu.entity, static_cast<double>(*khz) * kKilohertz);
    else
      out.drop("clock.frequency: a CPU reports no clock");
  }
}

core::Status PolicySource::open(const SysRoot& root, const Target&) {
  for (const std::int64_t number : cpu_numbers(root)) {
    auto file = probe::ProbeFile::open(cpu_file(root, number, "/cpufreq/scaling_max_freq"));
    if (file) limits_.push_back(std::move(*file));
  }
  if (auto boost = probe::ProbeFile::open(root.at(std::string(kCpus) + "/cpufreq/boost"))) boost_ = std::move(*boost);
  if (!boost_.valid()) {
    if (auto no_turbo = probe::ProbeFile::open(root.at(std::string(kCpus) + "/intel_pstate/no_turbo"))) {
      boost_ = std::move(*no_turbo);
      boost_inverted_ = true;
    }
  }
  if (limits_.empty() && !boost_.valid())
    return core::fail(core::ErrorCode::unsupported, "the kernel provides no CPU frequency policy on this machine");
  return {};
}

void PolicySource::intern(trace::Sink& sink) {
  limit_ = sink.name("cpu.clock_limit_hz");
  boost_name_ = sink.name("cpu.boost_flag");
}

void PolicySource::sample(probe::Emitter& out) {
  std::optional<std::int64_t> lowest;
  for (probe::ProbeFile& file : limits_)
    if (const auto khz = file.read_i64(); khz && *khz > 0) lowest = std::min(lowest.value_or(*khz), *khz);
  if (lowest) out.host(limit_, {}, static_cast<double>(*lowest) * kKilohertz);
  if (!boost_.valid()) return;
  if (const auto value = boost_.read_i64())
    out.host(boost_name_, {}, (*value != 0) != boost_inverted_ ? 1 : 0);
  else
    out.drop("clock.policy: reading boost failed");
}

core::Status ThermalSource::open(const SysRoot& root, const Target&) {
  for (const std::int64_t number : cpu_numbers(root))
    if (auto file = probe::ProbeFile::open(cpu_file(root, number, "/thermal_throttle/core_throttle_count")))
      counters_.push_back({std::move(*file), {}});
  for (const std::string& hwmon : core::list_directory(root.at(kHwmon)).value_or(std::vector<std::string>{})) {
    const std::string folder = root.at(std::string(kHwmon) + "/" + hwmon);
    const std::string driver = probe::read_small(folder + "/name").value_or("");
    for (int i = 1; i <= 4; ++i) {
      const std::string sensor = folder + "/temp" + std::to_string(i);
      const std::string label = probe::read_small(sensor + "_label").value_or("");
      if (!package_sensor(driver, label)) continue;
      if (auto file = probe::ProbeFile::open(sensor + "_input")) sensors_.push_back({std::move(*file), label, {}});
    }
  }
  if (counters_.empty() && sensors_.empty())
    return core::fail(core::ErrorCode::unsupported, "no CPU thermal sensor is available on this machine");
  return {};
}

void ThermalSource::intern(trace::Sink& sink) {
  throttles_ = sink.name("cpu.thermal_throttles_per_second");
  temperature_ = sink.name("cpu.temperature_celsius");
  for (Sensor& sensor : sensors_) sensor.entity = sink.name(sensor.label);
}

void ThermalSource::sample(probe::Emitter& out) {
  const double seconds = static_cast<double>(out.now_ns() - std::exchange(before_ns_, out.now_ns())) * 1e-9;
  std::optional<double> events;
  for (Counter& counter : counters_) {
    const auto now = counter.file.read_i64();
    if (now && counter.before && *now >= *counter.before)
      events = events.value_or(0) + static_cast<double>(*now - *counter.before);
    counter.before = now;
  }
  if (events && seconds > 0) out.host(throttles_, {}, *events / seconds);
  for (Sensor& sensor : sensors_) {
    if (const auto value = sensor.file.read_i64())
      out.host(temperature_, sensor.entity, static_cast<double>(*value) * kMillidegree);
    else
      out.drop("clock.thermal: a sensor reports no temperature");
  }
}

void ThermalSource::forget() {
  for (Counter& counter : counters_) counter.before.reset();
}

}  // namespace aaco::collectors::clock
