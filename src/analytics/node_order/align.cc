#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "analytics/node_order/scores.h"

namespace aaco::analytics::node_order {
namespace {

constexpr float kImpossible = -1e30F;

float log_sum(float a, float b) {
  if (a < b) std::swap(a, b);
  const float difference = b - a;
  return difference < -20 ? a : a + std::log1p(std::exp(difference));
}

// Nodes are done and kernels are done; the last node is finished, has its main kernel and may have helpers, or has helpers and
// waits for its main kernel.
enum State : std::size_t { finished, owning, before, states };

struct Scores {
  std::vector<float> match, helper;  // of the current node by kernel
  std::vector<float> stray;          // by kernel
};

class Lattice {
 public:
  Lattice(std::span<const Node> nodes, std::span<const Kernel> kernels) : nodes_(nodes), kernels_(kernels) {
    scores_.match.resize(kernels.size());
    scores_.helper.resize(kernels.size());
    std::map<std::pair<std::string_view, fingerprint::Family>, std::size_t> known;
    for (const Kernel& kernel : kernels) {
      scores_.stray.push_back(static_cast<float>(stray_score(kernel.family)));
      const auto [place, fresh] = known.try_emplace({kernel.name, kernel.family}, names_.size());
      if (fresh) names_.push_back(kernel_name(kernel));
      name_of_.push_back(place->second);
    }
    of_name_.resize(names_.size());
    width_ = (kernels.size() + 1) * states;
  }

  // Posterior of each pair goes to `pair(node, kernel, main, probability)`.
  template <class Pair>
  void run(const Pair& pair) {
    forward();
    backward(pair);
  }

 private:
  float& at(std::size_t row, std::size_t kernel, State state) { return forward_[row * width_ + kernel * states + state]; }

  void score(std::size_t node) {
    for (std::size_t i = 0; i < names_.size(); ++i) of_name_[i] = match_score(nodes_[node], names_[i]);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      scores_.match[k] = static_cast<float>(of_name_[name_of_[k]] + size_score(nodes_[node], kernels_[k]));
      scores_.helper[k] = static_cast<float>(helper_score(nodes_[node], kernels_[k].family));
    }
    absent_ = static_cast<float>(absent_score(nodes_[node]));
  }

  // Row n: n nodes are done. owning of row n is of node n - 1, before of row n of node n.
  void forward() {
    forward_.assign((nodes_.size() + 1) * width_, kImpossible);
    at(0, 0, finished) = 0;
    for (std::size_t n = 0; n <= nodes_.size(); ++n) {
      if (n > 0) {  // helpers behind node n - 1, whose scores still stand
        for (std::size_t k = 0; k < kernels_.size(); ++k) raise(at(n, k + 1, owning), at(n, k, owning) + scores_.helper[k]);
      }
      for (std::size_t k = 0; k <= kernels_.size(); ++k) {
        raise(at(n, k, finished), at(n, k, owning));  // nothing more of it
        if (k < kernels_.size()) raise(at(n, k + 1, finished), at(n, k, finished) + scores_.stray[k]);
      }
      if (n == nodes_.size()) break;
      score(n);
      for (std::size_t k = 0; k <= kernels_.size(); ++k) {
        const float done = at(n, k, finished);
        raise(at(n + 1, k, finished), done + absent_);
        if (k == kernels_.size()) continue;
        raise(at(n + 1, k + 1, owning), done + scores_.match[k]);
        raise(at(n, k + 1, before), log_sum(done, at(n, k, before)) + scores_.helper[k]);
        raise(at(n + 1, k + 1, owning), at(n, k, before) + scores_.match[k]);
      }
    }
    total_ = at(nodes_.size(), kernels_.size(), finished);
  }

  static void raise(float& to, float from) { to = log_sum(to, from); }

  // The same transitions from behind; `next` is the row of n + 1 nodes.
  template <class Pair>
  void backward(const Pair& pair) {
    const std::size_t count = kernels_.size();
    std::vector<float> row(width_, kImpossible), next(width_, kImpossible);
    const auto cell = [](std::vector<float>& of, std::size_t k, State state) -> float& { return of[k * states + state]; };
    const auto say = [&](std::size_t node, std::size_t k, bool main, float log_probability) {
      const float probability = std::exp(std::min(0.0F, log_probability - total_));
      if (probability > 1e-6F) pair(node, k, main, probability);
    };
    for (std::size_t n = nodes_.size() + 1; n-- > 0;) {
      std::fill(row.begin(), row.end(), kImpossible);
      if (n < nodes_.size()) score(n);
      for (std::size_t k = count + 1; k-- > 0;) {
        float& done = cell(row, k, finished);
        if (n == nodes_.size() && k == count) done = 0;
        if (k < count) raise(done, cell(row, k + 1, finished) + scores_.stray[k]);
        if (n < nodes_.size()) {
          raise(done, cell(next, k, finished) + absent_);
          if (k < count) {
            const float main = scores_.match[k] + cell(next, k + 1, owning);
            const float helper = scores_.helper[k] + cell(row, k + 1, before);
            raise(done, log_sum(main, helper));
            cell(row, k, before) = log_sum(main, helper);
            const float here = log_sum(at(n, k, finished), at(n, k, before));
            say(n, k, true, here + main);
            say(n, k, false, here + helper);
          }
        }
      }
      if (n > 0) {  // helpers behind node n - 1
        score(n - 1);
        for (std::size_t k = count + 1; k-- > 0;) {
          cell(row, k, owning) = cell(row, k, finished);
          if (k == count) continue;
          const float helper = scores_.helper[k] + cell(row, k + 1, owning);
          raise(cell(row, k, owning), helper);
          say(n - 1, k, false, at(n, k, owning) + helper);
        }
      }
      std::swap(row, next);
    }
  }

  std::span<const Node> nodes_;
  std::span<const Kernel> kernels_;
  Scores scores_;
  std::vector<KernelName> names_;     // that differ
  std::vector<std::size_t> name_of_;  // by kernel
  std::vector<double> of_name_;       // scores of the current node
  float absent_ = 0, total_ = 0;
  std::size_t width_ = 0;
  std::vector<float> forward_;
};

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) ranks[order[j]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return ranks;
}

// Spearman's, with ties; empty where either side does not vary.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t kMin = 8;
  if (a.size() < kMin) return std::nullopt;
  const auto x = ranks_of(a), y = ranks_of(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? std::optional(xy / std::sqrt(xx * yy)) : std::nullopt;
}

struct Best {
  std::size_t node = 0;
  double probability = 0;  // of this node, in any role
  double any = 0;          // of some node
};

// Sums over both roles of a pair; pairs of one kernel come node by node from behind.
class Collector {
 public:
  Collector(std::size_t nodes, std::size_t kernels) : main_(nodes), explained_(kernels), best_(kernels), current_(kernels) {}
  void add(std::size_t node, std::size_t kernel, bool main, double probability) {
    Best& current = current_[kernel];
    if (current.node != node || current.any == 0) {
      close(kernel);
      current = {node, 0, 1};
    }
    current.probability += probability;
    explained_[kernel] += probability;
    if (main) main_[node] += probability;
  }
  void finish() {
    for (std::size_t k = 0; k < current_.size(); ++k) close(k);
  }
  [[nodiscard]] const Best& best(std::size_t kernel) const { return best_[kernel]; }
  [[nodiscard]] double explained(std::size_t kernel) const { return std::min(1.0, explained_[kernel]); }
  [[nodiscard]] double has_main(std::size_t node) const { return std::min(1.0, main_[node]); }

 private:
  void close(std::size_t kernel) {
    if (current_[kernel].probability > best_[kernel].probability) best_[kernel] = current_[kernel];
  }
  std::vector<double> main_, explained_;
  std::vector<Best> best_, current_;
};

// Of the nodes and kernels that need each other: anchors, or where a side has none everything that needs something.
void judge(std::span<const Node> nodes, std::span<const Kernel> kernels, const Collector& found, Alignment& result) {
  const auto recall = [](auto count, const auto& counts, const auto& share) {
    double all = 0, with = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (counts(i)) {
        all += 1;
        with += share(i);
      }
    return std::pair(all, all > 0 ? with / all : 0.0);
  };
  const bool anchored = std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return need_of(n) == Need::anchor; }) ||
                        std::any_of(kernels.begin(), kernels.end(), [](const Kernel& k) { return is_anchor(k.family); });
  const auto node_counts = [&](std::size_t i) { return need_of(nodes[i]) >= (anchored ? Need::anchor : Need::little); };
  const auto kernel_counts = [&](std::size_t i) { return !anchored || is_anchor(kernels[i].family); };
  double needing_nodes = 0, needing_kernels = 0;
  std::tie(needing_nodes, result.node_recall) = recall(nodes.size(), node_counts, [&](auto i) { return found.has_main(i); });
  std::tie(needing_kernels, result.kernel_recall) =
      recall(kernels.size(), kernel_counts, [&](auto i) { return found.explained(i); });
  double anchors = 0, usual = 0;
  std::vector<double> work, time;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Best& best = found.best(k);
    if (best.probability < 0.5 || !is_anchor(kernels[k].family)) continue;
    ++anchors;
    usual += is_usual(nodes[best.node], kernels[k].family) ? 1 : 0;
    if (!nodes[best.node].flops) continue;
    work.push_back(*nodes[best.node].flops);
    time.push_back(kernels[k].duration_ns);
  }
  result.work_correlation = rank_correlation(work, time);
  result.plausibility = std::min(result.node_recall, result.kernel_recall);
  if (anchors > 0) result.plausibility *= 0.5 + 0.5 * usual / anchors;  // convolutions can all be products, but seldom are
  if (result.work_correlation) result.plausibility *= std::clamp(0.5 + *result.work_correlation, 0.2, 1.0);
}

}  // namespace

std::size_t likely_runs(std::span<const Node> nodes, std::span<const Kernel> kernels) {
  const auto needing = std::count_if(nodes.begin(), nodes.end(), [](const Node& node) { return need_of(node) == Need::anchor; });
  const auto needed = std::count_if(kernels.begin(), kernels.end(), [&](const Kernel& kernel) {
    return is_anchor(kernel.family) || std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
             return !node.kernel.empty() && names_node(kernel.name, node);
           });
  });
  if (needing == 0) return 1;
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, (needed + needing / 2) / needing));
}

core::Result<Alignment> align(std::span<const Node> nodes, std::span<const Kernel> kernels) {
  Alignment result;
  result.causes.resize(kernels.size());
  std::vector<Node> able;  // of having kernels
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (need_of(nodes[i]) != Need::none) {
      able.push_back(nodes[i]);
      place.push_back(i);
    }
  if ((able.size() + 1) * (kernels.size() + 1) > kMaxCells)
    return core::fail(core::ErrorCode::invalid_argument,
                      std::to_string(able.size()) + " nodes and " + std::to_string(kernels.size()) +
                          " kernels per step are too many to align by order",
                      "trace fewer layers, or annotate the steps");
  Collector found(able.size(), kernels.size());
  if (!able.empty() && !kernels.empty())
    Lattice(able, kernels).run([&](std::size_t node, std::size_t kernel, bool main, float probability) {
      found.add(node, kernel, main, static_cast<double>(probability));
    });
  found.finish();
  judge(able, kernels, found, result);
  const auto percent = [](double ratio) { return std::to_string(std::lround(100 * ratio)) + " %"; };
  result.explanation = percent(result.node_recall) + " of the nodes that need a kernel and " + percent(result.kernel_recall) +
                       " of the kernels that need a node are matched";
  if (result.work_correlation)
    result.explanation += "; rank correlation between node work and kernel time " +
                          std::to_string(std::lround(100 * *result.work_correlation)) + " %";
  if (result.plausibility < kMinPlausible) {
    result.explanation += ": the kernels belong to a different graph or run in a different order";
    return result;
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Best& best = found.best(k);
    const double none = 1 - found.explained(k);
    if (best.probability <= none || best.probability < 0.1) continue;
    Cause& cause = result.causes[k];
    cause.node = place[best.node];
    cause.by_name = names_node(kernels[k].name, able[best.node]);
    cause.confidence = std::min(1.0, best.probability) * (cause.by_name ? 1 : kMaxConfidence * result.plausibility);
  }
  return result;
}

}  // namespace aaco::analytics::node_order
