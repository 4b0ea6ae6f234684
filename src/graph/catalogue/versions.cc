#include "graph/catalogue/versions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace aaco::graph {
namespace {

// The newest versions that the catalogue and the reader were written from.
constexpr std::int64_t kNewestFormat = 13;
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kNewest = {
    {{"", 23}, {"com.microsoft", 1}, {"ai.onnx.ml", 5}, {"aten", 10}}};

// Share of the standard operators that a release redefined or added, on average over operator sets 8 to 17 (ONNX's
// operator_sets.h); most of them took further types and nothing else, so that it overstates what is unknown.
constexpr double kRedefined = 0.17;

double doubt(std::int64_t found, std::int64_t known) { return 1 - std::pow(1 - kRedefined, static_cast<double>(found - known)); }

}  // namespace

std::vector<NewerVersion> newer_versions(const Graph& graph, const std::vector<CostedNode>& nodes) {
  std::map<std::string_view, std::int64_t> used;
  for (const CostedNode& item : nodes) ++used[item.node->domain];
  std::vector<NewerVersion> out;
  if (graph.format_version > kNewestFormat)
    out.push_back({"IR", graph.format_version, kNewestFormat, static_cast<std::int64_t>(nodes.size()),
                   doubt(graph.format_version, kNewestFormat)});
  for (const auto& [domain, known] : kNewest) {
    const auto asked = graph.opsets.find(std::string(domain));
    const auto count = used.find(domain);
    if (asked == graph.opsets.end() || asked->second <= known || count == used.end()) continue;
    const double share = static_cast<double>(count->second) / static_cast<double>(nodes.size());
    out.push_back({domain.empty() ? "ai.onnx" : std::string(domain), asked->second, known, count->second,
                   share * doubt(asked->second, known)});
  }
  return out;
}

std::string describe(const NewerVersion& newer) {
  const std::string versions = std::to_string(newer.found) + ", newer than the supported " + std::to_string(newer.known) + ": ";
  if (newer.what == "IR") return "the file's IR version is " + versions + "its newer features are ignored";
  return "the operator set " + newer.what + " is version " + versions + std::to_string(newer.nodes) +
         " nodes are interpreted with their older definitions";
}

core::Json to_json(const std::vector<NewerVersion>& list) {
  core::Json out = core::Json::array();
  for (const NewerVersion& one : list)
    out.push(core::Json::object({{"what", one.what},
                                 {"found", one.found},
                                 {"known", one.known},
                                 {"nodes", one.nodes},
                                 {"doubt_ratio", one.doubt},
                                 {"text", describe(one)}}));
  return out;
}

}  // namespace aaco::graph
