#include "analytics/tracediff/align.h"

#include <algorithm>

namespace aaco::analytics::tracediff {
namespace {

constexpr std::size_t kMaxCells = std::size_t{16} << 20;  // 64 MiB

// Adds what lies between two matches; neighbours become one change.
void note(std::vector<OrderChange>& changes, const OrderChange& change) {
  if (change.a_begin == change.a_end && change.b_begin == change.b_end) return;
  changes.push_back(change);
}

}  // namespace

bool align(const Step& a, const Step& b, std::vector<OrderChange>& changes) {
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin].name == b[begin].name) ++begin;
  std::size_t a_end = a.size(), b_end = b.size();
  while (a_end > begin && b_end > begin && a[a_end - 1].name == b[b_end - 1].name) --a_end, --b_end;
  const std::size_t rows = a_end - begin, columns = b_end - begin;
  if (rows == 0 || columns == 0 || rows > kMaxCells / std::max<std::size_t>(1, columns + 1)) {
    note(changes, {begin, a_end, begin, b_end});
    return rows == 0 || columns == 0;
  }
  // length[i][j]: of the longest common subsequence of a from i and b from j.
  std::vector<std::uint32_t> length((rows + 1) * (columns + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return length[i * (columns + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;)
      at(i, j) = a[begin + i].name == b[begin + j].name ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  OrderChange open{begin, begin, begin, begin};
  std::size_t i = 0, j = 0;
  while (i < rows && j < columns) {
    if (a[begin + i].name == b[begin + j].name) {
      note(changes, open);
      ++i, ++j;
      open = {begin + i, begin + i, begin + j, begin + j};
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      open.a_end = begin + ++i;
    } else {
      open.b_end = begin + ++j;
    }
  }
  open.a_end = a_end;
  open.b_end = b_end;
  note(changes, open);
  return true;
}

}  // namespace aaco::analytics::tracediff
