#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

// The noise sentinel: which blocks of a measuring loop were affected by external load, by kernel counters. The
// latency itself is never used: dropping slow blocks would make every run look fast.
namespace aaco::analytics::noise {

// Environment sensors of a block: throttled_ratio, thermal_per_second, steal_cores, clock_hz, others_cores, wait_ratio,
// memory_some_ratio, io_some_ratio, cpu_some_ratio, involuntary_per_second, interrupts_per_second, softirqs_per_second. All are
// rates over the block's wall time, so that a slow block is not noisy just because it is long. Empty: not measured, or no such
// sensor.
std::optional<double> sensor_value(std::string_view sensor, const trace::LoopBlockRow& block);
bool is_sensor(std::string_view sensor);

struct SensorRule {
  std::string id, title, sensor;
  bool low = false;  // disturbed below the level instead of above
  double floor = 0, least_ratio = 0;
  std::optional<double> deviations, always;
};

// data/rules/noise.yaml, the most specific sensor first: the first that triggers names the cause.
class NoiseBook {
 public:
  static core::Result<NoiseBook> load(const std::string& path);
  [[nodiscard]] const std::vector<SensorRule>& rules() const { return rules_; }
  [[nodiscard]] std::string title(std::string_view id) const;

 private:
  std::vector<SensorRule> rules_;
};

inline constexpr std::size_t kMinBlocks = 8;  // with fewer blocks a run has no own level: only `always` applies

struct Mark {
  std::int64_t block = 0;
  std::string cause;              // id of the first rule that triggered
  std::vector<std::string> also;  // other rules that triggered
  double value = 0, limit = 0;    // of the first
  bool operator==(const Mark&) const = default;
};
// The disturbed blocks of the plain measurement (phase "measure") in order.
std::vector<Mark> disturbed_blocks(const NoiseBook& book, std::span<const trace::LoopBlockRow> blocks,
                                   const trace::NameTable& names);

// Statistics of a series with and without its disturbed part.
struct Statistics {
  std::int64_t iterations = 0;
  std::optional<double> median_ns, p99_ns, cov_ratio;  // empty without enough values
};

struct Account {
  std::int64_t blocks = 0, disturbed_blocks = 0;
  std::map<std::string, std::int64_t> causes;  // disturbed blocks by first triggered rule
  Statistics all, undisturbed;
  [[nodiscard]] double disturbed_ratio() const {
    return all.iterations == 0 ? 0 : 1 - static_cast<double>(undisturbed.iterations) / static_cast<double>(all.iterations);
  }
};
// One measured call: its block and duration.
struct Call {
  std::int64_t block = 0;
  double duration_ns = 0;
};
Account account_of(std::span<const Mark> marks, std::size_t blocks, std::span<const Call> calls);

inline constexpr std::int64_t kFewestLeft = 20;  // iterations: minimum left after dropping disturbed ones
// Whether enough iterations remain without the disturbed ones.
bool can_drop(const Account& account);
// "12 of 80 blocks (15.0 % of the iterations) were affected by external load: run-queue wait (9), ...; median 3.2 ms with
// them, 3.1 ms without"; `calls` is what the iterations are called.
std::string to_text(const Account& account, const NoiseBook& book, std::string_view calls = "iterations");
core::Json to_json(const Account& account, std::span<const Mark> marks, const NoiseBook& book);

}  // namespace aaco::analytics::noise
