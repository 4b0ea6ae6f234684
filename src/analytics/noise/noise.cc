#include "analytics/noise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/numbers.h"
#include "stats/moments.h"
#include "stats/order_statistics.h"
#include "stats/summary.h"

namespace aaco::analytics::noise {
namespace {

using core::Json;

constexpr double kNormal = 1.4826;  // of the median distance, for a normal sample's standard deviation

// The level of the undisturbed blocks, and how they scatter about it.
struct Level {
  double value = 0, deviation = 0;
};

Level level_of(std::vector<double> values, bool low) {
  std::sort(values.begin(), values.end());
  Level level;
  level.value = stats::quantile_of_sorted(values, low ? 0.75 : 0.25);
  for (double& value : values) value = std::abs(value - level.value);
  std::sort(values.begin(), values.end());
  values.resize((values.size() + 1) / 2);
  level.deviation = kNormal * stats::quantile_of_sorted(values, 0.5);
  return level;
}

// Where the rule begins to speak; empty: nowhere.
std::optional<double> limit_of(const SensorRule& rule, const std::vector<double>& values) {
  std::optional<double> limit = rule.always;
  if (!rule.deviations || values.size() < kMinBlocks) return limit;
  const Level level = level_of(values, rule.low);
  const double reach = std::max(level.value * rule.least_ratio, *rule.deviations * level.deviation);
  if (rule.low) return level.value - std::max(reach, rule.floor);
  const double own = std::max(rule.floor, level.value + reach);
  return limit ? std::min(*limit, own) : own;
}

Statistics statistics_of(std::vector<double> durations) {
  Statistics out;
  out.iterations = static_cast<std::int64_t>(durations.size());
  if (durations.size() < 2) return out;
  const double mean = stats::mean_of(durations);
  if (mean > 0) out.cov_ratio = std::sqrt(stats::variance_of(durations)) / mean;
  std::sort(durations.begin(), durations.end());
  out.median_ns = stats::quantile_of_sorted(durations, 0.5);
  if (out.iterations >= stats::stated_count(0.99)) out.p99_ns = stats::quantile_of_sorted(durations, 0.99);
  return out;
}

Json to_json(const Statistics& statistics) {
  Json out = Json::object({{"iterations", statistics.iterations}});
  out.set_if("median_ns", statistics.median_ns).set_if("p99_ns", statistics.p99_ns).set_if("cov_ratio", statistics.cov_ratio);
  return out;
}

}  // namespace

std::vector<Mark> disturbed_blocks(const NoiseBook& book, std::span<const trace::LoopBlockRow> blocks,
                                   const trace::NameTable& names) {
  std::vector<const trace::LoopBlockRow*> plain;
  for (const auto& row : blocks)
    if (names.text(row.phase) == "measure" && row.call_count > 0) plain.push_back(&row);
  std::vector<Mark> marks(plain.size());
  for (const SensorRule& rule : book.rules()) {
    std::vector<double> values;
    for (const auto* row : plain)
      if (const auto value = sensor_value(rule.sensor, *row)) values.push_back(*value);
    const auto limit = limit_of(rule, values);
    if (!limit) continue;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto value = sensor_value(rule.sensor, *plain[i]);
      if (!value || (rule.low ? *value >= *limit : *value <= *limit)) continue;
      if (!marks[i].cause.empty()) {
        marks[i].also.push_back(rule.id);
        continue;
      }
      marks[i] = {plain[i]->block, rule.id, {}, *value, *limit};
    }
  }
  std::erase_if(marks, [](const Mark& mark) { return mark.cause.empty(); });
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.block < b.block; });
  return marks;
}

Account account_of(std::span<const Mark> marks, std::size_t blocks, std::span<const Call> calls) {
  Account account;
  account.blocks = static_cast<std::int64_t>(blocks);
  account.disturbed_blocks = static_cast<std::int64_t>(marks.size());
  std::set<std::int64_t> disturbed;
  for (const Mark& mark : marks) {
    ++account.causes[mark.cause];
    disturbed.insert(mark.block);
  }
  std::vector<double> all, quiet;
  for (const Call& call : calls) {
    all.push_back(call.duration_ns);
    if (!disturbed.contains(call.block)) quiet.push_back(call.duration_ns);
  }
  account.all = statistics_of(std::move(all));
  account.undisturbed = statistics_of(std::move(quiet));
  return account;
}

bool can_drop(const Account& account) { return account.undisturbed.iterations >= std::min(kFewestLeft, account.all.iterations); }

std::string to_text(const Account& account, const NoiseBook& book, std::string_view calls) {
  std::string text = std::to_string(account.disturbed_blocks) + " of " + std::to_string(account.blocks) + " blocks (" +
                     core::format_percent(account.disturbed_ratio()) + " of the " + std::string(calls) +
                     ") were affected by external load";
  std::vector<std::pair<std::int64_t, std::string>> causes;
  for (const auto& [id, count] : account.causes) causes.emplace_back(-count, book.title(id));
  std::sort(causes.begin(), causes.end());
  for (std::size_t i = 0; i < causes.size(); ++i)
    text += (i == 0 ? ": " : ", ") + causes[i].second + " (" + std::to_string(-causes[i].first) + ")";
  if (account.all.median_ns && account.undisturbed.median_ns)
    text += "; median " + core::format_duration(*account.all.median_ns) + " with these blocks, " +
            core::format_duration(*account.undisturbed.median_ns) + " without";
  return text;
}

Json to_json(const Account& account, std::span<const Mark> marks, const NoiseBook& book) {
  Json causes = Json::array(), list = Json::array();
  for (const auto& [id, count] : account.causes)
    causes.push(Json::object({{"cause", id}, {"title", book.title(id)}, {"blocks", count}}));
  for (const Mark& mark : marks) {
    Json also = Json::texts(mark.also);
    list.push(Json::object(
        {{"block", mark.block}, {"cause", mark.cause}, {"value", mark.value}, {"limit", mark.limit}, {"also", std::move(also)}}));
  }
  return Json::object({{"schema_version", 1},
                       {"blocks", account.blocks},
                       {"disturbed_blocks", account.disturbed_blocks},
                       {"disturbed_ratio", account.disturbed_ratio()},
                       {"causes", std::move(causes)},
                       {"all", to_json(account.all)},
                       {"undisturbed", to_json(account.undisturbed)},
                       {"marks", std::move(list)}});
}

}  // namespace aaco::analytics::noise
