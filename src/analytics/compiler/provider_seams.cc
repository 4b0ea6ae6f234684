#include "analytics/provider_seams.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "stats/robust.h"

namespace aaco::analytics::compiler {
namespace {

// What was seen between two nodes, call by call.
struct Between {
  std::size_t place = 0;  // of the first node in its call, the first time
  std::string from, to;
  std::vector<double> gaps_ns;
};

class Calls {
 public:
  // The steps of one call, in order of time.
  void add(const ProviderStep* begin, const ProviderStep* end) {
    lengths_ns_.push_back(static_cast<double>(std::max_element(begin, end, ends_first)->end_ns - begin->start_ns));
    const ProviderStep* before = nullptr;
    bool converted = false;
    for (const ProviderStep* one = begin; one != end; ++one) {
      if (one->inserted) {
        converted = true;
        continue;
      }
      if (before != nullptr && one->start_ns >= before->end_ns)
        add_pair(*before, *one, static_cast<std::size_t>(one - begin), converted);
      before = one;
      converted = false;
    }
  }

  [[nodiscard]] ProviderSeams seams() const {
    ProviderSeams out;
    out.calls = static_cast<std::int64_t>(lengths_ns_.size());
    if (out.calls == 0) return out;
    out.call_ns = stats::median(lengths_ns_);
    if (!usual_ns_.empty()) out.usual_ns = stats::median(usual_ns_);
    std::vector<std::pair<std::size_t, ProviderSeam>> found;
    for (const auto& [nodes, between] : seams_) {
      const auto calls = static_cast<std::int64_t>(between.gaps_ns.size());
      if (2 * calls < out.calls) continue;
      found.push_back({between.place,
                       {nodes.first, nodes.second, between.from, between.to, calls,
                        stats::median(between.gaps_ns) - out.usual_ns.value_or(0)}});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [place, seam] : found) {
      out.total_ns += seam.time_ns;
      out.seams.push_back(std::move(seam));
    }
    return out;
  }

 private:
  static bool ends_first(const ProviderStep& a, const ProviderStep& b) { return a.end_ns < b.end_ns; }

  void add_pair(const ProviderStep& first, const ProviderStep& second, std::size_t place, bool converted) {
    const auto gap_ns = static_cast<double>(second.start_ns - first.end_ns);
    if (first.provider == second.provider) {
      if (!converted) usual_ns_.push_back(gap_ns);
      return;
    }
    Between& between = seams_[{first.node, second.node}];
    if (between.gaps_ns.empty()) between = {place, first.provider, second.provider, {}};
    between.gaps_ns.push_back(gap_ns);
  }

  std::vector<double> lengths_ns_, usual_ns_;
  std::map<std::pair<std::string, std::string>, Between> seams_;
};

}  // namespace

bool converts_only(std::string_view op_type) {
  return op_type.starts_with("Memcpy") || op_type == "ReorderInput" || op_type == "ReorderOutput" || op_type == "Transpose" ||
         op_type == "Cast";
}

ProviderSeams provider_seams(std::vector<ProviderStep> steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const ProviderStep& a, const ProviderStep& b) {
    return std::tie(a.call, a.start_ns, a.end_ns) < std::tie(b.call, b.start_ns, b.end_ns);
  });
  Calls calls;
  for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
    while (end < steps.size() && steps[end].call == steps[begin].call) ++end;
    calls.add(steps.data() + begin, steps.data() + end);
  }
  return calls.seams();
}

}  // namespace aaco::analytics::compiler
