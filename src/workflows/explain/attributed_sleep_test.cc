#include "workflows/explain/attributed_sleep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using ::testing::HasSubstr;

trace::MetricValue slept(const std::string& cause, double ns) {
  return {"sched.sleep_" + cause + "_per_iteration_ns", ns, "ns", {}, {}};
}

TEST(AttributedSleep, NamesTheCausesLongestFirst) {
  EXPECT_EQ(attributed_sleep({slept("io", 30), slept("workers_waiting", 65), slept("unknown", 5)}),
            "workers waiting 65.0 %, io 30.0 % of the caller's sleep");
}

TEST(AttributedSleep, NothingWhereMostIsUnknownOrNotRecorded) {
  EXPECT_FALSE(attributed_sleep({}));
  EXPECT_FALSE(attributed_sleep({slept("io", 0)}));
  EXPECT_FALSE(attributed_sleep({slept("io", 40), slept("unknown", 60)}));
}

TEST(AttributedSleep, AdviceDoesNotAskForWhatIsKnown) {
  std::vector<analytics::advice::Recommendation> list(3);
  list[0].id = "host_waiting", list[0].title = "find what the caller sleeps on", list[0].command = "aaco run --ebpf";
  list[1].id = "storage", list[1].title = "keep files in memory", list[1].command = "aaco run --ebpf";
  list[2].id = "interrupts", list[2].title = "isolate", list[2].command = "aaco run --isolate";
  follow_sleep("lock 90.0 % of the caller's sleep", list);
  EXPECT_EQ(list[0].title, "shorten what the caller sleeps for (lock 90.0 % of the caller's sleep)");
  EXPECT_EQ(list[0].command, "");
  EXPECT_EQ(list[1].title, "keep files in memory");
  EXPECT_EQ(list[1].command, "");
  EXPECT_EQ(list[2].command, "aaco run --isolate");
}

TEST(Stops, AdviceIsToFindTheirSource) {
  std::vector<analytics::advice::Recommendation> list(2);
  list[0].id = "host_waiting", list[0].title = "sleep";
  list[1].id = "storage", list[1].title = "files";
  follow_stops(std::nullopt, list);
  follow_stops(analytics::signals::CallAccount{}, list);
  EXPECT_EQ(list[0].title, "sleep");
  analytics::signals::CallAccount account;
  account.stops = 1;
  follow_stops(account, list);
  EXPECT_NE(list[0].title.find("SIGSTOP"), std::string::npos);
  EXPECT_EQ(list[1].title, "files");
}

TEST(Stops, AreNamedInTheDocument) {
  const core::Json document = core::Json::object({{"bottleneck_class", "host_waiting"}, {"meaning", "It sleeps."}});
  analytics::signals::CallAccount account;
  account.calls = 20;
  account.stops = 0.15;
  const core::Json told = with_stops(document, account);
  EXPECT_THAT(std::string(told["meaning"].text()),
              HasSubstr("It sleeps. The process was stopped and continued (SIGSTOP, SIGCONT) 3 times"));
  EXPECT_EQ(told["cause"]["id"].text(), "process-stopped");
}

TEST(Stops, FreezesAreNamedToo) {
  const core::Json document = core::Json::object({{"meaning", "It sleeps."}});
  analytics::signals::CallAccount account;
  account.calls = 20;
  account.freezes = 0.05;
  const core::Json told = with_stops(document, account);
  EXPECT_THAT(std::string(told["meaning"].text()), HasSubstr("frozen and thawed (cgroup freezer) at least 1 time during"));
  EXPECT_EQ(told["cause"]["id"].text(), "process-frozen");
  std::vector<analytics::advice::Recommendation> list(1);
  list[0].id = "host_waiting";
  follow_stops(account, list);
  EXPECT_THAT(list[0].title, HasSubstr("docker pause"));
}

TEST(Stops, NoneLeavesTheDocumentUnchanged) {
  const core::Json document = core::Json::object({{"meaning", "It sleeps."}});
  analytics::signals::CallAccount account;
  account.calls = 20;
  EXPECT_EQ(with_stops(document, account).dump(), document.dump());
  account.stops = 0;
  EXPECT_EQ(with_stops(document, account).dump(), document.dump());
  EXPECT_EQ(with_stops(document, std::nullopt).dump(), document.dump());
  account.stops = 1;
  EXPECT_TRUE(with_stops(core::Json(), account).is_null());
}

}  // namespace
}  // namespace aaco::workflows
