#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tracelake/store/time_column.h"

namespace aaco::tracelake::store {

// Memory of half a window. Telemetry arrives slowly and nearly in order: a large window would only fill for minutes.
template <class Row>
inline constexpr std::size_t kWindowBytes = std::size_t{8} << 20;
template <>
inline constexpr std::size_t kWindowBytes<trace::SystemEventRow> = std::size_t{1} << 20;
template <>
inline constexpr std::size_t kWindowBytes<trace::GpuEventRow> = std::size_t{1} << 20;
template <>
inline constexpr std::size_t kWindowBytes<trace::SchedEventRow> = std::size_t{2} << 20;

// The newest rows of a table, so that rows which come a little late still find their place. Two halves, each of kRows: when the
// newer is full, the older (after merging) is ready to be written.
template <class Row>
class RowWindow {
 public:
  static constexpr std::size_t kRows = std::clamp<std::size_t>(kWindowBytes<Row> / sizeof(Row), 4096, 1 << 17);

  // True when the newer half is full: call rotate().
  bool add(const Row& row) {
    if constexpr (kHasTime<Row>) {
      newer_sorted_ = newer_sorted_ && (newer_.empty() || time_of(newer_.back()) <= time_of(row));
    }
    newer_.push_back(row);
    return newer_.size() == kRows;
  }

  // Takes the older half out, in order (empty the first time). `spare` lends its memory.
  std::vector<Row> rotate(std::vector<Row> spare) {
    order();
    std::vector<Row> out = std::exchange(older_, std::exchange(newer_, std::move(spare)));
    newer_.clear();
    newer_sorted_ = true;
    return out;
  }

  // Everything, in order: the older half, then the newer. The rows stay.
  std::pair<const std::vector<Row>&, const std::vector<Row>&> rows() {
    order();
    return {older_, newer_};
  }
  void clear() {
    older_ = {};
    newer_ = {};
    newer_sorted_ = true;
  }
  [[nodiscard]] bool empty() const { return newer_.empty() && older_.empty(); }

 private:
  static bool earlier(const Row& a, const Row& b) { return time_of(a) < time_of(b); }

  // Sorts both halves together.
  void order() {
    if constexpr (kHasTime<Row>) {
      const bool apart = older_.empty() || newer_.empty() || time_of(older_.back()) <= time_of(newer_.front());
      if (newer_sorted_ && apart) return;
      std::vector<Row> all = std::move(older_);
      const std::size_t half = all.size();
      all.insert(all.end(), newer_.begin(), newer_.end());
      std::vector<std::pair<std::int64_t, std::uint32_t>> places(all.size());
      for (std::size_t i = 0; i < all.size(); ++i) places[i] = {time_of(all[i]), static_cast<std::uint32_t>(i)};
      std::sort(places.begin() + static_cast<std::ptrdiff_t>(half), places.end());
      std::inplace_merge(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(half), places.end());
      older_.clear();
      older_.reserve(half);
      newer_.clear();
      for (const auto& [time, from] : places) (older_.size() < half ? older_ : newer_).push_back(all[from]);
      newer_sorted_ = true;
    }
  }

  std::vector<Row> older_, newer_;
  bool newer_sorted_ = true;
};

}  // namespace aaco::tracelake::store
