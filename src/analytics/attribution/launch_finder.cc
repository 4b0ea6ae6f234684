#include <algorithm>
#include <array>

#include "analytics/attribution.h"
#include "trace/api_domains.h"

namespace aaco::analytics::attribution {

bool is_graph_launch(std::string_view api) { return api.find("GraphLaunch") != std::string_view::npos; }

bool is_step_annotation(std::string_view name) { return name.starts_with("ProfilerStep"); }

LaunchFinder::Kind LaunchFinder::kind_of(trace::NameId domain) {
  if (domain.value >= kinds_.size()) kinds_.resize(domain.value + std::size_t{1}, Kind::unseen);
  Kind& kind = kinds_[domain.value];
  if (kind == Kind::unseen) {
    const std::string_view text = names_.text(domain);
    kind = trace::is_gpu_runtime(text)                ? Kind::runtime
           : text == "cpu_op"                         ? Kind::cpu_op
           : text == "graph_node"                     ? Kind::graph_node
           : text == "onnx_node"                      ? Kind::onnx_node
           : text == "marker" || text == "annotation" ? Kind::range
                                                      : Kind::other;
  }
  return kind;
}

bool LaunchFinder::is_step(trace::NameId name) {
  if (name.value >= steps_.size()) steps_.resize(name.value + std::size_t{1}, -1);
  std::int8_t& known = steps_[name.value];
  if (known < 0) known = is_step_annotation(names_.text(name)) ? 1 : 0;
  return known == 1;
}

// A call that launches stands before one that only shares its id (a query, an HSA call below a HIP one).
bool LaunchFinder::says_launch(trace::NameId api) {
  constexpr std::array<std::string_view, 4> kWords = {"aunch", "emcpy", "emset", "emCopy"};
  if (api.value >= launching_.size()) launching_.resize(api.value + std::size_t{1}, -1);
  std::int8_t& known = launching_[api.value];
  if (known < 0) {
    const std::string_view text = names_.text(api);
    known = std::any_of(kWords.begin(), kWords.end(), [&](auto word) { return text.find(word) != text.npos; }) ? 1 : 0;
  }
  return known == 1;
}

void LaunchFinder::add(const trace::ApiCallRow& row) {
  const Kind kind = kind_of(row.domain);
  if (kind == Kind::other || row.end_ns < row.start_ns) return;
  if (kind == Kind::onnx_node) {
    if (row.external_id == 0) return;
    store_.add(ExternalOperator{row.external_id, row.rank, row.name});
    node_names_.insert(row.name.value);
    ++causes_;
    return;
  }
  Thread& thread = threads_[{row.rank, row.process_id, row.thread_id}];
  std::erase_if(thread.open, [&](const Open& open) { return open.end_ns <= row.start_ns; });
  if (kind == Kind::cpu_op || kind == Kind::range) {
    if (is_step(row.name)) return;
    ++causes_;
    if (kind == Kind::cpu_op && row.external_id != 0) store_.add(ExternalOperator{row.external_id, row.rank, row.name});
    // Of two that start together the longer one encloses the other.
    auto place = thread.open.end();
    while (place != thread.open.begin() && std::prev(place)->end_ns < row.end_ns) --place;
    thread.open.insert(place, {row.start_ns, row.end_ns, row.name, row.arguments, kind});
    return;
  }
  const std::uint64_t id = kind == Kind::graph_node ? row.external_id : row.correlation_id;
  if (id == 0) return;
  Launch launch;
  launch.correlation_id = kind == Kind::graph_node ? graph_node_key(id) : id;
  launch.start_ns = row.start_ns;
  launch.end_ns = row.end_ns;
  launch.thread_id = row.thread_id;
  launch.rank = row.rank;
  launch.api = row.name;
  launch.launches = says_launch(row.name);
  for (const Open& open : thread.open) {
    if (open.end_ns < row.end_ns) continue;  // overlaps it only
    if (open.kind != Kind::cpu_op) {
      launch.marker = open.name;
      continue;
    }
    launch.operator_name = open.name;
    if (open.arguments.value == 0) continue;
    launch.shaped_operator = open.name;
    launch.shaped_start_ns = open.start_ns;
    launch.operator_arguments = open.arguments;
  }
  if (kind == Kind::runtime) ++launches_;
  store_.add(launch);
}

}  // namespace aaco::analytics::attribution
