#include "estimation/analysis/footing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace aaco::estimation {

void Footing::add(Level level, const std::string& source, double amount) {
  levels_[level] += amount;
  sources_[source] += amount;
  all_ += amount;
}

void Footing::grade(std::string_view what, Estimate& sum) const {
  constexpr double kMatters = 0.1;
  for (const auto& [level, amount] : levels_)
    if (amount >= kMatters * all_) sum.level = std::max(sum.level, level);
  sum.source = sources_.size() == 1 ? sources_.begin()->first : shares(what);
}

// "B (65 % of the time, and 10 % by achieved rates); achieved rates of A and B (20 %); others": the same devices once, the
// largest first.
std::string Footing::shares(std::string_view what) const {
  struct Part {
    std::string devices;
    double fitted = 0, achieved = 0;
    [[nodiscard]] double amount() const { return fitted + achieved; }
  };
  std::vector<Part> parts;
  for (const auto& [source, amount] : sources_) {
    const bool achieved = source.starts_with(kAchievedRates);
    const std::string devices = achieved ? source.substr(kAchievedRates.size()) : source;
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.devices == devices; });
    if (part == parts.end()) part = parts.insert(parts.end(), Part{devices});
    (achieved ? part->achieved : part->fitted) += amount;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.amount() > b.amount(); });
  const auto percent = [&](double amount) { return fmt::format("{:.0f} %", 100 * amount / all_); };
  std::string text;
  for (const Part& part : parts) {
    constexpr double kShown = 0.005;
    if (!text.empty() && part.amount() < kShown * all_) return text + "; others";
    const std::string of = text.empty() ? fmt::format(" of the {}", what) : "";
    text += text.empty() ? "" : "; ";
    if (part.fitted <= 0)
      text += fmt::format("{}{} ({}{})", kAchievedRates, part.devices, percent(part.achieved), of);
    else if (part.achieved < kShown * all_)
      text += fmt::format("{} ({}{})", part.devices, percent(part.amount()), of);
    else
      text += fmt::format("{} ({}{}, and {} by achieved rates)", part.devices, percent(part.fitted), of, percent(part.achieved));
  }
  return text;
}

}  // namespace aaco::estimation
