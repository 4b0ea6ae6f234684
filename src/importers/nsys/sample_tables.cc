#include "importers/database/sampled_metric.h"
#include "importers/nsys/reader.h"
#include "importers/stream/tokens.h"

// What the profiler sampled on the devices, and their memory.
namespace aaco::importers::nsys {
namespace {

constexpr std::int64_t kMaxSamples = 500'000;  // kept one by one: a trace at 10 kHz has millions a minute
constexpr std::size_t kMaxSeries = 10'000;     // metrics of all devices
constexpr std::size_t kMaxNames = 100'000;
constexpr std::int64_t kFree = 1;  // of CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType; 0 is an allocation

// Samples of one metric of one device that become one row.
struct Series {
  std::int64_t device = 0;
  trace::NameId name;
  double factor = 1, sum = 0;
  std::int64_t count = 0, last_ns = 0;
};

}  // namespace

// The lowest byte of a type is the number of the device.
core::Status Reader::read_metrics() {
  const auto offered = scan_.database().count("GPU_METRICS");
  if (!offered || *offered == 0) return {};
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;  // by type (-1: any) and metric
  AACO_TRY(scan_.table("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, [&](const Rows& row) {
    if (row.integer(1) && names.size() < kMaxNames)
      names.try_emplace({row.integer(0).value_or(-1), *row.integer(1)}, clean_utf8(row.text(2).substr(0, 256)));
  }));
  const std::int64_t together = (*offered + kMaxSamples - 1) / kMaxSamples;
  const trace::NameId source = sink_.name("nsys.gpu_metrics");
  std::map<std::pair<std::int64_t, std::int64_t>, Series> series;
  const auto flush = [&](Series& one) {
    if (one.count == 0) return;
    sink_.add(
        trace::GpuEventRow{0, one.last_ns, one.device, one.name, source, one.factor * one.sum / static_cast<double>(one.count)});
    one.sum = 0, one.count = 0;
  };
  AACO_TRY(scan_.table("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, [&](const Rows& row) {
    const auto time = row.integer(0);
    const auto value = row.real(3);
    if (!time || *time < 0) return scan_.account().drop(kRowWithoutTimes);
    if (!value || !row.integer(2)) return scan_.account().drop("GPU metric sample without a numeric value");
    const std::pair key(row.integer(1).value_or(-1), *row.integer(2));
    const auto place = series.find(key);
    if (place == series.end() && series.size() >= kMaxSeries) return scan_.account().drop("GPU metric limit reached");
    Series& one = place == series.end() ? series[key] : place->second;
    if (place == series.end()) {
      auto name = names.find(key);
      if (name == names.end()) name = names.find({-1, key.second});
      const SampledMetric metric =
          sampled_metric("gpu.", name == names.end() ? "metric " + std::to_string(key.second) : name->second);
      one.device = key.first < 0 ? 0 : key.first & 0xFF;
      one.name = sink_.name(metric.name);
      one.factor = metric.factor;
    }
    scan_.account().keep();
    one.last_ns = *time;
    one.sum += *value;
    if (++one.count >= together) flush(one);
  }));
  for (auto& [key, one] : series) flush(one);
  if (together > 1)
    scan_.account().notes.push_back(std::to_string(*offered) + " GPU metric samples: each row is the mean of " +
                                    std::to_string(together) + " consecutive samples of a metric");
  return {};
}

core::Status Reader::read_allocations() {
  const trace::NameId domain = sink_.name("memory_allocation");
  const trace::NameId allocation = sink_.name("ALLOC"), release = sink_.name("FREE");
  BoundedTexts arguments(sink_);
  AACO_TRY(scan_.table("CUDA_GPU_MEMORY_USAGE_EVENTS", {"start", "globalPid", "deviceId", "bytes", "memoryOperationType"},
                       [&](const Rows& row) {
                         const auto span = scan_.span(row, 0, 0);
                         if (!span) return;
                         trace::ApiCallRow call;
                         call.start_ns = call.end_ns = span->start_ns;
                         call.domain = domain;
                         call.name = row.integer(4).value_or(0) == kFree ? release : allocation;
                         core::Json what = core::Json::object();
                         what.set_if("agent", core::Json(row.integer(2)));
                         if (const auto bytes = row.integer(3); bytes && *bytes > 0) what.set("bytes", *bytes);
                         if (!what.members().empty()) call.arguments = arguments.name(what.dump(-1));
                         add_call(call, row.integer(1));
                       }));
  if (arguments.left_out() > 0)
    scan_.account().notes.push_back("sizes of " + std::to_string(arguments.left_out()) +
                                    " allocations were dropped: too many distinct values");
  return {};
}

}  // namespace aaco::importers::nsys
