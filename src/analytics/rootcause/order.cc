#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analytics/change_order.h"
#include "core/numbers.h"
#include "stats/robust.h"
#include "trace/kernel_name.h"

namespace aaco::analytics::rootcause {
namespace {

using trace::LoopBlockRow;

constexpr std::size_t kMinBlocks = 4;
constexpr double kDeviations = 4;    // beyond A's median, of A's robust deviations
constexpr double kMinChange = 0.05;  // of A's median, where A scatters by less
constexpr double kPersists = 0.6;    // of the blocks from there on

struct Signal {
  std::string_view id;
  double floor;  // a change below this is none, in the signal's unit
  std::optional<double> (*value)(const LoopBlockRow&);
};

double wall(const LoopBlockRow& row) { return static_cast<double>(row.end_ns - row.start_ns); }

std::optional<double> ratio(const std::optional<std::int64_t>& ns, const LoopBlockRow& row) {
  if (!ns || !(wall(row) > 0)) return std::nullopt;
  return static_cast<double>(*ns) / wall(row);
}
std::optional<double> rate(const std::optional<std::int64_t>& count, const LoopBlockRow& row) {
  if (!count || !(wall(row) > 0)) return std::nullopt;
  return static_cast<double>(*count) * 1e9 / wall(row);
}

constexpr std::array kSignals = {
    Signal{"call_ns", 0,
           [](const LoopBlockRow& row) {
             return row.call_count > 0 ? std::optional(wall(row) / static_cast<double>(row.call_count)) : std::nullopt;
           }},
    Signal{"caller.wait_ratio", 0.02, [](const LoopBlockRow& row) { return ratio(row.caller_wait_ns, row); }},
    Signal{"caller.cpu_ratio", 0.05, [](const LoopBlockRow& row) { return ratio(row.caller_cpu_ns, row); }},
    Signal{"process.system_ratio", 0.02, [](const LoopBlockRow& row) { return ratio(row.process_system_ns, row); }},
    Signal{"cgroup.throttled_ratio", 0.01, [](const LoopBlockRow& row) { return ratio(row.throttled_ns, row); }},
    Signal{"others.cpu_use_cores", 0.1,
           [](const LoopBlockRow& row) -> std::optional<double> {
             const auto& busy = row.allowed_busy_ns ? row.allowed_busy_ns : row.machine_busy_ns;
             if (!busy || !row.process_cpu_ns) return std::nullopt;
             return ratio(std::max<std::int64_t>(0, *busy - *row.process_cpu_ns), row);
           }},
    Signal{"faults_per_second", 100,
           [](const LoopBlockRow& row) -> std::optional<double> {
             if (!row.minor_faults) return std::nullopt;
             return rate(*row.minor_faults + row.major_faults.value_or(0), row);
           }},
    Signal{"migrations_per_second", 20, [](const LoopBlockRow& row) { return rate(row.migrations, row); }},
    Signal{"storage.bytes_per_second", 1e6, [](const LoopBlockRow& row) { return rate(row.storage_bytes, row); }},
    Signal{"interrupts_per_second", 500, [](const LoopBlockRow& row) { return rate(row.interrupts, row); }},
    Signal{"steal_ratio", 0.02, [](const LoopBlockRow& row) { return ratio(row.steal_ns, row); }},
};

// Blocks without telemetry, in order.
std::vector<LoopBlockRow> plain(std::span<const LoopBlockRow> rows, const trace::NameTable& names) {
  std::vector<LoopBlockRow> blocks;
  for (const LoopBlockRow& row : rows)
    if (names.text(row.phase) == "measure" && row.end_ns > row.start_ns) blocks.push_back(row);
  std::stable_sort(blocks.begin(), blocks.end(), [](const auto& x, const auto& y) { return x.start_ns < y.start_ns; });
  return blocks;
}

std::vector<double> values_of(const Signal& signal, const std::vector<LoopBlockRow>& blocks) {
  std::vector<double> values;
  for (const LoopBlockRow& row : blocks)
    if (const auto value = signal.value(row)) values.push_back(*value);
  return values.size() == blocks.size() ? values : std::vector<double>();
}

struct Found {
  Deviation deviation;
  double distance = 0;  // in reaches
};

std::optional<Found> deviation_of(const Signal& signal, const std::vector<LoopBlockRow>& a, const std::vector<LoopBlockRow>& b) {
  const auto before = values_of(signal, a), after = values_of(signal, b);
  if (before.empty() || after.empty()) return std::nullopt;
  const double middle = stats::median(before);
  const double reach = std::max({kDeviations * stats::robust_deviation(before), kMinChange * std::abs(middle), signal.floor});
  if (!(reach > 0)) return std::nullopt;
  for (const double sign : {1.0, -1.0}) {
    std::size_t beyond = 0;  // of the blocks from i on
    std::optional<std::size_t> first;
    for (std::size_t i = after.size(); i-- > 0;) {
      const bool out = sign * (after[i] - middle) > reach;
      beyond += out ? 1 : 0;
      if (out && static_cast<double>(beyond) >= kPersists * static_cast<double>(after.size() - i) && beyond >= 2) first = i;
    }
    if (!first) continue;
    const double level = stats::median(std::vector<double>(after.begin() + static_cast<std::ptrdiff_t>(*first), after.end()));
    return Found{{std::string(signal.id), b[*first].start_ns - b.front().start_ns, middle, level},
                 std::abs(level - middle) / reach};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Deviation> order_of_changes(std::span<const LoopBlockRow> a, std::span<const LoopBlockRow> b,
                                        const trace::NameTable& names_a, const trace::NameTable& names_b) {
  const auto blocks_a = plain(a, names_a), blocks_b = plain(b, names_b);
  if (blocks_a.size() < kMinBlocks || blocks_b.size() < kMinBlocks) return {};
  std::vector<Found> found;
  for (const Signal& signal : kSignals)
    if (auto one = deviation_of(signal, blocks_a, blocks_b)) found.push_back(std::move(*one));
  std::stable_sort(found.begin(), found.end(), [](const Found& x, const Found& y) {
    return std::pair(x.deviation.since_ns, -x.distance) < std::pair(y.deviation.since_ns, -y.distance);
  });
  std::vector<Deviation> order;
  for (Found& one : found) order.push_back(std::move(one.deviation));
  return order;
}

std::vector<Moment> chain_of_longest(std::span<const trace::GapRow> gaps, const trace::NameTable& names) {
  const trace::GapRow* longest = nullptr;
  for (const trace::GapRow& gap : gaps)
    if (gap.launch_start_ns && gap.launch_end_ns &&
        (longest == nullptr || gap.end_ns - gap.start_ns > longest->end_ns - longest->start_ns))
      longest = &gap;
  if (longest == nullptr) return {};
  const trace::GapRow& gap = *longest;
  const auto name = [&](trace::NameId id) { return trace::short_kernel_name(names.text(id)).substr(0, 80); };
  std::vector<Moment> chain;
  if (gap.evidence_start_ns && gap.evidence_end_ns) {
    chain.push_back({*gap.evidence_start_ns - gap.start_ns, "the host enters " + name(gap.evidence)});
    chain.push_back({*gap.evidence_end_ns - gap.start_ns, "the host leaves " + name(gap.evidence)});
  }
  chain.push_back({0, "the device runs out of work after " + name(gap.previous)});
  chain.push_back({*gap.launch_start_ns - gap.start_ns, "the host starts launching " + name(gap.next)});
  chain.push_back({*gap.launch_end_ns - gap.start_ns, "the launch returns"});
  chain.push_back({gap.end_ns - gap.start_ns,
                   fmt::format("{} runs: the device was idle for {} ({})", name(gap.next),
                               core::format_duration(static_cast<double>(gap.end_ns - gap.start_ns)), names.text(gap.cause))});
  std::stable_sort(chain.begin(), chain.end(), [](const Moment& x, const Moment& y) { return x.at_ns < y.at_ns; });
  return chain;
}

core::Json to_json(const std::vector<Deviation>& order) {
  core::Json out = core::Json::array();
  for (const Deviation& one : order)
    out.push(core::Json::object(
        {{"signal", one.signal}, {"since_ns", one.since_ns}, {"baseline", one.before}, {"candidate", one.after}}));
  return out;
}

core::Json to_json(const std::vector<Moment>& chain) {
  core::Json out = core::Json::array();
  for (const Moment& one : chain) out.push(core::Json::object({{"at_ns", one.at_ns}, {"what", one.what}}));
  return out;
}

}  // namespace aaco::analytics::rootcause
