#include "analytics/call_join.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace aaco::analytics::call_join {
namespace {

// Calls of 2 to 5 us with irregular pauses; the trace's record lies inside the hook's.
struct Both {
  std::vector<Call> hooked, traced;
};
Both irregular(std::size_t count, std::int64_t shift_ns, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Both out;
  std::int64_t at = 1'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    at += 500 + static_cast<std::int64_t>(random() % 30'000);
    const std::int64_t length = 2000 + static_cast<std::int64_t>(random() % 3000);
    out.hooked.push_back({1, 2, 7, at, at + length, i + 1});
    out.traced.push_back({1, 2, 7, at + 100 - shift_ns, at + length - 100 - shift_ns, i});
    at += length;
  }
  return out;
}
ShiftFinder::Answer shift(const Both& calls, std::int64_t expected_ns) {
  ShiftFinder finder(calls.traced, expected_ns, 0);
  for (const Call& call : calls.hooked) finder.add(call);
  return finder.finish();
}
Matcher::Answer match(const Both& calls, std::int64_t shift_ns = 0, std::int64_t tolerance_ns = 300) {
  std::vector<Call> traced = calls.traced;
  for (Call& call : traced) call.start_ns += shift_ns, call.end_ns += shift_ns;
  Matcher matcher(traced, tolerance_ns);
  for (const Call& call : calls.hooked) matcher.add(call);
  return matcher.finish();
}

TEST(ShiftFinder, TheExpectedShiftIsKeptWhereItFits) { EXPECT_EQ(shift(irregular(500, 40), 0).shift_ns, 0); }
TEST(ShiftFinder, AnotherIsFoundByTheCalls) {
  const auto answer = shift(irregular(500, 1'234'567), 0);
  ASSERT_TRUE(answer.shift_ns);
  EXPECT_NEAR(static_cast<double>(*answer.shift_ns), 1'234'567, 150);
  EXPECT_EQ(answer.inside, answer.samples);
}
TEST(ShiftFinder, NearTheExpectedShiftAQuarterIsEnough) {
  Both calls = irregular(600, 900);
  for (std::size_t i = 0; i < calls.hooked.size(); ++i)
    if (i % 5 > 1) calls.hooked[i].function = 8;  // of a runtime that the hooks do not see
  const auto answer = shift(calls, 0);
  ASSERT_TRUE(answer.shift_ns);
  EXPECT_NEAR(static_cast<double>(*answer.shift_ns), 900, 100);
  for (Call& call : calls.traced) call.start_ns -= 100'000, call.end_ns -= 100'000;
  const auto far = shift(calls, 0);
  EXPECT_FALSE(far.shift_ns);
}
TEST(ShiftFinder, BeyondTheWindowNothingIsSaid) { EXPECT_FALSE(shift(irregular(500, 3'000'000'000), 0).shift_ns); }
TEST(ShiftFinder, RegularCallsDoNotTellAnUnexpectedShift) {
  Both calls;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) * 10'000;
    calls.hooked.push_back({1, 2, 7, at, at + 3000, i + 1});
    calls.traced.push_back({1, 2, 7, at + 100 + 700'000, at + 2900 + 700'000, i});
  }
  const auto answer = shift(calls, -704'000);
  EXPECT_FALSE(answer.shift_ns);
  EXPECT_TRUE(answer.several);
  EXPECT_EQ(shift(calls, -700'000).shift_ns, -700'000);  // as expected
}
TEST(ShiftFinder, OneCallDoesNotTell) {
  Both calls = irregular(500, 700'000);
  calls.traced.resize(1);
  EXPECT_FALSE(shift(calls, 0).shift_ns);
}
TEST(ShiftFinder, HooksThatWereOffForAWhileDoNotHideTheExpected) {
  Both calls = irregular(600, 0);
  calls.hooked.resize(250);
  EXPECT_EQ(shift(calls, 0).shift_ns, 0);
  EXPECT_FALSE(shift(irregular(600, 0), 2'000'000'000).shift_ns);
}
TEST(ShiftFinder, WithoutCallsNothingIsSaid) {
  EXPECT_FALSE(shift({}, 0).shift_ns);
  EXPECT_FALSE(shift({{}, irregular(5, 0).traced}, 0).shift_ns);
}

TEST(Matcher, EveryCallHasItsOwn) {
  const auto answer = match(irregular(2000, 0));
  ASSERT_EQ(answer.hooked.size(), 2000U);
  for (const auto& [traced, hooked] : answer.hooked) EXPECT_EQ(hooked, traced + 1);
}
TEST(Matcher, ACallThatTheHooksMissedIsNotAnothers) {
  Both calls = irregular(2000, 0);
  std::erase_if(calls.hooked, [](const Call& call) { return call.id % 3 == 0; });
  const auto answer = match(calls);
  EXPECT_EQ(answer.hooked.size(), calls.hooked.size());
  for (const auto& [traced, hooked] : answer.hooked) EXPECT_EQ(hooked, traced + 1);
  for (const auto& [traced, why] : answer.apart) EXPECT_EQ(why, Reason::no_call) << traced;
}
TEST(Matcher, ThreadsAndFunctionsAreKeptApart) {
  const Call hooked{1, 2, 7, 100, 200, 5};
  const auto why = [&](const Call& traced) { return match({{hooked}, {traced}}).apart.at(0); };
  EXPECT_EQ(match({{hooked}, {{1, 2, 7, 110, 190, 0}}}).hooked.at(0), 5U);
  EXPECT_EQ(why({1, 3, 7, 110, 190, 0}), Reason::other_thread);
  EXPECT_EQ(why({4, 2, 7, 110, 190, 0}), Reason::other_thread);
  EXPECT_EQ(why({1, 2, 8, 110, 190, 0}), Reason::no_call);
  EXPECT_EQ(why({1, 2, 7, 1110, 1190, 0}), Reason::no_call);
}
TEST(Matcher, TwoCallsInOneAreAmbiguous) {
  const auto answer = match({{{1, 2, 7, 100, 900, 5}}, {{1, 2, 7, 110, 300, 0}, {1, 2, 7, 400, 600, 1}}});
  EXPECT_TRUE(answer.hooked.empty());
  EXPECT_EQ(answer.apart.at(0), Reason::ambiguous);
  EXPECT_EQ(answer.apart.at(1), Reason::ambiguous);
}
TEST(Matcher, ARoundedCallBetweenTwoIsAmbiguous) {
  EXPECT_EQ(match({{{1, 2, 7, 1000, 1500, 5}, {1, 2, 7, 1600, 2100, 6}}, {{1, 2, 7, 1300, 1700, 0}}}, 0, 1300).apart.at(0),
            Reason::ambiguous);
}

std::string joined(const std::vector<Launch>& launches, const std::vector<Kernel>& kernels) {
  const auto answer = join_by_order(launches, kernels, 0);
  std::string out;
  for (const Kernel& one : kernels)
    out +=
        (out.empty() ? "" : " ") + (answer.launch.contains(one.id) ? std::to_string(answer.launch.at(one.id))
                                                                   : std::string(text_of(answer.apart.at(one.id))).substr(0, 12));
  return out;
}
Launch launch(std::uint64_t id, std::uint64_t stream, std::int64_t at, std::uint32_t kernel = 0, std::int64_t thread = 1) {
  return {stream, kernel, thread, at, at + 10, id, false};
}

TEST(JoinByOrder, AStreamsKernelsAreItsLaunches) {
  EXPECT_EQ(joined({launch(1, 0, 0), launch(2, 0, 20), launch(3, 0, 40)}, {{9, 5, 15, 0}, {9, 5, 30, 1}, {9, 5, 60, 2}}),
            "1 2 3");
}
TEST(JoinByOrder, StreamsAreDistinguishedByTheirNumberOfLaunches) {
  EXPECT_EQ(joined({launch(1, 0, 0), launch(2, 1, 5), launch(3, 1, 20)}, {{8, 5, 15, 0}, {9, 5, 50, 1}, {8, 5, 30, 2}}), "2 1 3");
}
TEST(JoinByOrder, StreamsAreDistinguishedByNames) {
  EXPECT_EQ(joined({launch(1, 0, 0, 5), launch(2, 1, 2, 6)}, {{8, 6, 50, 0}, {9, 5, 51, 1}}), "2 1");
}
TEST(JoinByOrder, StreamsAreDistinguishedByExclusion) {  // the second stream's kernel starts before the second launch
  EXPECT_EQ(joined({launch(1, 0, 0), launch(2, 1, 40)}, {{8, 5, 20, 0}, {9, 5, 60, 1}}), "1 2");
}
TEST(JoinByOrder, EqualStreamsAreLeft) {
  EXPECT_EQ(joined({launch(1, 0, 0), launch(2, 1, 2)}, {{8, 5, 20, 0}, {9, 5, 21, 1}}), "on a stream  on a stream ");
}
TEST(JoinByOrder, AMissingLaunchLeavesAll) {
  EXPECT_EQ(joined({launch(1, 0, 0)}, {{8, 5, 20, 0}, {8, 5, 21, 1}}), "on a stream  on a stream ");
  EXPECT_EQ(join_by_order({launch(1, 0, 0)}, {{8, 5, 20, 0}, {8, 5, 21, 1}}, 0).apart.at(0), Reason::counts);
}
TEST(JoinByOrder, AKernelBeforeItsLaunchIsNotOfIt) { EXPECT_EQ(joined({launch(1, 0, 50)}, {{8, 5, 20, 0}}), "on a stream "); }
TEST(JoinByOrder, GraphsAreLeft) {
  Launch graph = launch(1, 0, 0);
  graph.is_graph = true;
  EXPECT_EQ(join_by_order({graph}, {{8, 5, 20, 0}}, 0).apart.at(0), Reason::graph);
}
TEST(JoinByOrder, ConcurrentLaunchesOfTwoThreadsAreLeft) {
  const auto answer = join_by_order({launch(1, 0, 0, 0, 1), launch(2, 0, 5, 0, 2), launch(3, 0, 50, 0, 1)},
                                    {{8, 5, 20, 0}, {8, 5, 30, 1}, {8, 5, 60, 2}}, 0);
  EXPECT_EQ(answer.apart.at(0), Reason::concurrent);
  EXPECT_EQ(answer.apart.at(1), Reason::concurrent);
  EXPECT_EQ(answer.launch.at(2), 3U);
}
TEST(JoinByOrder, NoLaunchesYieldNoPairs) { EXPECT_TRUE(join_by_order({}, {}, 0).apart.empty()); }

TEST(Reason, HasWords) {
  for (int i = 0; i <= static_cast<int>(Reason::limit); ++i) EXPECT_FALSE(text_of(static_cast<Reason>(i)).empty()) << i;
}

}  // namespace
}  // namespace aaco::analytics::call_join
