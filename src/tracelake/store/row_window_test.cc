#include "tracelake/store/row_window.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace aaco::tracelake::store {
namespace {

using Window = RowWindow<trace::SystemEventRow>;

trace::SystemEventRow at(std::int64_t time, double value = 0) { return {0, time, {}, {}, value}; }

// Everything that comes out of a window into which `times` go.
std::vector<std::int64_t> through(const std::vector<std::int64_t>& times) {
  Window window;
  std::vector<std::int64_t> out;
  const auto take = [&out](const std::vector<trace::SystemEventRow>& rows) {
    for (const auto& row : rows) out.push_back(row.time_ns);
  };
  std::vector<trace::SystemEventRow> batch;
  for (const std::int64_t time : times)
    if (window.add(at(time))) take(batch = window.rotate(std::move(batch)));
  const auto [older, newer] = window.rows();
  take(older);
  take(newer);
  return out;
}

std::vector<std::int64_t> shuffled_within(std::size_t count, std::int64_t reach) {
  core::Random random(3);
  std::vector<std::int64_t> times(count);
  for (std::size_t i = 0; i < count; ++i)
    times[i] = static_cast<std::int64_t>(i) + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(reach)));
  return times;
}

TEST(RowWindow, OfTelemetryIsSmall) {
  EXPECT_LE(2 * RowWindow<trace::SystemEventRow>::kRows * sizeof(trace::SystemEventRow), std::size_t{2} << 20);
  EXPECT_LE(2 * RowWindow<trace::SchedEventRow>::kRows * sizeof(trace::SchedEventRow), std::size_t{4} << 20);
}
TEST(RowWindow, RowsInOrderStayInOrder) {
  const auto times = shuffled_within(3 * Window::kRows + 17, 1);
  EXPECT_EQ(through(times), times);
}

TEST(RowWindow, RowsThatAreLateByLessThanAWindowComeOutSorted) {
  const auto times = shuffled_within(5 * Window::kRows + 3, static_cast<std::int64_t>(Window::kRows) - 1);
  auto expected = times;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(through(times), expected);
}

TEST(RowWindow, VeryLateRowsAreKept) {
  auto times = shuffled_within(4 * Window::kRows, 1);
  times.push_back(-1);
  auto out = through(times);
  EXPECT_EQ(out.size(), times.size());
  EXPECT_FALSE(std::is_sorted(out.begin(), out.end()));
}

TEST(RowWindow, TiesKeepTheirOrder) {
  Window window;
  for (int i = 0; i < 100; ++i) window.add(at(i < 50 ? 2 : 1, i));
  const auto [older, newer] = window.rows();
  EXPECT_TRUE(older.empty());
  for (std::size_t i = 0; i < newer.size(); ++i)
    EXPECT_EQ(newer[i].value, i < 50 ? 50.0 + static_cast<double>(i) : static_cast<double>(i) - 50);
}

TEST(RowWindow, TablesWithoutTimeKeepTheirOrder) {
  RowWindow<trace::GraphNodeRow> window;
  for (const int index : {5, 3, 4}) {
    trace::GraphNodeRow row;
    row.node_index = index;
    window.add(row);
  }
  EXPECT_EQ(window.rows().second[0].node_index, 5);
  EXPECT_EQ(window.rows().second[1].node_index, 3);
}

}  // namespace
}  // namespace aaco::tracelake::store
