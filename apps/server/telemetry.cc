#include "server/telemetry.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/clock.h"
#include "server/handlers.h"
#include "server/prometheus.h"

namespace aaco::server {
namespace {

using report::LiveGpu;
using report::LiveMachine;
using report::LiveSession;

struct MachineGauge {
  const char *name, *help;
  std::optional<double> LiveMachine::*value;
};
constexpr MachineGauge kMachineGauges[] = {
    {"aaco_machine_cpu_use_ratio", "Share of CPU time in use since the previous sample", &LiveMachine::cpu_use_ratio},
    {"aaco_machine_cpu_clock_hertz", "Mean clock of the CPU cores", &LiveMachine::cpu_clock_hz},
    {"aaco_machine_cpu_power_watts", "Power of the CPU packages", &LiveMachine::cpu_power_watts},
    {"aaco_machine_cpu_temperature_celsius", "Temperature of the CPU", &LiveMachine::cpu_temperature_celsius},
    {"aaco_machine_cpu_wait_ratio", "Share of time in which some task waited for a CPU", &LiveMachine::cpu_wait_ratio},
    {"aaco_machine_memory_wait_ratio", "Share of time in which some task waited for memory", &LiveMachine::memory_wait_ratio},
    {"aaco_machine_io_wait_ratio", "Share of time in which some task waited for I/O", &LiveMachine::io_wait_ratio},
    {"aaco_machine_memory_available_bytes", "Available memory", &LiveMachine::memory_available_bytes},
    {"aaco_machine_memory_size_bytes", "Installed memory", &LiveMachine::memory_total_bytes},
    {"aaco_machine_load1", "Load average over one minute", &LiveMachine::load_1min}};

struct GpuGauge {
  const char *name, *help;
  std::optional<double> LiveGpu::*value;
};
constexpr GpuGauge kGpuGauges[] = {{"aaco_gpu_use_ratio", "Share of time in which the GPU was busy", &LiveGpu::use_ratio},
                                   {"aaco_gpu_memory_used_bytes", "GPU memory in use", &LiveGpu::memory_used_bytes},
                                   {"aaco_gpu_memory_size_bytes", "GPU memory", &LiveGpu::memory_total_bytes},
                                   {"aaco_gpu_power_watts", "Power of the GPU", &LiveGpu::power_watts},
                                   {"aaco_gpu_power_cap_watts", "Power limit of the GPU", &LiveGpu::power_cap_watts},
                                   {"aaco_gpu_temperature_celsius", "Temperature of the GPU", &LiveGpu::temperature_celsius},
                                   {"aaco_gpu_clock_hertz", "Clock of the GPU", &LiveGpu::clock_hz}};

struct SessionGauge {
  const char *name, *help;
  std::optional<double> LiveSession::*value;
  double factor;
};
constexpr SessionGauge kSessionGauges[] = {
    {"aaco_running_session_median_seconds", "Median latency of a running session so far", &LiveSession::median_ns, 1e-9},
    {"aaco_running_session_done_ratio", "Progress of a running session", &LiveSession::done_ratio, 1},
    {"aaco_running_session_left_seconds", "Estimated time to the end of a running session", &LiveSession::left_s, 1}};

void add_head(std::string& text, const char* name, const char* help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

void add_gpus(std::string& text, const std::vector<LiveGpu>& gpus) {
  for (const GpuGauge& gauge : kGpuGauges) {
    bool first = true;
    for (const LiveGpu& gpu : gpus) {
      const auto& value = gpu.*gauge.value;
      if (!value) continue;
      if (first) add_head(text, gauge.name, gauge.help);
      first = false;
      text += fmt::format("{}{{device=\"{}\"}} {}\n", gauge.name, gpu.device, *value);
    }
  }
  if (gpus.empty()) return;
  add_head(text, "aaco_gpu_throttled", "Whether the GPU limits its clock, by reason");
  for (const LiveGpu& gpu : gpus)
    for (const char* reason : {"power", "thermal", "current", "other"}) {
      const bool now = std::find(gpu.throttled.begin(), gpu.throttled.end(), reason) != gpu.throttled.end();
      text += fmt::format("aaco_gpu_throttled{{device=\"{}\",reason=\"{}\"}} {}\n", gpu.device, reason, now ? 1 : 0);
    }
}

void add_sessions(std::string& text, const std::vector<LiveSession>& sessions) {
  add_head(text, "aaco_running_sessions", "Sessions that are being measured");
  text += fmt::format("aaco_running_sessions {}\n", sessions.size());
  for (const SessionGauge& gauge : kSessionGauges) {
    bool first = true;
    for (const LiveSession& session : sessions) {
      const auto& value = session.*gauge.value;
      if (!value) continue;
      if (first) add_head(text, gauge.name, gauge.help);
      first = false;
      text += fmt::format("{}{{session=\"{}\",kind=\"{}\",workload=\"{}\"}} {}\n", gauge.name, label_value(session.id),
                          label_value(session.kind), label_value(session.what), *value * gauge.factor);
    }
  }
}

}  // namespace

Telemetry::Reading Telemetry::read() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = core::monotonic_ns();
  if (machine_ && now_ns - read_ns_ < kMinPeriod_ns) return last_;
  if (!machine_) machine_.emplace();
  last_ = {machine_->sample(), sessions_.read()};
  read_ns_ = now_ns;
  return last_;
}

report::LiveView Telemetry::view() {
  report::LiveView view;
  auto [machine, sessions] = read();
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> roots;
  for (const LiveSession& session : sessions) roots.push_back(session.process_id);
  view.machine = std::move(machine);
  view.sessions = std::move(sessions);
  view.processes = processes_.look(roots);
  return view;
}

core::Result<Response> get_now(const Call&, const Site& site) {
  if (site.telemetry == nullptr) return core::fail(core::ErrorCode::unsupported, "this server has no telemetry");
  return json_response(to_json(site.telemetry->view()));
}

std::string telemetry_text(const Telemetry::Reading& reading) {
  std::string text;
  for (const MachineGauge& gauge : kMachineGauges) {
    const auto& value = reading.machine.*gauge.value;
    if (!value) continue;
    add_head(text, gauge.name, gauge.help);
    text += fmt::format("{} {}\n", gauge.name, *value);
  }
  add_gpus(text, reading.machine.gpus);
  add_sessions(text, reading.sessions);
  return text;
}

}  // namespace aaco::server
