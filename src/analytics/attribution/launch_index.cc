#include <algorithm>

#include "analytics/attribution.h"

namespace aaco::analytics::attribution {
namespace {

// A call that launches stands before one that only shares its id (a query, an HSA call below a HIP one).
bool says_launch(std::string_view api) {
  for (const std::string_view word : {"aunch", "emcpy", "emset", "emCopy"})
    if (api.find(word) != std::string_view::npos) return true;
  return false;
}

}  // namespace

bool is_runtime_domain(std::string_view domain) {
  return domain == "hip" || domain == "hsa" || domain == "cuda_runtime" || domain == "cuda_driver";
}

bool is_graph_launch(std::string_view api) { return api.find("GraphLaunch") != std::string_view::npos; }

bool is_step_annotation(std::string_view name) { return name.starts_with("ProfilerStep"); }

const Launch* LaunchIndex::find(std::int32_t rank, std::uint64_t correlation_id) const {
  if (correlation_id == 0) return nullptr;
  const auto place =
      std::lower_bound(launches_.begin(), launches_.end(), std::pair(rank, correlation_id),
                       [](const Launch& launch, const auto& key) { return std::pair(launch.rank, launch.correlation_id) < key; });
  return place != launches_.end() && place->rank == rank && place->correlation_id == correlation_id ? &*place : nullptr;
}

trace::NameId LaunchIndex::operator_of(std::int32_t rank, std::uint64_t external_id) const {
  if (external_id == 0) return {};
  const auto place =
      std::lower_bound(operators_.begin(), operators_.end(), std::pair(rank, external_id),
                       [](const ExternalOperator& op, const auto& key) { return std::pair(op.rank, op.external_id) < key; });
  return place != operators_.end() && place->rank == rank && place->external_id == external_id ? place->name : trace::NameId{};
}

LaunchIndexBuilder::Kind LaunchIndexBuilder::kind_of(trace::NameId domain) {
  if (domain.value >= kinds_.size()) kinds_.resize(domain.value + std::size_t{1}, Kind::unseen);
  Kind& kind = kinds_[domain.value];
  if (kind == Kind::unseen) {
    const std::string_view text = names_.text(domain);
    kind = is_runtime_domain(text)                    ? Kind::runtime
           : text == "cpu_op"                         ? Kind::cpu_op
           : text == "marker" || text == "annotation" ? Kind::range
                                                      : Kind::other;
  }
  return kind;
}

bool LaunchIndexBuilder::is_step(trace::NameId name) {
  if (name.value >= steps_.size()) steps_.resize(name.value + std::size_t{1}, -1);
  std::int8_t& known = steps_[name.value];
  if (known < 0) known = is_step_annotation(names_.text(name)) ? 1 : 0;
  return known == 1;
}

void LaunchIndexBuilder::add(const trace::ApiCallRow& row) {
  const Kind kind = kind_of(row.domain);
  if (kind == Kind::other || row.end_ns < row.start_ns) return;
  Thread& thread = threads_[{row.rank, row.process_id, row.thread_id}];
  std::erase_if(thread.open, [&](const Open& open) { return open.end_ns <= row.start_ns; });
  if (kind != Kind::runtime) {
    if (is_step(row.name)) return;
    if (kind == Kind::cpu_op && row.external_id != 0) index_.operators_.push_back({row.external_id, row.rank, row.name});
    // Of two that start together the longer one encloses the other.
    auto place = thread.open.end();
    while (place != thread.open.begin() && std::prev(place)->end_ns < row.end_ns) --place;
    thread.open.insert(place, {row.end_ns, row.name, kind});
    return;
  }
  if (row.correlation_id == 0) return;
  Launch launch{row.correlation_id, row.start_ns, row.end_ns, row.thread_id, row.rank, row.name, {}, {}};
  for (const Open& open : thread.open) {
    if (open.end_ns < row.end_ns) continue;  // overlaps it only
    (open.kind == Kind::cpu_op ? launch.operator_name : launch.marker) = open.name;
  }
  index_.launches_.push_back(launch);
}

LaunchIndex LaunchIndexBuilder::finish() {
  threads_.clear();
  std::vector<std::int8_t> launching(names_.size());
  for (std::size_t i = 0; i < launching.size(); ++i)
    launching[i] = says_launch(names_.text({static_cast<std::uint32_t>(i)})) ? 0 : 1;
  std::stable_sort(index_.launches_.begin(), index_.launches_.end(), [&](const Launch& a, const Launch& b) {
    return std::tuple(a.rank, a.correlation_id, launching[a.api.value]) <
           std::tuple(b.rank, b.correlation_id, launching[b.api.value]);
  });
  std::stable_sort(index_.operators_.begin(), index_.operators_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.rank, a.external_id) < std::pair(b.rank, b.external_id);
  });
  return std::move(index_);
}

}  // namespace aaco::analytics::attribution
