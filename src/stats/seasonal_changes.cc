#include "stats/seasonal_changes.h"

#include <algorithm>
#include <cmath>

#include "stats/robust.h"
#include "stats/season.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kFirstLook = 28;                     // values
constexpr std::size_t kLookGrowth = 8;                     // the next look comes after an eighth more
constexpr double kReversedByPattern = 0.35;                // of the height of a change: how much of it is left around it
constexpr std::size_t kSamePlace = 2;                      // values
constexpr std::size_t kReturnValues = 3, kBendReach = 12;  // of a level; after a bend, until its height is known

std::size_t places_apart(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

// Median of up to `reach` values on each side of the place, bounded by the neighbouring changes: after less before.
double height_at(std::span<const double> values, std::size_t from, std::size_t place, std::size_t to, std::size_t reach) {
  const std::size_t low = std::max(from, place - std::min(place, reach)), high = std::min(to, place + reach);
  return median(values.subspan(place, high - place)) - median(values.subspan(low, place - low));
}

// Whether the values came back to the level before the change, three of them to within a share of its height.
bool came_back(std::span<const double> series, const ReadChange& change) {
  const auto level = [&](std::size_t from) { return median(series.subspan(from, kReturnValues)); };
  const std::size_t away = change.index + (change.shape == FoundShape::bend ? kBendReach - kReturnValues : 0);
  if (change.index < kReturnValues || away + kReturnValues > series.size()) return false;
  const double before = level(change.index - kReturnValues), height = level(away) - before;
  for (std::size_t from = away + 1; from + kReturnValues <= series.size(); ++from)
    if ((level(from) - before) * (height < 0 ? -1 : 1) < kReversedByPattern * std::abs(height)) return true;
  return false;
}

class SeasonalReader {
 public:
  explicit SeasonalReader(std::span<const double> series) : series_(series), values_(series.begin(), series.end()) {}

  SeasonalReading read() {
    for (std::size_t end = kFirstLook; end <= series_.size(); end += std::max<std::size_t>(4, end / kLookGrowth)) {
      const std::size_t period = find_season(series_.first(end), period_);
      if (period != period_) change_period(period, end);
    }
    std::vector<ReadChange> changes = together(read_changes(values_), series_.size());
    return {std::move(values_), std::move(changes)};
  }

 private:
  // From the value `end` on, which is the first that the new period does not know.
  void change_period(std::size_t period, std::size_t end) {
    const std::vector<ReadChange> before = together(read_changes(std::span(values_).first(end)), end);
    period_ = period;
    values_.assign(series_.begin(), series_.end());
    if (period > 0) {
      const SeasonFilter filter(series_, period);
      const std::vector<double> known = filter.all_before(end);
      std::copy(known.begin(), known.end(), values_.begin());
      for (std::size_t i = end; i < values_.size(); ++i) values_[i] = filter.ahead(i);
    }
    kept_.clear();
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t from = i == 0 ? 0 : before[i - 1].index, to = i + 1 < before.size() ? before[i + 1].index : end;
      kept_.push_back({before[i], !shows(before[i], from, to, end)});
    }
  }

  struct Kept {
    ReadChange change;
    bool of_pattern = false;  // it goes once the values come back
  };

  // Whether the change shows in the values less the pattern.
  [[nodiscard]] bool shows(const ReadChange& change, std::size_t from, std::size_t to, std::size_t end) const {
    if (period_ == 0) return true;
    if (change.shape == FoundShape::bend) return false;  // the slopes of a pattern; one beside it is found again
    const double height = height_at(series_, from, change.index, to, series_.size());
    const double left = height_at(values_, 0, change.index, end, period_);
    return left * height > 0 && std::abs(left) >= kReversedByPattern * std::abs(height);
  }

  // What was found before the period was known and what is found since, one of each change.
  [[nodiscard]] std::vector<ReadChange> together(std::vector<ReadChange> found, std::size_t end) const {
    for (const auto& [kept, of_pattern] : kept_) {
      if (of_pattern && came_back(series_.first(end), kept)) continue;
      const std::size_t reach = of_pattern ? kSamePlace : std::max(kSamePlace, period_);
      const std::size_t place = kept.index;
      const auto nearest = std::min_element(found.begin(), found.end(), [place](const ReadChange& a, const ReadChange& b) {
        return places_apart(a.index, place) < places_apart(b.index, place);
      });
      if (nearest != found.end() && places_apart(nearest->index, kept.index) <= reach)
        nearest->index = kept.index;
      else
        found.push_back(kept);
    }
    std::sort(found.begin(), found.end(), [](const ReadChange& a, const ReadChange& b) { return a.index < b.index; });
    found.erase(std::unique(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.index == b.index; }),
                found.end());
    return found;
  }

  std::span<const double> series_;
  std::vector<double> values_;
  std::size_t period_ = 0;
  std::vector<Kept> kept_;  // found under an earlier period
};

}  // namespace

SeasonalReading read_seasonal_changes(std::span<const double> series) { return SeasonalReader(series).read(); }

}  // namespace aaco::stats
