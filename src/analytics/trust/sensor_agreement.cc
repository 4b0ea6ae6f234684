#include "analytics/sensor_agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

namespace aaco::analytics::trust {
namespace {

constexpr std::string_view kEnergy = "gpu.energy_joules";
constexpr std::string_view kPower = "gpu.power_watts";

constexpr Tolerance kTolerances[] = {
    {"gpu.power_watts", 0.10, 5},         // boards' sensors claim 5 %, and average over up to a second
    {"gpu.use_ratio", 0, 0.15},           // percent of sampling windows of their own
    {"gpu.memory_use_ratio", 0, 0.15},    //
    {"gpu.temperature_celsius", 0, 5},    //
    {"gpu.clock_hz", 0.10, 50e6},         //
    {"gpu.memory_clock_hz", 0.05, 50e6},  //
    {"gpu.energy_joules", 0.10, 5},       // as mean power, W
    {"gpu.pcie_width_lanes", 0, 0.5},     //
    {"gpu.pcie_replays_count", 0, 10},    //
};

struct Reading {
  std::int64_t time_ns = 0;
  double value = 0;
};
using Series = std::vector<Reading>;
using Sensors = std::map<std::string_view, Series>;  // by source

const Tolerance* tolerance_of(std::string_view metric) {
  const auto found =
      std::find_if(std::begin(kTolerances), std::end(kTolerances), [&](const Tolerance& one) { return one.metric == metric; });
  return found == std::end(kTolerances) ? nullptr : found;
}

const Reading& nearest(const Series& series, std::int64_t time_ns) {
  const auto after = std::lower_bound(series.begin(), series.end(), time_ns,
                                      [](const Reading& reading, std::int64_t time) { return reading.time_ns < time; });
  if (after == series.begin()) return *after;
  if (after == series.end()) return series.back();
  const auto before = after - 1;
  return time_ns - before->time_ns <= after->time_ns - time_ns ? *before : *after;
}

// The steps of an energy counter as the mean power of each, at the middle of the step. A step back (a reset) is left out.
Series power_of(const Series& energy) {
  Series power;
  for (std::size_t i = 1; i < energy.size(); ++i) {
    const std::int64_t length = energy[i].time_ns - energy[i - 1].time_ns;
    if (length <= 0 || energy[i].value < energy[i - 1].value) continue;
    power.push_back(
        {energy[i - 1].time_ns + length / 2, (energy[i].value - energy[i - 1].value) / (static_cast<double>(length) * 1e-9)});
  }
  return power;
}

SensorAgreement::Verdict verdict_of(const SensorAgreement& one) {
  if (one.pairs < kMinPairs) return SensorAgreement::Verdict::undecided;
  const double distance = std::abs(one.difference);
  const double scatter = kStandardErrors * one.standard_error;
  if (distance - scatter > one.tolerance) return SensorAgreement::Verdict::disagree;
  return distance + scatter <= one.tolerance ? SensorAgreement::Verdict::agree : SensorAgreement::Verdict::undecided;
}

void compare_series(const Series& a, const Series& b, const Tolerance& tolerance, SensorAgreement& into) {
  const bool a_is_sparser = a.size() <= b.size();
  const Series& sparse = a_is_sparser ? a : b;
  const Series& dense = a_is_sparser ? b : a;
  double sum_a = 0, sum_b = 0, squares = 0;
  for (const Reading& reading : sparse) {
    if (dense.empty()) break;
    const Reading& other = nearest(dense, reading.time_ns);
    if (std::abs(other.time_ns - reading.time_ns) > kNearestNs) continue;
    const double value_a = a_is_sparser ? reading.value : other.value;
    const double value_b = a_is_sparser ? other.value : reading.value;
    sum_a += value_a;
    sum_b += value_b;
    squares += (value_a - value_b) * (value_a - value_b);
    ++into.pairs;
  }
  if (into.pairs == 0) return;
  const double n = static_cast<double>(into.pairs);
  into.mean_a = sum_a / n;
  into.mean_b = sum_b / n;
  into.difference = into.mean_a - into.mean_b;
  into.standard_error = std::sqrt(std::max(0.0, squares / n - into.difference * into.difference) / n);
  into.tolerance = std::max(tolerance.share * (std::abs(into.mean_a) + std::abs(into.mean_b)) / 2, tolerance.floor);
  into.verdict = verdict_of(into);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

std::span<const Tolerance> tolerances() { return kTolerances; }

std::vector<SensorAgreement> compare_sensors(std::span<const trace::GpuEventRow> rows, const trace::NameTable& names) {
  std::map<std::pair<std::int64_t, std::string_view>, Sensors> quantities;  // by device and metric
  for (const trace::GpuEventRow& row : rows)
    if (const std::string_view metric = names.text(row.metric); std::isfinite(row.value) && tolerance_of(metric) != nullptr)
      quantities[{row.device, metric}][names.text(row.source)].push_back({row.time_ns, row.value});
  for (auto& [quantity, sensors] : quantities)
    for (auto& [source, series] : sensors)
      std::sort(series.begin(), series.end(), [](const Reading& x, const Reading& y) { return x.time_ns < y.time_ns; });

  std::vector<SensorAgreement> agreements;
  const auto compare = [&](const auto& quantity, const auto& a, const auto& b, const Series& series_a, const Series& series_b) {
    SensorAgreement agreement{
        .device = quantity.first, .metric = std::string(quantity.second), .source_a = std::string(a), .source_b = std::string(b)};
    compare_series(series_a, series_b, *tolerance_of(quantity.second), agreement);
    agreements.push_back(std::move(agreement));
  };
  for (const auto& [quantity, sensors] : quantities) {
    if (quantity.second == kEnergy) {
      const auto power = quantities.find({quantity.first, kPower});
      if (power == quantities.end()) continue;
      for (const auto& [counter, energy] : sensors)
        for (const auto& [sensor, watts] : power->second) compare(quantity, counter, sensor, power_of(energy), watts);
      continue;
    }
    for (auto a = sensors.begin(); a != sensors.end(); ++a)
      for (auto b = std::next(a); b != sensors.end(); ++b) compare(quantity, a->first, b->first, a->second, b->second);
  }
  return agreements;
}

std::vector<SensorTrust> sensor_trust(const std::vector<SensorAgreement>& agreements) {
  std::map<std::tuple<std::int64_t, std::string, std::string>, SensorTrust> sensors;
  const auto count = [&](const SensorAgreement& one, const std::string& metric, const std::string& source) {
    SensorTrust& trust = sensors[{one.device, metric, source}];
    trust.device = one.device;
    trust.metric = metric;
    trust.source = source;
    if (one.verdict == SensorAgreement::Verdict::undecided) {
      ++trust.undecided;
      return;
    }
    ++(one.verdict == SensorAgreement::Verdict::agree ? trust.agreed : trust.disagreed);
    const double distance = std::abs(one.difference);
    trust.score = trust.score.value_or(0) + (distance <= one.tolerance ? 1 : one.tolerance / distance);
  };
  for (const SensorAgreement& one : agreements) {
    count(one, one.metric, one.source_a);
    count(one, one.metric == kEnergy ? std::string(kPower) : one.metric, one.source_b);
  }
  std::vector<SensorTrust> out;
  for (auto& [key, trust] : sensors) {
    if (trust.score) *trust.score /= static_cast<double>(trust.agreed + trust.disagreed);
    out.push_back(std::move(trust));
  }
  return out;
}

std::optional<trace::Warning> disagreement_warning(const std::vector<SensorAgreement>& agreements) {
  std::string what;
  for (const SensorAgreement& one : agreements) {
    if (one.verdict != SensorAgreement::Verdict::disagree) continue;
    what += (what.empty() ? "" : "; ") + one.metric + " of GPU " + std::to_string(one.device) + ": " + one.source_a +
            " reports " + number(one.mean_a) + ", " + one.source_b + " reports " + number(one.mean_b) +
            (one.metric == kEnergy ? " (as power, W)" : "");
  }
  if (what.empty()) return std::nullopt;
  return trace::Warning{"telemetry.sensors_disagree",
                        "sensors measuring the same quantity disagree; at least one is wrong: " + what,
                        "check them against an external meter or another driver version before relying on either"};
}

}  // namespace aaco::analytics::trust
