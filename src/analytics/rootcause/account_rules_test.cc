#include "analytics/rootcause/account_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/rootcause/cause_evidence.h"
#include "analytics/rootcause/sides_testing.h"
#include "analytics/sleep_causes.h"

namespace aaco::analytics::rootcause {
namespace {

TEST(Causes, EachHasItsOwnEvidence) {
  Side b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->wait_ns = 500, b.account->blocked_ns = 300, b.account->cpu_ns = 1200;
  const Decomposition difference = *decompose(calm(), b);
  const auto causes = find_causes(calm(), b, difference, {}, book(), nullptr);
  ASSERT_GE(causes.size(), 2U);
  for (const Cause& one : causes)
    for (const Cause& other : causes)
      EXPECT_TRUE(one.id == other.id || one.share_ratio == 0 || one.evidence != other.evidence) << one.id << " " << other.id;
  for (const Cause& one : causes) {
    ASSERT_FALSE(one.evidence.empty()) << one.id;
    const bool waits = one.id == "cpu_contention" || one.id == "cpu_placement";
    EXPECT_EQ(one.evidence.front().starts_with("waiting for a CPU"), waits) << one.id << ": " << one.evidence.front();
  }
}

TEST(Causes, ACauseWithoutAPartSaysSo) {
  Side b = calm();
  b.call_ns = b.account->wall_ns = b.account->cpu_ns.emplace(1500);
  const auto evidence = evidence_of_cause("storage", calm(), b, *decompose(calm(), b));
  EXPECT_THAT(evidence, testing::ElementsAre(testing::HasSubstr("no part of the difference is its own")));
  EXPECT_EQ(share_of_cause("storage", *decompose(calm(), b)), 0);
}

// The learned ranking, where it contradicts the account, gives way.
TEST(AccountRules, TheRankingFollowsTheParts) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->blocked_ns = 590, b.account->cpu_ns = 1410;
  a.account->process_cpu_ns = 1000, b.account->process_cpu_ns = 1410;  // one thread
  Weights weights = {{"slower_execution", 0.6}, {"host_waiting", 0.3}, {"storage", 0.1}};
  apply_account(a, b, *decompose(a, b), weights);
  EXPECT_GT(weights["host_waiting"], weights["slower_execution"]);
  EXPECT_GT(weights["slower_execution"], 0.05) << "41 % of the difference";
  EXPECT_NEAR(weights["host_waiting"] / weights["storage"], 3, 1e-9) << "within a kind the ranking stays";
  b.account->blocked_ns = 500, b.account->cpu_ns = b.account->process_cpu_ns = 1500;
  weights = {{"slower_execution", 0.6}, {"host_waiting", 0.4}};
  apply_account(a, b, *decompose(a, b), weights);
  EXPECT_NEAR(weights["slower_execution"], 0.6, 1e-9) << "as large: no contradiction";
}

TEST(AccountRules, ARankingIsNotMuchSurerThanTheParts) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->wait_ns = 520, b.account->blocked_ns = 480;
  Weights weights = {{"cpu_contention", 0.9}, {"host_waiting", 0.1}};
  apply_account(a, b, *decompose(a, b), weights);
  EXPECT_GT(weights["host_waiting"], 0.35) << "48 % of the difference";
  EXPECT_GT(weights["cpu_contention"], weights["host_waiting"]);
}

// One CPU, on which other processes compute half of the time before and after: the caller waits for its own child processes.
struct OnOneCpu {
  Side fast = calm(), slow = calm();
  explicit OnOneCpu(double own, double others) {
    fast.call_ns = fast.account->wall_ns = 2000, fast.account->wait_ns = 1000;
    fast.account->process_cpu_ns = 1000, fast.account->others_cpu_ns = 1000;
    slow.call_ns = slow.account->wall_ns = 10'000, slow.account->wait_ns = 9000;
    slow.account->process_cpu_ns = 1000 + own, slow.account->others_cpu_ns = others;
    for (Side* one : {&fast, &slow}) one->signals.set("others.cpu_use_cores", 0.5);
  }
  [[nodiscard]] std::string first() const { return first_cause(fast, slow); }
};

TEST(AccountRules, OwnChildProcessesAreNotOtherProcesses) {
  const OnOneCpu children(4000, 5000), hogs(0, 9000), both(1500, 7500);
  EXPECT_EQ(children.first(), "cpu_placement");
  const auto causes = find_causes(children.fast, children.slow, *decompose(children.fast, children.slow), {}, book(), nullptr);
  EXPECT_THAT(causes.front().title, testing::HasSubstr("child processes of the run"));
  EXPECT_EQ(hogs.first(), "cpu_contention");
  EXPECT_EQ(both.first(), "cpu_contention") << "others got more of what the caller lost";
  const OnOneCpu as_much(2500, 7500);
  const auto named = find_causes(as_much.fast, as_much.slow, *decompose(as_much.fast, as_much.slow), {}, book(), nullptr);
  ASSERT_GE(named.size(), 2U);
  EXPECT_GT(named[1].probability, 0.2) << "both are causes";
}

TEST(AccountRules, AThreadThatHoldsALockIsNotAnotherProcess) {
  OnOneCpu lock(4000, 5000);
  auto& call = *lock.slow.account;
  call.wait_ns = 4000, call.blocked_ns = 5000, call.others_wait_ns = 4000;
  for (Side* one : {&lock.fast, &lock.slow})
    for (std::size_t i = 0; i < scheduling::kSleepCauses; ++i)
      one->metrics.push_back({scheduling::metric_of(static_cast<scheduling::SleepCause>(i)), 0, "ns", {}, {}});
  for (auto& metric : lock.slow.metrics) {
    if (metric.id == scheduling::metric_of(scheduling::SleepCause::workers_waiting)) metric.value = 3500;
    if (metric.id == scheduling::metric_of(scheduling::SleepCause::workers_computing)) metric.value = 1500;
  }
  EXPECT_EQ(lock.first(), "host_waiting");
  lock.fast.metrics.clear(), lock.slow.metrics.clear();
  EXPECT_EQ(lock.first(), "host_waiting") << "also where nothing tells what it slept for";
}

TEST(AccountRules, KernelTimeWithoutFaultsIsThatOfSystemCalls) {
  Side a = calm(), b = calm();
  for (Side* one : {&a, &b})
    one->account->process_cpu_ns = one->account->cpu_ns = 1'000'000, one->call_ns = one->account->wall_ns = 1e6;
  b.call_ns = b.account->wall_ns = b.account->cpu_ns.emplace(2e6);
  b.account->process_cpu_ns = 2e6, b.account->system_ns = 900'000;
  EXPECT_EQ(first_cause(a, b), "system_calls");
  EXPECT_NEAR(share_of(*decompose(a, b), "system_calls"), 0.9, 1e-9);
  b.account->minor_faults = 800;
  EXPECT_EQ(first_cause(a, b), "page_faults");
  b.account->minor_faults = 0, b.account->system_ns = 100'000;
  EXPECT_EQ(first_cause(a, b), "slower_execution");
}

TEST(AccountRules, WorkAroundTheModelNeedsAProfiledPass) {
  Side a = calm(), b = calm();
  b.call_ns = b.account->wall_ns = b.account->cpu_ns.emplace(1500);
  b.account->process_cpu_ns = 3000;
  Weights weights = {{"host_computing", 0.6}, {"interrupts", 0.4}};
  apply_account(a, b, *decompose(a, b), weights);
  EXPECT_FALSE(weights.contains("host_computing"));
  EXPECT_NEAR(weights["slower_execution"], 0.6, 1e-9);
  b.account->minor_faults = 100, b.account->system_ns = 400;  // page faults are the host's work
  weights = {{"host_computing", 0.6}, {"interrupts", 0.4}};
  apply_account(a, b, *decompose(a, b), weights);
  EXPECT_TRUE(weights.contains("host_computing"));
}

TEST(CauseEvidence, ASettingExplainsWhatIsNotWaiting) {
  Side b = calm();
  b.call_ns = b.account->wall_ns = 2000;
  b.account->wait_ns = 400, b.account->cpu_ns = 1600;
  const Decomposition difference = *decompose(calm(), b);
  EXPECT_NEAR(share_of_setting("graph_optimisation", difference), 0.6, 1e-9);
  EXPECT_NEAR(share_of_setting("priority", difference), 0.4, 1e-9);
  EXPECT_EQ(share_of_setting("cpu_throttling", difference), 0);
  EXPECT_EQ(evidence_of_setting("priority", difference).size(), 1U);
}

TEST(MeanSide, IsTheMeanOfItsSessions) {
  Side first = calm(), second = calm();
  second.call_ns = second.account->wall_ns = 2000;
  second.account->wait_ns = 1000;
  second.account->stops = 1;
  first.metrics = {{"sched.sleep_io_per_iteration_ns", 10, "ns", {}, {}}};
  second.metrics = {{"sched.sleep_io_per_iteration_ns", 30, "ns", {}, {}}};
  const std::vector<const Side*> both = {&first, &second};
  const Side mean = mean_side(both, first);
  EXPECT_EQ(mean.call_ns, 1500);
  EXPECT_EQ(mean.account->wait_ns, 500);
  EXPECT_EQ(mean.account->wall_ns, 1500);
  EXPECT_FALSE(mean.account->stops) << "one session does not know it";
  EXPECT_EQ(mean.metrics.front().value, 20);
  const std::vector<const Side*> one = {&second};
  EXPECT_EQ(mean_side(one, second).account->wait_ns, 1000);
  second.account.reset();
  EXPECT_FALSE(mean_side(both, first).account);
}

}  // namespace
}  // namespace aaco::analytics::rootcause
