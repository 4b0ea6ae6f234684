#include <algorithm>

#include "report/live.h"

namespace aaco::report {
namespace {

using core::Json;

constexpr std::size_t kMaxShown = 1024;  // of a list that another machine sent

std::string text_in(const Json& json, std::string_view key) { return std::string(json[key].text()); }
std::int64_t whole_in(const Json& json, std::string_view key) { return json[key].as_i64().value_or(0); }

template <class Item, class Read>
void read_list(const Json& list, std::vector<Item>& into, Read read) {
  if (!list.is_array()) return;
  for (const Json& one : list.items())
    if (into.size() < kMaxShown) into.push_back(read(one));
}

LiveGpu gpu_of(const Json& json) {
  LiveGpu gpu;
  gpu.device = whole_in(json, "device");
  gpu.use_ratio = json["use_ratio"].as_f64();
  gpu.memory_used_bytes = json["memory_used_bytes"].as_f64();
  gpu.memory_total_bytes = json["memory_total_bytes"].as_f64();
  gpu.power_watts = json["power_watts"].as_f64();
  gpu.power_cap_watts = json["power_cap_watts"].as_f64();
  gpu.temperature_celsius = json["temperature_celsius"].as_f64();
  gpu.clock_hz = json["clock_hz"].as_f64();
  read_list(json["throttled"], gpu.throttled, [](const Json& one) { return std::string(one.text()); });
  return gpu;
}

LiveMachine machine_of(const Json& json) {
  LiveMachine machine;
  machine.time_ns = whole_in(json, "time_ns");
  machine.name = text_in(json, "name");
  machine.cpu_use_ratio = json["cpu_use_ratio"].as_f64();
  machine.cpu_user_ratio = json["cpu_user_ratio"].as_f64();
  machine.cpu_system_ratio = json["cpu_system_ratio"].as_f64();
  machine.cpu_iowait_ratio = json["cpu_iowait_ratio"].as_f64();
  read_list(json["core_use_ratios"], machine.core_use_ratios, [](const Json& one) { return one.as_f64(); });
  machine.cpu_clock_hz = json["cpu_clock_hz"].as_f64();
  machine.cpu_power_watts = json["cpu_power_watts"].as_f64();
  machine.cpu_temperature_celsius = json["cpu_temperature_celsius"].as_f64();
  machine.cpu_wait_ratio = json["cpu_wait_ratio"].as_f64();
  machine.memory_wait_ratio = json["memory_wait_ratio"].as_f64();
  machine.io_wait_ratio = json["io_wait_ratio"].as_f64();
  machine.memory_available_bytes = json["memory_available_bytes"].as_f64();
  machine.memory_total_bytes = json["memory_total_bytes"].as_f64();
  machine.load_1min = json["load_1min"].as_f64();
  read_list(json["gpus"], machine.gpus, gpu_of);
  return machine;
}

LiveProcess process_of(const Json& json) {
  LiveProcess process;
  process.id = whole_in(json, "process_id");
  process.parent = whole_in(json, "parent");
  process.depth = static_cast<int>(std::clamp<std::int64_t>(whole_in(json, "depth"), 0, 64));
  process.name = text_in(json, "name");
  process.cpu_cores = json["cpu_cores"].as_f64();
  process.wait_ratio = json["wait_ratio"].as_f64();
  process.resident_bytes = json["resident_bytes"].as_f64().value_or(0);
  process.threads = whole_in(json, "threads");
  return process;
}

LiveBucket bucket_of(const Json& json) {
  LiveBucket bucket;
  bucket.number = whole_in(json, "number");
  bucket.time_ns = whole_in(json, "time_ns");
  bucket.count = whole_in(json, "count");
  bucket.min_ns = json["min_ns"].as_f64().value_or(0);
  bucket.p50_ns = json["p50_ns"].as_f64().value_or(0);
  bucket.p90_ns = json["p90_ns"].as_f64();
  bucket.p99_ns = json["p99_ns"].as_f64();
  bucket.max_ns = json["max_ns"].as_f64().value_or(0);
  return bucket;
}

LiveSession session_of(const Json& json) {
  LiveSession session;
  session.id = text_in(json, "session");
  session.kind = text_in(json, "kind");
  session.what = text_in(json, "what");
  session.tag = text_in(json, "tag");
  session.phase = text_in(json, "phase");
  session.started = text_in(json, "started");
  session.started_ns = whole_in(json, "started_ns");
  session.process_id = whole_in(json, "process_id");
  session.iterations = whole_in(json, "iterations");
  session.median_ns = json["median_ns"].as_f64();
  session.median_low_ns = json["median_low_ns"].as_f64();
  session.median_high_ns = json["median_high_ns"].as_f64();
  session.done_ratio = json["done_ratio"].as_f64();
  session.left_s = json["left_s"].as_f64();
  read_list(json["buckets"], session.buckets, bucket_of);
  return session;
}

}  // namespace

core::Result<LiveView> live_view_from_json(const Json& document) {
  if (!document.is_object() || !document["machine"].is_object() || document["schema_version"].as_i64() != 1)
    return core::fail(core::ErrorCode::invalid_input, "the answer is not a live view of AACO");
  LiveView view;
  view.title = text_in(document, "replay");
  view.machine = machine_of(document["machine"]);
  read_list(document["processes"], view.processes, process_of);
  read_list(document["sessions"], view.sessions, session_of);
  return view;
}

}  // namespace aaco::report
