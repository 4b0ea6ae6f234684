#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "core/clock.h"
#include "core/files.h"
#include "core/strings.h"
#include "hardware/probe.h"
#include "laboratory/benchmarks.h"
#include "workflows/devices/gpu_entry.h"
#include "workflows/hardware.h"

// What a GPU reaches: the measurements of `aaco benchmark --backend cuda` and hip, at the sizes where they are largest.
namespace aaco::workflows {
namespace {

using laboratory::BenchmarkCase;
using laboratory::CaseKind;

constexpr std::int64_t kVisitNs = 100'000'000;
constexpr std::int64_t kProduct = 8192;                          // m, n and k
constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 30;     // of a copy and of a read, less where the device has not so much
constexpr std::int64_t kTransferBytes = std::int64_t{64} << 20;  // from the host
constexpr std::int64_t kMinCacheBytes = std::int64_t{1} << 20;
constexpr std::int64_t kThreadsPerUnit = 2048, kRounds = 2048, kMultiplyAdds = 64;
constexpr const char* kTypes[] = {"float64", "float32", "tf32", "float16", "bfloat16", "float8", "int8"};

BenchmarkCase case_of(CaseKind kind, const std::string& op, const std::string& dtype, std::map<std::string, std::int64_t> sizes) {
  BenchmarkCase one;
  one.kind = kind;
  one.kernel = "probe";
  one.op = op;
  one.dtype = dtype;
  one.sizes = std::move(sizes);
  one.id = "probe " + op + dtype;
  return one;
}

class Prober {
 public:
  Prober(const laboratory::GpuProcess& process, const Services& services) : process_(process), services_(services) {
    suite_.name = "probe";
    suite_.visit_ns = kVisitNs;
  }

  // The shortest time of a call in seconds; empty, with a note, where it cannot be measured.
  core::Result<std::optional<double>> seconds(const BenchmarkCase& one, const std::string& what,
                                              std::vector<std::string>& notes) {
    services_.progress("measuring this GPU: " + what);
    laboratory::BenchmarkVisit visit;
    visit.one = one;
    if (const auto status = process_.visitor(suite_, visit); !status) {
      if (status.error().code == core::ErrorCode::cancelled) return tl::unexpected<core::Error>(status.error());
      notes.push_back(what + " not measured: " + status.error().message);
      return std::optional<double>();
    }
    return std::optional<double>(visit.lowest_ns * 1e-9);
  }

  core::Result<GpuReadings> measure() {
    GpuReadings readings;
    AACO_TRY(products(readings));
    AACO_TRY(lanes(readings));
    AACO_TRY(memory(readings));
    return readings;
  }

 private:
  core::Status products(GpuReadings& readings) {
    for (const char* dtype : kTypes) {
      const auto one = case_of(CaseKind::gemm, "", dtype, {{"batch", 1}, {"m", kProduct}, {"n", kProduct}, {"k", kProduct}});
      AACO_ASSIGN(const auto time, seconds(one, std::string("products of ") + dtype, readings.notes));
      if (time) readings.products[dtype] = 2 * std::pow(static_cast<double>(kProduct), 3) / *time;
    }
    return {};
  }

  core::Status lanes(GpuReadings& readings) {
    const std::int64_t threads = process_.facts.units.value_or(64) * kThreadsPerUnit;
    for (const char* dtype : {"float64", "float32", "float16", "bfloat16"}) {
      const auto one = case_of(CaseKind::vector, "fma", dtype, {{"rows", threads}, {"cols", kRounds}});
      AACO_ASSIGN(const auto time, seconds(one, std::string("multiply-adds of ") + dtype, readings.notes));
      const double pair = dtype == std::string_view("float64") || dtype == std::string_view("float32") ? 1 : 2;
      if (time) readings.lanes[dtype] = 2 * pair * static_cast<double>(threads * kRounds * kMultiplyAdds) / *time;
    }
    return {};
  }

  core::Status memory(GpuReadings& readings) {
    const std::int64_t bytes = std::min(kMemoryBytes, process_.facts.memory_bytes.value_or(kMemoryBytes) / 8);
    const auto rate = [&](const std::string& op, std::int64_t size, double moved, const std::string& what,
                          std::optional<double>& into) -> core::Status {
      const auto one = case_of(CaseKind::transfer, op, "float32", {{"bytes", size}, {"peer", 0}});
      AACO_ASSIGN(const auto time, seconds(one, what, readings.notes));
      if (time) into = moved * static_cast<double>(size) / *time;
      return {};
    };
    AACO_TRY(rate("d2d", bytes, 2, "memory bandwidth (copy)", readings.copy));
    AACO_TRY(rate("read", bytes, 1, "memory bandwidth (read)", readings.read));
    AACO_TRY(rate("h2d_pinned", kTransferBytes, 1, "the link to the host", readings.from_host));
    const std::int64_t cache = process_.facts.cache_bytes.value_or(0) / 2;
    if (cache >= kMinCacheBytes) AACO_TRY(rate("read", cache, 1, "L2 bandwidth", readings.cache));
    return {};
  }

  const laboratory::GpuProcess& process_;
  const Services& services_;
  laboratory::BenchmarkSuite suite_;
};

}  // namespace

core::Result<ProbeOutcome> probe_gpu(const ProbeRequest& request, const Services& services) {
  if (!request.dry_run)
    AACO_TRY(core::make_writable_folder(core::join_path(services.paths.registry, "hardware"), "AACO_REGISTRY"));
  static const std::atomic<bool> kNever{false};
  laboratory::GpuOptions options;
  options.runtime = request.backend == "hip" ? laboratory::GpuRuntime::hip : laboratory::GpuRuntime::cuda;
  options.device = request.gpu;
  options.worker = request.gpu_worker;
  options.stop = services.stop != nullptr ? services.stop : &kNever;
  AACO_ASSIGN(const auto process, laboratory::on_gpu(options));
  AACO_ASSIGN(const GpuReadings readings, Prober(process, services).measure());
  const std::string date = core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime)).substr(0, 10);
  ProbeOutcome outcome;
  outcome.device = entry_of(process.facts, readings, process.version, date);
  // A device that the registry has keeps its data sheet's figures: these stand beside them.
  if (const auto known = find_seen_gpu(process.facts, services); known && known->id != outcome.device.id) {
    outcome.known = beside_published(outcome.device, *known);
    return outcome;
  }
  return write_entry(std::move(outcome), request.dry_run, services);
}

}  // namespace aaco::workflows
