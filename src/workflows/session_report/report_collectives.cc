#include <algorithm>
#include <map>
#include <tuple>

#include "analytics/collectives.h"
#include "tracelake/lake.h"
#include "workflows/session_report/report_rates.h"

namespace aaco::workflows {
namespace {

using report::Collectives;
using CallRow = trace::CollectiveCallRow;

constexpr std::size_t kListedCollectives = 50;  // ranks and operations each; the table has all

// Sums of one kind that become its bandwidth.
struct Rated {
  double bytes = 0, seconds = 0;
  bool transfer = false, duration = false;
};

class CollectiveSummary {
 public:
  explicit CollectiveSummary(const trace::NameTable& names) : names_(names) {}

  void add(const CallRow& row) {
    ++section_.call_count;
    const std::string operation(names_.text(row.operation));
    add_kind(row, operation);
    if (row.instance < 0) return;
    ++section_.matched_count;
    if (!row.wait_ns) return;
    Collectives::Rank& rank = ranks_[{row.rank, operation}];
    rank.rank = row.rank;
    rank.operation = operation;
    ++rank.count;
    rank.time_ns += row.end_ns - row.start_ns;
    rank.wait_ns += *row.wait_ns;
    if (*row.wait_ns == 0) ++rank.last_count;
    add_call(row, operation);
  }

  Collectives finish() {
    for (auto& [key, kind] : kinds_) {
      finish_kind(kind, rated_[key]);
      section_.kinds.push_back(std::move(kind));
    }
    std::stable_sort(section_.kinds.begin(), section_.kinds.end(),
                     [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
    for (auto& [key, rank] : ranks_) section_.ranks.push_back(std::move(rank));
    std::stable_sort(section_.ranks.begin(), section_.ranks.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.rank, -a.wait_ns) < std::tuple(b.rank, -b.wait_ns);
    });
    for (auto& [instance, call] : calls_)
      if (call.wait_sum_ns > 0) section_.worst.push_back(std::move(call));
    std::stable_sort(section_.worst.begin(), section_.worst.end(),
                     [](const auto& a, const auto& b) { return a.wait_sum_ns > b.wait_sum_ns; });
    if (section_.ranks.size() > kListedCollectives) section_.ranks.resize(kListedCollectives);
    if (section_.worst.size() > kListedCollectives) section_.worst.resize(kListedCollectives);
    return std::move(section_);
  }

 private:
  using KindKey = std::pair<std::string, std::int64_t>;  // operation, group size (-1: unknown)

  void add_kind(const CallRow& row, const std::string& operation) {
    const KindKey key{operation, row.group_size.value_or(-1)};
    Collectives::Kind& kind = kinds_[key];
    kind.operation = operation;
    kind.group_size = row.group_size;
    ++kind.count;
    kind.time_ns += row.end_ns - row.start_ns;
    if (row.wait_ns) kind.wait_ns = kind.wait_ns.value_or(0) + *row.wait_ns;
    if (row.data_bytes) kind.data_bytes = kind.data_bytes.value_or(0) + *row.data_bytes;
    if (!row.data_bytes || !row.algorithm_bytes_per_s || !(*row.algorithm_bytes_per_s > 0)) return;
    Rated& rated = rated_[key];
    rated.bytes += static_cast<double>(*row.data_bytes);
    rated.seconds += static_cast<double>(*row.data_bytes) / *row.algorithm_bytes_per_s;
    (names_.text(row.time_method) == "transfer" ? rated.transfer : rated.duration) = true;
  }

  static void finish_kind(Collectives::Kind& kind, const Rated& rated) {
    if (!(rated.seconds > 0)) return;
    kind.algorithm_bytes_per_s = rated.bytes / rated.seconds;
    kind.bus_factor = analytics::collectives::bus_factor(kind.operation, kind.group_size);
    if (kind.bus_factor) kind.bus_bytes_per_s = *kind.algorithm_bytes_per_s * *kind.bus_factor;
    kind.time_method = rated.transfer && rated.duration ? "mixed" : rated.transfer ? "transfer" : "duration";
  }

  void add_call(const CallRow& row, const std::string& operation) {
    const auto [place, fresh] = calls_.try_emplace(row.instance);
    Collectives::Call& call = place->second;
    if (fresh) {
      call.instance = row.instance;
      call.operation = operation;
      call.group = names_.text(row.group);
      call.start_ns = row.start_ns;
      call.rank_count = row.rank_count;
      call.group_size = row.group_size;
      call.data_bytes = row.data_bytes;
      call.wait_method = names_.text(row.wait_method);
    }
    call.start_ns = std::min(call.start_ns, row.start_ns);
    call.longest_wait_ns = std::max(call.longest_wait_ns, *row.wait_ns);
    call.wait_sum_ns += *row.wait_ns;
    if (*row.wait_ns == 0) call.last_rank = row.rank;
  }

  const trace::NameTable& names_;
  Collectives section_;
  std::map<KindKey, Collectives::Kind> kinds_;
  std::map<KindKey, Rated> rated_;
  std::map<std::pair<std::int32_t, std::string>, Collectives::Rank> ranks_;
  std::map<std::int64_t, Collectives::Call> calls_;  // by instance
};

}  // namespace

core::Status fill_collectives(report::ReportModel& model, const std::string& session_path) {
  trace::NameTable names;
  CollectiveSummary summary(names);
  bool any = false;
  AACO_TRY(tracelake::scan_table<CallRow>(session_path, names, [&](std::span<const CallRow> rows) -> core::Status {
    for (const CallRow& row : rows) summary.add(row);
    any = any || !rows.empty();
    return {};
  }));
  if (any) model.sections.collectives = summary.finish();
  return {};
}

}  // namespace aaco::workflows
