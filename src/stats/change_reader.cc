#include "stats/change_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "stats/robust.h"
#include "stats/spike_filter.h"

namespace aaco::stats {
namespace {

constexpr std::size_t kUnsettled = 3;        // values at the end that what comes next may still show to be outliers
constexpr std::size_t kAlwaysThorough = 64;  // values of a segment up to which all places are looked at with every value
constexpr std::size_t kThoroughEvery = 16;   // beyond that, with every sixteenth
constexpr double kRoundingShare = 48;        // square of the resolution over this: white noise that no model explains
constexpr std::size_t kMaxReversal = 4;      // values
constexpr double kReversed = 0.35;           // of a step: how near to the old level its reversal comes
constexpr std::size_t kLevelValues = 20;

class Reader {
 public:
  explicit Reader(std::span<const double> series) : series_(series), filter_(series) {}

  std::vector<ReadChange> read() {
    for (std::size_t last = 0; last < series_.size(); ++last) {
      extend(last);
      take_back_excursion(last);
      const std::size_t length = segment_.size();
      const bool thorough = length < kAlwaysThorough || length % kThoroughEvery == 0;
      if (const auto found = scan_for_change(segment_, memory_, white_variance(last), thorough)) begin_at(*found, last);
    }
    std::vector<ReadChange> changes;
    for (const Past& one : past_) changes.push_back(one.change);
    return changes;
  }

 private:
  struct Past {
    ReadChange change;
    std::size_t start = 0;  // of the segment before it
    NoiseMemory memory;     // before that segment
  };

  [[nodiscard]] double white_variance(std::size_t last) const {
    const double resolution = filter_.resolution(last);
    return resolution * resolution / kRoundingShare;
  }

  // The segment with the values up to `last`; the latest ones as they look now.
  void extend(std::size_t last) {
    while (segment_.size() > settled_ - start_) segment_.pop();
    for (; settled_ + kUnsettled <= last; ++settled_) {
      filter_.settle(settled_, filter_.value(settled_, last));
      segment_.push(filter_.settled(settled_));
    }
    for (std::size_t i = settled_; i <= last; ++i) segment_.push(filter_.value(i, last));
  }

  void restart(std::size_t start) {
    start_ = start;
    settled_ = std::max(settled_, start);
    segment_.clear();
    for (std::size_t i = start; i < settled_; ++i) segment_.push(filter_.settled(i));
  }

  void begin_at(const FoundChange& found, std::size_t last) {
    const std::size_t index = start_ + found.place;
    past_.push_back({{index, found.shape, found.gain}, start_, memory_});
    GrowingSegment closed;
    for (std::size_t i = start_; i < index; ++i) closed.push(filter_.settled(i));
    memory_.absorb(closed, white_variance(last));
    restart(index);
    take_back_reversal(last);
  }

  [[nodiscard]] double level(std::size_t from, std::size_t to) const { return median(series_.subspan(from, to - from)); }

  // A step that is undone within a few values was none: both go, and the values between count as the level around them.
  void take_back_reversal(std::size_t last) {
    if (past_.size() < 2) return;
    const Past& first = past_[past_.size() - 2];
    const std::size_t from = first.change.index, to = past_.back().change.index;
    if (to - from > kMaxReversal) return;
    const double before = level_before(first);
    const double between = level(from, to), after = level(to, last + 1);
    if (std::abs(after - before) >= kReversed * std::min(std::abs(between - before), std::abs(between - after))) return;
    for (std::size_t i = from; i < to; ++i) filter_.settle(i, before);
    past_.pop_back();
    take_back_last();
  }

  // The same before the way back counts as a change: what went up and down within a few values looks like outliers by then.
  void take_back_excursion(std::size_t last) {
    if (past_.empty() || past_.back().change.shape == FoundShape::bend) return;
    const std::size_t from = past_.back().change.index, count = last + 1 - from;
    if (count <= kUnsettled || count > kMaxReversal + kUnsettled) return;
    const double before = level_before(past_.back()), away = level(from, from + kUnsettled) - before;
    const double now = level(last + 1 - kUnsettled, last + 1) - before;
    if (std::abs(now) >= kReversed * std::abs(away)) return;
    for (std::size_t i = from; i <= last; ++i)
      if (std::abs(series_[i] - before) > std::abs(away) / 2) filter_.settle(i, before);
    take_back_last();
    extend(last);
  }

  [[nodiscard]] double level_before(const Past& past) const {
    const std::size_t index = past.change.index;
    return level(std::max(past.start, index - std::min(index, kLevelValues)), index);
  }

  void take_back_last() {
    const std::size_t start = past_.back().start;
    memory_ = past_.back().memory;
    past_.pop_back();
    restart(start);
  }

  std::span<const double> series_;
  SpikeFilter filter_;
  std::size_t start_ = 0;    // of the segment
  std::size_t settled_ = 0;  // first value that is not
  GrowingSegment segment_;
  NoiseMemory memory_;
  std::vector<Past> past_;
};

}  // namespace

std::vector<ReadChange> read_changes(std::span<const double> series) {
  // By a power of two, which is exact, so that squares stay within range.
  double largest = 0;
  for (const double value : series) largest = std::max(largest, std::abs(value));
  if (largest == 0) return {};
  const int exponent = std::ilogb(largest);
  std::vector<double> scaled;
  for (const double value : series) scaled.push_back(std::ldexp(value, -exponent));
  return Reader(scaled).read();
}

}  // namespace aaco::stats
