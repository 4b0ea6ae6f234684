#include "analytics/advice.h"

#include <gtest/gtest.h>

#include "tests/support/source_dir.h"

namespace aaco::analytics::advice {
namespace {

const bottleneck::RuleBook& book() {
  static const bottleneck::RuleBook shipped = *bottleneck::RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  return shipped;
}

bottleneck::Bottleneck limited_by(std::initializer_list<std::pair<const char*, double>> classes) {
  bottleneck::Bottleneck found;
  for (const auto& [id, probability] : classes) found.ranking.push_back({id, probability});
  found.class_id = found.ranking.front().class_id;
  return found;
}

TEST(Advice, GainIsTheRemovablePart) {
  signals::Signals signals;
  signals.set("caller.wait_ratio", 0.2);
  signals.set("process.others_wait_ratio", 1.3);
  signals.set("process.cpu_use_cores", 0.5);
  const auto list = recommend(limited_by({{"cpu_contention", 0.9}}), book(), signals, {}, {});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_NEAR(list[0].gain_ratio, 0.75, 1e-9);  // half a CPU ran where two wanted to
  EXPECT_EQ(list[0].title, book().find("cpu_contention")->strategies.front());
  EXPECT_NE(list[0].basis.find("caller.wait_ratio"), std::string::npos);
}

TEST(Advice, CallerWaitIsNeverHidden) {
  signals::Signals signals;
  signals.set("caller.wait_ratio", 0.6);
  signals.set("process.others_wait_ratio", 0.6);
  signals.set("process.cpu_use_cores", 1.2);
  EXPECT_NEAR(recommend(limited_by({{"cpu_contention", 0.9}}), book(), signals, {}, {})[0].gain_ratio, 0.6, 1e-9);
}

TEST(Advice, RankedByExpectedSaving) {
  signals::Signals signals;
  signals.set("caller.wait_ratio", 0.2);
  signals.set("host.around_ratio", 0.3);
  signals.set("node.remainder_ratio", 0.9);
  const auto list =
      recommend(limited_by({{"launch_bound", 0.1}, {"cpu_contention", 0.6}, {"host_computing", 0.3}}), book(), signals, {}, {});
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].id, "cpu_contention");  // 0.12; the others 0.045 each
  for (std::size_t i = 1; i < list.size(); ++i) EXPECT_GE(list[i - 1].worth(), list[i].worth());
}

TEST(Advice, NoAdviceWithoutGain) {
  signals::Signals signals;
  EXPECT_TRUE(recommend(limited_by({{"cpu_contention", 0.9}}), book(), signals, {}, {}).empty());
  signals.set("caller.wait_ratio", 0.4);
  EXPECT_TRUE(recommend(limited_by({{"host_waiting", 0.9}, {"cpu_contention", 0.01}}), book(), signals, {}, {}).empty());
  EXPECT_TRUE(recommend(limited_by({{"unheard", 1}}), book(), signals, {}, {}).empty());
}

metrics::NodeTime operators(trace::NameTable& names, std::initializer_list<std::pair<const char*, double>> shares) {
  metrics::NodeTime nodes;
  for (const auto& [name, ratio] : shares) {
    metrics::NodeShare share;
    share.op_type = names.intern(name);
    share.share_ratio = ratio;
    nodes.operators.push_back(share);
  }
  return nodes;
}

TEST(Advice, FewerBitsSaveUpToThreeQuartersOfConvolutionsAndProducts) {
  trace::NameTable names;
  const auto nodes = operators(names, {{"Conv", 0.6}, {"Gemm", 0.2}, {"Softmax", 0.1}});
  const auto list = recommend(limited_by({{"compute_bound", 0.9}}), book(), {}, nodes, names);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_NEAR(list[0].gain_ratio, 0.6, 1e-9);
  EXPECT_NE(list[0].command.find("aaco optimize"), std::string::npos);
}

TEST(Advice, ByteDotProductsSaveAtLeastAThirdAndMoreCpusCountInTheMost) {
  trace::NameTable names;
  const auto nodes = operators(names, {{"Conv", 0.6}, {"MatMul", 0.3}});
  signals::Signals signals;
  signals.set("process.allowed_cores", 4);
  signals.set("process.cpu_use_cores", 2);
  const auto list = recommend(limited_by({{"compute_bound", 1}}), book(), signals, nodes, names, {.byte_dot_products = true});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_NEAR(list[0].least_gain_ratio, 0.3, 1e-9);
  EXPECT_NEAR(list[0].gain_ratio, 1 - (1 - 0.675) / 2, 1e-9);
  signals.set("process.cpu_use_cores", 3.9);
  EXPECT_NEAR(recommend(limited_by({{"compute_bound", 1}}), book(), signals, nodes, names)[0].gain_ratio, 0.675, 1e-9);
  EXPECT_EQ(recommend(limited_by({{"compute_bound", 1}}), book(), signals, nodes, names)[0].least_gain_ratio, 0);
}

TEST(Advice, TheGainOfAFasterImplementationOfTheCostliestOperatorIsUnknown) {
  trace::NameTable names;
  const auto nodes = operators(names, {{"Erf", 0.8}});
  const auto list = recommend(limited_by({{"compute_bound", 0.9}}), book(), {}, nodes, names);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].gain_ratio, 0);
  EXPECT_NEAR(list[0].cost_ratio, 0.4, 1e-9);
  EXPECT_NEAR(list[0].confidence, 0.36, 1e-9) << "that a faster implementation exists was not tried";
  EXPECT_NE(list[0].basis.find("Erf"), std::string::npos);
}

TEST(Advice, GainIsBelowTheWholeCall) {
  signals::Signals signals;
  signals.set("caller.wait_ratio", 3);
  EXPECT_LT(recommend(limited_by({{"cpu_contention", 1}}), book(), signals, {}, {})[0].gain_ratio, 1);
}

}  // namespace
}  // namespace aaco::analytics::advice
