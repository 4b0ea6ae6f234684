#include "analytics/step_time.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

StepTimer::Work kernel(std::int64_t start, std::int64_t end) { return {WorkKind::compute, {1}, start, end}; }
StepTimer::Work copy(std::int64_t start, std::int64_t end) { return {WorkKind::copy, {2}, start, end}; }

double parts(const StepTime& time) {
  double sum = time.compute_ns + time.exposed_copy_ns + time.exposed_collective_ns;
  for (const auto& [cause, ns] : time.idle_ns) sum += ns;
  return sum;
}

TEST(StepTime, UsesDeviceSpanWithoutSteps) {
  const Windows none;
  StepTimer timer(none);
  timer.add(0, 0, kernel(300, 400));
  timer.add(0, 0, kernel(100, 200));
  timer.add(0, 0, copy(150, 250));
  const StepTime time = timer.finish(0);
  EXPECT_EQ(time.window_count, 1);
  EXPECT_EQ(time.span_ns, 300);
  EXPECT_EQ(time.compute_ns, 200);
  EXPECT_EQ(time.exposed_copy_ns, 50);
  EXPECT_EQ(time.idle_ns.at("short gaps"), 50);
}

TEST(StepTime, WorkOutsideStepsDoesNotCount) {
  const Windows steps = {{0, {{100, 200}, {300, 400}}}};
  StepTimer timer(steps);
  timer.add(0, 0, kernel(0, 150));  // half of it within the first step
  timer.add(0, 0, kernel(310, 360));
  timer.add_gap({0, 0, 250, 310}, "host_late");
  const StepTime time = timer.finish(0);
  EXPECT_EQ(time.window_count, 2);
  EXPECT_EQ(time.span_ns, 100);
  EXPECT_EQ(time.compute_ns, 50);
  EXPECT_EQ(time.idle_ns.at("host_late"), 5);  // 10 of it lie in the second
  EXPECT_DOUBLE_EQ(parts(time), time.span_ns);
}

TEST(StepTime, StepExtendsToTheNextStep) {
  const Windows steps = {{0, {{0, 100}, {200, 300}}}};
  StepTimer timer(steps);
  timer.add(0, 0, kernel(90, 180));
  timer.add(0, 0, kernel(210, 290));
  timer.add(0, 0, kernel(295, 500));
  const StepTime time = timer.finish(0);
  EXPECT_EQ(time.span_ns, (180 + 300) / 2.0);
  EXPECT_DOUBLE_EQ(parts(time), time.span_ns);
}

TEST(StepTime, DevicesAndRanksAreAveraged) {
  const Windows steps = {{0, {{0, 100}}}, {1, {{0, 300}}}};
  StepTimer timer(steps);
  timer.add(0, 0, kernel(0, 50));
  timer.add(1, 0, kernel(0, 150));
  timer.add(2, 0, kernel(0, 1000));  // a rank without steps
  const StepTime time = timer.finish(0);
  EXPECT_EQ(time.window_count, 2);
  EXPECT_EQ(time.span_ns, 200);
  EXPECT_EQ(time.compute_ns, 100);
}

TEST(StepTime, OnlyUnevenGapsAddVariance) {
  const Windows none;
  StepTimer even(none), uneven(none);
  for (std::int64_t i = 0; i < 10; ++i) {
    even.add(0, 0, kernel(100 * i, 100 * i + 50));
    uneven.add(0, 0, kernel(100 * i + (i % 2) * 40, 100 * i + 50 + (i % 2) * 40));
  }
  EXPECT_EQ(even.finish(0).variance_ns2, 0);
  EXPECT_GT(uneven.finish(0).variance_ns2, 0);
}

std::optional<double> paired(const std::vector<std::int64_t>& starts_a, const std::vector<std::int64_t>& starts_b,
                             const char* other = "k") {
  const Windows none;
  StepTimer timer_a(none), timer_b(none);
  trace::NameTable names_a, names_b;
  const trace::NameId name_a = names_a.intern("k"), name_b = names_b.intern(other);
  for (const auto start : starts_a) timer_a.add(0, 0, {WorkKind::compute, name_a, start, start + 10});
  for (const auto start : starts_b) timer_b.add(0, 0, {WorkKind::compute, name_b, start, start + 10});
  const auto deviation = paired_deviation(timer_a.finish(0), names_a, timer_b.finish(0), names_b);
  if (!deviation) return std::nullopt;
  EXPECT_LT(deviation->kernel_sum_ns, 11);  // each kernel takes the same; windows begin with one that took nothing
  return deviation->span_ns;
}

TEST(StepTime, CommonVariationCancels) {
  const std::vector<std::int64_t> ragged = {0, 500, 530, 2000, 2020, 2900, 3000, 3015};
  std::vector<std::int64_t> later = ragged;
  for (std::size_t i = 0; i < later.size(); ++i) later[i] += 100 * static_cast<std::int64_t>(i);  // each beat 100 longer
  ASSERT_TRUE(paired(ragged, later).has_value());
  EXPECT_LT(*paired(ragged, later), 150);  // the last beat has no next kernel
  EXPECT_GT(*paired(ragged, {0, 40, 900, 930, 2500, 2520, 2600, 3015}), 1000);
}

TEST(StepTime, OtherKernelsAreNotPaired) {
  EXPECT_FALSE(paired({0, 100, 200}, {0, 100}).has_value());
  EXPECT_FALSE(paired({0, 100}, {0, 100}, "other").has_value());
}

TEST(StepTime, NoResultWithoutWork) {
  const Windows none;
  StepTimer timer(none);
  timer.add(0, 0, kernel(10, 5));  // ends before it starts
  EXPECT_EQ(timer.finish(0).window_count, 0);
}

}  // namespace
}  // namespace aaco::analytics::trace_time
