#include "analytics/host_profile.h"

#include <algorithm>
#include <string_view>

#include "analytics/gaps/host_sweep.h"
#include "analytics/late_rank.h"
#include "analytics/trace_time.h"

namespace aaco::analytics::gaps {
namespace {

using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::int64_t sum_of(const Times& times) {
  std::int64_t sum = 0;
  for (const auto& [start, end] : times) sum += end - start;
  return sum;
}

std::int64_t common(const Times& a, const Times& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    sum += std::max<std::int64_t>(0, std::min(a[i].second, b[k].second) - std::max(a[i].first, b[k].first));
    a[i].second < b[k].second ? ++i : ++k;
  }
  return sum;
}

void add_share(std::vector<HostShare>& shares, const HostShare& more) {
  const auto place =
      std::find_if(shares.begin(), shares.end(), [&](const HostShare& share) { return share.cause == more.cause; });
  if (place == shares.end())
    shares.push_back(more);
  else
    place->time_ns += more.time_ns;
}

}  // namespace

struct HostProfile::Thread {
  explicit Thread(std::int64_t start_ns, CauseIndex idle) : all(start_ns, INT64_MAX, idle), operators(start_ns, INT64_MAX, idle) {
    operators.watch_idle();
  }
  HostSweep all, operators;
};

HostProfile::HostProfile(const CauseBook& book, const trace::NameTable& names) : book_(book), names_(names) {}
HostProfile::~HostProfile() = default;

const HostProfile::Known& HostProfile::known(const trace::ApiCallRow& row) {
  Known& known = known_[(std::uint64_t{row.domain.value} << 32) | row.name.value];
  if (known.seen) return known;
  known.seen = true;
  const std::string_view domain = names_.text(row.domain), name = names_.text(row.name);
  const auto of = host_domain(domain);
  const auto cause = of ? book_.match(*of, name) : std::nullopt;
  known.is_operator = domain == "cpu_op";
  known.is_collective = !collectives::host_operation(name).empty();
  known.ignored = !cause || *cause == book_.own().unknown || of == HostDomain::overhead || name.starts_with("ProfilerStep");
  if (cause) known.cause = *cause;
  return known;
}

void HostProfile::add(const trace::ApiCallRow& row) {
  if (row.end_ns <= row.start_ns || !trace_time::is_time(row.start_ns) || !trace_time::is_time(row.end_ns)) return;
  const Known& event = known(row);
  Rank& rank = ranks_[row.rank];
  rank.start_ns = std::min(rank.start_ns, row.start_ns);
  rank.end_ns = std::max(rank.end_ns, row.end_ns);
  if (event.is_collective) {
    ++rank.collective_count;
    auto& times = rank.collectives;
    if (!times.empty() && row.start_ns <= times.back().second)
      times.back().second = std::max(times.back().second, row.end_ns);
    else
      times.emplace_back(row.start_ns, row.end_ns);
  }
  if (event.is_operator) ++rank.operator_count;
  if (event.ignored || event.is_collective) return;
  auto& thread = threads_[{row.rank, row.thread_id}];
  if (!thread) thread = std::make_unique<Thread>(rank.start_ns, book_.own().python);
  const NamedCause& cause = book_.at(event.cause);
  const HostFrame frame{row.start_ns, row.end_ns, event.cause, cause.weak, cause.gives_way_to};
  thread->all.open(frame);
  if (event.is_operator || !frame.weak) thread->operators.open(frame);
}

HostWork HostProfile::finish() {
  HostWork out;
  for (const auto& [number, rank] : ranks_) {
    Thread* main = nullptr;
    for (auto& [key, thread] : threads_) {
      if (key.first != number) continue;
      thread->all.move_to(rank.end_ns);
      thread->operators.move_to(rank.end_ns);
      if (main == nullptr || thread->all.covered_ns() > main->all.covered_ns()) main = thread.get();
    }
    if (main == nullptr) continue;
    out.span_ns += rank.end_ns - rank.start_ns;
    out.operator_ns += main->operators.covered_ns();
    out.operator_count += rank.operator_count;
    out.collective_count += rank.collective_count;
    out.collective_ns += sum_of(rank.collectives);
    out.exposed_ns += common(rank.collectives, main->operators.idle());
    for (const HostShare& share : main->all.take()) add_share(out.shares, share);
  }
  std::stable_sort(out.shares.begin(), out.shares.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  return out;
}

}  // namespace aaco::analytics::gaps
