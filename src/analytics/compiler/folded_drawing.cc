#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analytics/compiler_drawing.h"
#include "core/strings.h"

namespace aaco::analytics::compiler {
namespace {

using graph::Graph;
using graph::index_of;
using graph::TensorId;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A row before folding.
struct Item {
  std::vector<std::size_t> nodes;
  std::optional<std::size_t> kernel;
  Fate fate = Fate::kept;
};

std::vector<std::size_t> producers_of(const Graph& graph) {
  std::vector<std::size_t> producer(graph.tensors.size(), kNone);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    for (const TensorId id : graph.nodes[node].outputs)
      if (id.valid()) producer[index_of(id)] = node;
  return producer;
}

// Kernels of the graph after that make what each of them reads.
std::vector<std::vector<std::size_t>> sources_of(const Graph& after) {
  const auto producer = producers_of(after);
  std::vector<std::vector<std::size_t>> sources(after.nodes.size());
  for (std::size_t kernel = 0; kernel < after.nodes.size(); ++kernel)
    for (const TensorId id : after.nodes[kernel].inputs)
      if (id.valid() && producer[index_of(id)] != kNone) sources[kernel].push_back(producer[index_of(id)]);
  return sources;
}

// Where each kernel stands: at its last node; an inserted one behind what it reads, or before what reads it.
std::vector<double> places_of(const GraphDiff& diff, const std::vector<std::vector<std::size_t>>& sources) {
  std::vector<double> place(diff.kernels.size(), -1);
  std::vector<bool> known(diff.kernels.size(), false);
  for (std::size_t kernel = 0; kernel < diff.kernels.size(); ++kernel)
    if (const auto& nodes = diff.kernels[kernel].nodes; !nodes.empty()) {
      place[kernel] = static_cast<double>(*std::max_element(nodes.begin(), nodes.end()));
      known[kernel] = true;
    }
  constexpr int kPasses = 4;  // chains of inserted kernels
  constexpr double kBehind = 0.1;
  for (int pass = 0; pass < kPasses; ++pass)
    for (std::size_t kernel = 0; kernel < sources.size(); ++kernel)
      for (const std::size_t source : sources[kernel])
        if (!known[kernel] && known[source]) {
          place[kernel] = place[source] + kBehind;
          known[kernel] = true;
        } else if (known[kernel] && !known[source] && pass > 0) {
          place[source] = place[kernel] - kBehind;
          known[source] = true;
        }
  return place;
}

std::vector<Item> items_of(const GraphDiff& diff, const std::vector<std::vector<std::size_t>>& sources) {
  const auto place = places_of(diff, sources);
  std::vector<std::pair<double, Item>> placed;
  for (std::size_t kernel = 0; kernel < diff.kernels.size(); ++kernel) {
    const auto& nodes = diff.kernels[kernel].nodes;
    placed.push_back({place[kernel], {nodes, kernel, nodes.empty() ? Fate::kept : diff.nodes[nodes.front()].fate}});
  }
  for (std::size_t node = 0; node < diff.nodes.size(); ++node)
    if (const auto& fate = diff.nodes[node]; !fate.kernel)
      placed.push_back({static_cast<double>(node), {{node}, std::nullopt, fate.fate}});
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Item> items;
  for (auto& [at, item] : placed) {
    const bool joins = !items.empty() && !item.kernel && !items.back().kernel && items.back().fate == item.fate;
    if (joins)
      items.back().nodes.push_back(item.nodes.front());
    else
      items.push_back(std::move(item));
  }
  return items;
}

// Rows with equal words look the same.
std::string word_of(const Item& item, const Graph& before, const Graph& after) {
  std::vector<std::string> parts{std::string(to_string(item.fate))};
  for (const std::size_t node : item.nodes) parts.push_back(before.nodes[node].qualified_type());
  parts.push_back(item.kernel ? "> " + after.nodes[*item.kernel].qualified_type() : ">");
  return core::join(parts, " ");
}

// How often the `period` words at `begin` stand there one after the other.
std::size_t repeats_at(const std::vector<std::string>& words, std::size_t begin, std::size_t period) {
  std::size_t repeats = 1;
  while (begin + (repeats + 1) * period <= words.size() &&
         std::equal(words.begin() + static_cast<std::ptrdiff_t>(begin),
                    words.begin() + static_cast<std::ptrdiff_t>(begin + period),
                    words.begin() + static_cast<std::ptrdiff_t>(begin + repeats * period)))
    ++repeats;
  return repeats;
}

Stretch best_at(const std::vector<std::string>& words, std::size_t begin) {
  Stretch best{begin, 1, 1};
  for (std::size_t period = 1; period <= std::min(kMaxPeriod, (words.size() - begin) / 2); ++period) {
    const std::size_t repeats = repeats_at(words, begin, period);
    if ((repeats - 1) * period > (best.repeats - 1) * best.period) best = {begin, period, repeats};
  }
  return best;
}

}  // namespace

std::vector<Stretch> fold_repeats(const std::vector<std::string>& words) {
  std::vector<Stretch> out;
  for (std::size_t at = 0; at < words.size();) {
    const Stretch best = best_at(words, at);
    if (best.repeats == 1 && !out.empty() && out.back().repeats == 1)
      ++out.back().period;
    else
      out.push_back(best);
    at += best.period * best.repeats;
  }
  return out;
}

std::vector<DrawnBlock> draw_folded(const Graph& before, const Graph& after, const GraphDiff& diff) {
  const auto sources = sources_of(after);
  const std::vector<Item> items = items_of(diff, sources);
  std::vector<std::string> words;
  words.reserve(items.size());
  for (const Item& item : items) words.push_back(word_of(item, before, after));
  std::vector<DrawnBlock> blocks;
  std::map<std::size_t, std::size_t> row_of;                           // by kernel
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> read;  // place of the row, kernels that it reads
  std::size_t place = 0;
  for (const Stretch& stretch : fold_repeats(words)) {
    DrawnBlock block{stretch.repeats, {}};
    for (std::size_t row = 0; row < stretch.period; ++row, ++place) {
      DrawnRow drawn{items[stretch.begin + row].nodes, {}, {}, items[stretch.begin + row].fate};
      for (std::size_t repeat = 0; repeat < stretch.repeats; ++repeat)
        if (const auto kernel = items[stretch.begin + repeat * stretch.period + row].kernel) {
          drawn.kernels.push_back(*kernel);
          row_of[*kernel] = place;
          read.emplace_back(place, sources[*kernel]);
        }
      block.rows.push_back(std::move(drawn));
    }
    blocks.push_back(std::move(block));
  }
  std::map<std::size_t, std::set<std::size_t>> from;
  for (const auto& [at, kernels] : read)
    for (const std::size_t kernel : kernels)
      if (const auto found = row_of.find(kernel); found != row_of.end() && found->second < at) from[at].insert(found->second);
  place = 0;
  for (DrawnBlock& block : blocks)
    for (DrawnRow& row : block.rows) {
      const auto found = from.find(place++);
      if (found != from.end()) row.from.assign(found->second.begin(), found->second.end());
    }
  return blocks;
}

}  // namespace aaco::analytics::compiler
