#include <algorithm>
#include <array>

#include "analytics/call_tree.h"
#include "trace/kernel_name.h"

namespace aaco::analytics::calltree {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";
constexpr std::array<std::string_view, 4> kRanges = {"cpu_op", "annotation", "marker", "rccl"};
constexpr std::array<std::string_view, 4> kRuntimes = {"hip", "hsa", "cuda_runtime", "cuda_driver"};

std::uint64_t launch_key(std::int32_t rank, std::uint64_t correlation_id) {
  return correlation_id ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) << 40U);
}

std::string_view plain(std::string_view name) { return name.starts_with(kStep) ? kStep.substr(0, kStep.size() - 1) : name; }

}  // namespace

TreeBuilder::TreeBuilder(const trace::NameTable& names) : names_(names) { tree_.nodes.push_back({"all", false, 0, 0, 0, {}}); }

TreeBuilder::Kind TreeBuilder::kind_of(trace::NameId domain) {
  if (domain.value >= kinds_.size()) kinds_.resize(domain.value + 1, Kind::unseen);
  Kind& kind = kinds_[domain.value];
  if (kind != Kind::unseen) return kind;
  const std::string_view name = names_.text(domain);
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  return kind = in(kRanges) ? Kind::range : in(kRuntimes) ? Kind::runtime : Kind::skipped;
}

std::size_t TreeBuilder::child(std::size_t parent, std::string_view name, bool kernel) {
  auto key = std::pair(parent, std::string(name));
  if (const auto known = children_.find(key); known != children_.end()) return known->second;
  if (tree_.nodes.size() >= kMaxNodes) {
    tree_.truncated = true;
    return parent;
  }
  const std::size_t index = tree_.nodes.size();
  tree_.nodes.push_back({std::string(name), kernel, 0, 0, 0, {}});
  tree_.nodes[parent].children.push_back(index);
  children_.emplace(std::move(key), index);
  return index;
}

void TreeBuilder::add(const trace::ApiCallRow& row) {
  const Kind kind = kind_of(row.domain);
  if (kind == Kind::skipped || row.end_ns < row.start_ns) return;
  std::vector<Open>& stack = open_[{row.rank, {row.process_id, row.thread_id}}];
  // What has ended, or ends before this one does, does not enclose it.
  while (!stack.empty() && (stack.back().end_ns <= row.start_ns || stack.back().end_ns < row.end_ns)) stack.pop_back();
  const std::size_t parent = stack.empty() ? 0 : stack.back().node;
  std::size_t place = parent;
  if (kind == Kind::range) {
    place = stack.size() < kMaxDepth ? child(parent, plain(names_.text(row.name)), false) : parent;
    if (place != parent) {
      Node& node = tree_.nodes[place];
      ++node.calls;
      node.host_ns += row.end_ns - row.start_ns;
      stack.push_back({row.end_ns, place});
    }
  }
  if (row.correlation_id == 0 || kind != Kind::runtime) return;
  if (launches_.size() < kMaxLaunches)
    launches_.try_emplace(launch_key(row.rank, row.correlation_id), place);
  else
    tree_.truncated = true;
}

void TreeBuilder::add(const trace::KernelRow& row) {
  if (row.end_ns < row.start_ns) return;
  const auto launch = row.correlation_id == 0 ? launches_.end() : launches_.find(launch_key(row.rank, row.correlation_id));
  const std::size_t parent = launch == launches_.end() ? child(0, "(no launch in the trace)", false) : launch->second;
  const std::size_t place = child(parent, trace::short_kernel_name(names_.text(row.name)), true);
  ++tree_.nodes[place].calls;
  tree_.nodes[place].device_ns += row.end_ns - row.start_ns;
}

Tree TreeBuilder::finish() {
  // A parent comes before its children.
  for (std::size_t i = tree_.nodes.size(); i-- > 0;)
    for (const std::size_t each : tree_.nodes[i].children) tree_.nodes[i].device_ns += tree_.nodes[each].device_ns;
  for (const std::size_t each : tree_.nodes[0].children) tree_.nodes[0].host_ns += tree_.nodes[each].host_ns;
  return std::move(tree_);
}

}  // namespace aaco::analytics::calltree
