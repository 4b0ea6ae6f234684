#include "report/live.h"

namespace aaco::report {

using core::Json;

namespace {

Json gpu_json(const LiveGpu& gpu) {
  return Json::object({{"device", gpu.device},
                       {"use_ratio", Json(gpu.use_ratio)},
                       {"memory_used_bytes", Json(gpu.memory_used_bytes)},
                       {"memory_total_bytes", Json(gpu.memory_total_bytes)},
                       {"power_watts", Json(gpu.power_watts)},
                       {"power_cap_watts", Json(gpu.power_cap_watts)},
                       {"temperature_celsius", Json(gpu.temperature_celsius)},
                       {"clock_hz", Json(gpu.clock_hz)},
                       {"throttled", Json::texts(gpu.throttled)}});
}

}  // namespace

Json to_json(const LiveMachine& machine) {
  Json cores = Json::array();
  for (const auto& use : machine.core_use_ratios) cores.push(Json(use));
  Json gpus = Json::array();
  for (const LiveGpu& gpu : machine.gpus) gpus.push(gpu_json(gpu));
  return Json::object({{"time_ns", machine.time_ns},
                       {"name", machine.name},
                       {"cpu_use_ratio", Json(machine.cpu_use_ratio)},
                       {"cpu_user_ratio", Json(machine.cpu_user_ratio)},
                       {"cpu_system_ratio", Json(machine.cpu_system_ratio)},
                       {"cpu_iowait_ratio", Json(machine.cpu_iowait_ratio)},
                       {"core_use_ratios", std::move(cores)},
                       {"cpu_clock_hz", Json(machine.cpu_clock_hz)},
                       {"cpu_power_watts", Json(machine.cpu_power_watts)},
                       {"cpu_temperature_celsius", Json(machine.cpu_temperature_celsius)},
                       {"cpu_wait_ratio", Json(machine.cpu_wait_ratio)},
                       {"memory_wait_ratio", Json(machine.memory_wait_ratio)},
                       {"io_wait_ratio", Json(machine.io_wait_ratio)},
                       {"memory_available_bytes", Json(machine.memory_available_bytes)},
                       {"memory_total_bytes", Json(machine.memory_total_bytes)},
                       {"load_1min", Json(machine.load_1min)},
                       {"gpus", std::move(gpus)}});
}

Json to_json(const LiveProcess& process) {
  return Json::object({{"process_id", process.id},
                       {"parent", process.parent},
                       {"depth", process.depth},
                       {"name", process.name},
                       {"cpu_cores", Json(process.cpu_cores)},
                       {"wait_ratio", Json(process.wait_ratio)},
                       {"resident_bytes", process.resident_bytes},
                       {"threads", process.threads}});
}

Json to_json(const LiveBucket& bucket) {
  return Json::object({{"number", bucket.number},
                       {"time_ns", bucket.time_ns},
                       {"count", bucket.count},
                       {"min_ns", bucket.min_ns},
                       {"p50_ns", bucket.p50_ns},
                       {"p90_ns", Json(bucket.p90_ns)},
                       {"p99_ns", Json(bucket.p99_ns)},
                       {"max_ns", bucket.max_ns}});
}

Json to_json(const LiveSession& session, std::int64_t first) {
  Json buckets = Json::array();
  for (const LiveBucket& bucket : session.buckets)
    if (bucket.number >= first) buckets.push(to_json(bucket));
  return Json::object({{"session", session.id},
                       {"kind", session.kind},
                       {"what", session.what},
                       {"tag", session.tag},
                       {"phase", session.phase},
                       {"started", session.started},
                       {"started_ns", session.started_ns},
                       {"process_id", session.process_id},
                       {"iterations", session.iterations},
                       {"median_ns", Json(session.median_ns)},
                       {"median_low_ns", Json(session.median_low_ns)},
                       {"median_high_ns", Json(session.median_high_ns)},
                       {"done_ratio", Json(session.done_ratio)},
                       {"left_s", Json(session.left_s)},
                       {"buckets", std::move(buckets)}});
}

Json to_json(const LiveView& view) {
  Json processes = Json::array();
  for (const LiveProcess& process : view.processes) processes.push(to_json(process));
  Json sessions = Json::array();
  for (const LiveSession& session : view.sessions) sessions.push(to_json(session, 0));
  return Json::object({{"schema_version", 1},
                       {"replay", view.title.empty() ? Json() : Json(view.title)},
                       {"machine", to_json(view.machine)},
                       {"processes", std::move(processes)},
                       {"sessions", std::move(sessions)}});
}

}  // namespace aaco::report
