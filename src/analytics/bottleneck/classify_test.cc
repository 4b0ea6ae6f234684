#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analytics/blame.h"
#include "analytics/bottleneck.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::bottleneck {
namespace {

using signals::Signals;

const RuleBook& shipped() {
  static const RuleBook book = *RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  return book;
}

core::Result<RuleBook> parse(const std::string& text) { return RuleBook::parse(*core::YamlNode::parse(text, "rules.yaml")); }

const std::string kClasses =
    "schema: 1\nclasses:\n  - {id: a, title: A, meaning: M, strategies: [do a]}\n"
    "  - {id: b, title: B, meaning: M, prior: 0.1, strategies: [do b]}\n";

Signals with(std::initializer_list<std::pair<std::string_view, double>> values) {
  Signals signals;
  for (const auto& [id, value] : values) signals.set(id, value);
  return signals;
}

TEST(Rules, ShippedBookIsComplete) {
  const auto book = RuleBook::load(AACO_SOURCE_DIR "/data/rules/bottleneck.yaml");
  ASSERT_TRUE(book) << book.error().text();
  for (const BottleneckClass& one : book->classes()) {
    EXPECT_FALSE(one.strategies.empty()) << one.id;
    EXPECT_FALSE(one.meaning.empty()) << one.id;
  }
}

TEST(Rules, ErrorsNameFileAndLine) {
  const auto refused = [](const std::string& rules) {
    const auto book = parse(kClasses + "rules:\n  - " + rules + "\n");
    return !book && book.error().message.find("rules.yaml:") != std::string::npos;
  };
  EXPECT_TRUE(refused("{class: c, signal: latency.p50_ns, from: 0, to: 1, weight: 1}"));
  EXPECT_TRUE(refused("{class: a, signal: latency.nothing, from: 0, to: 1, weight: 1}"));
  EXPECT_TRUE(refused("{class: a, signal: latency.p50_ns, from: 1, to: 1, weight: 1}"));
  EXPECT_TRUE(refused("{class: a, signal: latency.p50_ns, from: 0, to: 1, weight: 1, scale: log}"));
  EXPECT_TRUE(refused("{class: a, signal: latency.p50_ns, from: 1, to: 2, weight: 1, scale: square}"));
  EXPECT_TRUE(refused("{class: a, signal: latency.p50_ns, from: 0, to: 1}"));
  EXPECT_TRUE(refused("{class: a, signal: latency.p50_ns, from: 0, to: 1, weight: 1, colour: red}"));
  EXPECT_FALSE(parse("schema: 2\nclasses: []\nrules: []\n"));
  EXPECT_FALSE(parse("schema: 1\nclasses: []\nrules: []\n"));
  EXPECT_FALSE(parse(kClasses + "  - {id: a, title: A, meaning: M, strategies: [x]}\nrules: []\n"));
  EXPECT_FALSE(parse("schema: 1\nclasses:\n  - {id: a, title: A, meaning: M, strategies: []}\nrules: []\n"));
}

TEST(Rules, SignalWeightIsInterpolated) {
  const auto book = parse(kClasses + "rules:\n  - {class: a, signal: caller.wait_ratio, from: 0.1, to: 0.3, weight: 2}\n");
  ASSERT_TRUE(book);
  const auto none = classify_by_rules(*book, with({{"caller.wait_ratio", 0.05}}));
  EXPECT_EQ(none.class_id, "b");  // by its prior
  EXPECT_TRUE(none.evidence.empty());
  const auto half = classify_by_rules(*book, with({{"caller.wait_ratio", 0.2}}));
  EXPECT_EQ(half.class_id, "a");
  ASSERT_EQ(half.evidence.size(), 1U);
  EXPECT_NEAR(half.evidence[0].weight, 1, 1e-9);
  EXPECT_NEAR(half.confidence, 1 / (1 + std::exp(0.1 - 1)), 1e-9);
  EXPECT_NEAR(classify_by_rules(*book, with({{"caller.wait_ratio", 5}})).evidence[0].weight, 2, 1e-9);
}

TEST(Rules, UnmetNeedsRuleOutClasses) {
  const auto book = parse(
      "schema: 1\nclasses:\n  - {id: a, title: A, meaning: M, prior: 5, needs: {signal: cgroup.throttled_ratio, above: 0.01}, "
      "strategies: [x]}\n"
      "  - {id: b, title: B, meaning: M, strategies: [y]}\nrules:\n"
      "  - {class: a, signal: cgroup.limit_use_ratio, from: 0.7, to: 0.9, weight: 1}\n"
      "  - {class: b, signal: caller.wait_ratio, from: 0.1, to: 0.3, weight: 2}\n");
  ASSERT_TRUE(book) << book.error().text();
  // Not measured: possible where something else speaks for it, else it would stand without evidence.
  EXPECT_EQ(classify_by_rules(*book, with({{"caller.wait_ratio", 0.2}, {"cgroup.limit_use_ratio", 1}})).class_id, "a");
  EXPECT_EQ(classify_by_rules(*book, with({{"caller.wait_ratio", 0.2}})).class_id, "b");
  EXPECT_EQ(classify_by_rules(*book, with({{"caller.wait_ratio", 0.2}, {"cgroup.throttled_ratio", 0}})).class_id, "b");
  EXPECT_EQ(classify_by_rules(*book, with({{"caller.wait_ratio", 0.2}, {"cgroup.throttled_ratio", 0.3}})).class_id, "a");
  EXPECT_FALSE(parse(
      "schema: 1\nclasses:\n  - {id: a, title: A, meaning: M, needs: {signal: no, above: 1}, strategies: [x]}\nrules: []\n"));
}

TEST(Rules, EveryMeasuredNeedMustBeMet) {
  const auto book = parse(
      "schema: 1\nclasses:\n  - id: a\n    title: A\n    meaning: M\n    prior: 5\n    needs:\n"
      "      - {signal: others.cpu_use_cores, above: 0.03}\n      - {signal: others.wait_ratio, above: 0.2}\n    strategies: "
      "[x]\n"
      "  - {id: b, title: B, meaning: M, strategies: [y]}\nrules:\n"
      "  - {class: a, signal: process.wait_cores, from: 0.1, to: 0.3, weight: 1}\n");
  ASSERT_TRUE(book) << book.error().text();
  const auto class_of = [&](std::initializer_list<std::pair<std::string_view, double>> values) {
    return classify_by_rules(*book, with(values)).class_id;
  };
  EXPECT_EQ(class_of({{"process.wait_cores", 1}, {"others.cpu_use_cores", 0.9}, {"others.wait_ratio", 0.9}}), "a");
  EXPECT_EQ(class_of({{"process.wait_cores", 1}, {"others.cpu_use_cores", 0.9}, {"others.wait_ratio", 0.1}}), "b");
  EXPECT_EQ(class_of({{"process.wait_cores", 1}, {"others.cpu_use_cores", 0.01}, {"others.wait_ratio", 0.9}}), "b");
  EXPECT_EQ(class_of({{"process.wait_cores", 1}, {"others.cpu_use_cores", 0.9}}), "a") << "the other one was not measured";
  EXPECT_EQ(class_of({{"process.wait_cores", 1}}), "a") << "a rule supports it";
}

TEST(Rules, WhatSpokeForAnImpossibleClassSpeaksForItsHeir) {
  const auto book = parse(
      "schema: 1\nclasses:\n  - {id: a, title: A, meaning: M, needs: {signal: others.wait_ratio, above: 0.2, otherwise: c}, "
      "strategies: [x]}\n  - {id: b, title: B, meaning: M, strategies: [y]}\n  - {id: c, title: C, meaning: M, strategies: [z]}\n"
      "rules:\n  - {class: a, signal: process.wait_cores, from: 0.1, to: 0.3, weight: 1}\n");
  ASSERT_TRUE(book) << book.error().text();
  const auto possible_signals = with({{"process.wait_cores", 1}, {"others.wait_ratio", 0.1}});
  std::vector<ClassScore> ranking = {{"a", 0.6}, {"b", 0.3}, {"c", 0.1}};
  rule_out(*book, features_of(*book, possible_signals), ranking);
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_EQ(ranking[0].class_id, "c");
  EXPECT_NEAR(ranking[0].probability, 0.7, 1e-9);
  EXPECT_FALSE(
      parse("schema: 1\nclasses:\n  - {id: a, title: A, meaning: M, needs: {signal: others.wait_ratio, above: 1, "
            "otherwise: no}, strategies: [x]}\nrules: []\n"));
}

// Two threads of the run's own process spin; little else runs.
TEST(Rules, OwnThreadsAreNotOtherProcesses) {
  const auto found = classify_by_rules(shipped(), with({{"process.wait_cores", 2},
                                                        {"others.cpu_use_cores", 0.12},
                                                        {"others.wait_ratio", 0.06},
                                                        {"process.allowed_use_ratio", 0.97}}));
  EXPECT_EQ(found.class_id, "cpu_placement");
  for (const ClassScore& one : found.ranking) EXPECT_NE(one.class_id, "cpu_contention");
}

TEST(Rules, NoAnswerWithoutSignals) {
  const auto found = classify_by_rules(shipped(), Signals());
  EXPECT_TRUE(found.class_id.empty());
  EXPECT_TRUE(found.ranking.empty());
}

TEST(Rules, ProbabilitiesAddUp) {
  const auto found = classify_by_rules(shipped(), with({{"caller.wait_ratio", 0.2}, {"work.intensity", 30}}));
  double sum = 0;
  for (const ClassScore& one : found.ranking) sum += one.probability;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_LE(found.ranking.size(), shipped().classes().size());
}

TEST(Rules, FindsClearCases) {
  const auto class_of = [](std::initializer_list<std::pair<std::string_view, double>> values) {
    return classify_by_rules(shipped(), with(values)).class_id;
  };
  EXPECT_EQ(
      class_of({{"work.intensity", 40}, {"node.remainder_ratio", 0.05}, {"work.flops_per_second", 6e10}, {"node.mean_ns", 4e5}}),
      "compute_bound");
  EXPECT_EQ(
      class_of({{"work.intensity", 0.1}, {"work.bytes_per_second", 9e9}, {"node.mean_ns", 3e6}, {"node.remainder_ratio", 0.02}}),
      "memory_bound");
  EXPECT_EQ(
      class_of({{"node.mean_ns", 900}, {"node.between_ratio", 0.5}, {"work.flops_per_second", 1e8}, {"work.intensity", 0.2}}),
      "launch_bound");
  EXPECT_EQ(class_of({{"process.wait_cores", 0.6}, {"others.cpu_use_cores", 1}, {"process.allowed_use_ratio", 0.5}}),
            "cpu_contention");
  EXPECT_EQ(class_of({{"process.wait_cores", 0.6}, {"others.cpu_use_cores", 1}, {"process.allowed_use_ratio", 0.99}}),
            "cpu_placement");  // others have the CPU that is not allowed
  EXPECT_EQ(class_of({{"cgroup.throttled_ratio", 0.5},
                      {"cgroup.limit_use_ratio", 1},
                      {"process.wait_cores", 0.9},
                      {"others.cpu_use_cores", 1}}),
            "cpu_throttling");
  EXPECT_EQ(class_of({{"faults.minor_per_second", 8e5}, {"process.system_ratio", 0.5}, {"host.around_ratio", 0.4}}),
            "page_faults");
  EXPECT_EQ(class_of({{"caller.blocked_ratio", 0.4}, {"host.around_ratio", 0.4}, {"storage.bytes_per_second", 0}}),
            "host_waiting");
  EXPECT_EQ(class_of({{"migrations_per_second", 900}}), "migration");
}

LearnedModel two_leaves() {
  LearnedModel model;
  model.classes = {"compute_bound", "cpu_contention"};
  model.features = {"caller.wait_ratio"};
  using Node = stats::BoostedTrees::Node;
  model.trees = *stats::BoostedTrees::of(
      1, {0, 0}, {Node{0, 0.1F, 2, true}, Node{-1, 2.0F, 0, false}, Node{-1, -2.0F, 0, false}, Node{-1, 0.0F, 0, false}}, {0, 3});
  return model;
}

TEST(Learned, DecidesIfItsSignalsAreKnown) {
  const LearnedModel model = two_leaves();
  const auto calm = classify(
      shipped(), &model,
      with({{"caller.wait_ratio", 0.01}, {"caller.cpu_ratio", 0.9}, {"others.cpu_use_cores", 0.5}, {"latency.p50_ns", 1}}));
  EXPECT_EQ(calm.method, "trees");
  EXPECT_EQ(calm.class_id, "compute_bound");
  EXPECT_NEAR(calm.confidence, 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_EQ(
      classify(
          shipped(), &model,
          with({{"caller.wait_ratio", 0.5}, {"caller.cpu_ratio", 0.5}, {"others.cpu_use_cores", 0.5}, {"latency.p50_ns", 1}}))
          .class_id,
      "cpu_contention");
  EXPECT_EQ(classify(shipped(), &model, with({{"caller.wait_ratio", 0.5}})).method, "rules");
  EXPECT_EQ(classify(shipped(), nullptr, with({{"caller.cpu_ratio", 0.5}, {"latency.p50_ns", 1}})).method, "rules");
}

TEST(Learned, TemperatureLowersConfidence) {
  LearnedModel model = two_leaves();
  const auto features = features_of(shipped(), with({{"caller.wait_ratio", 0.01}}));
  const double hot = score(model, features).front().probability;
  model.temperature = 4;
  EXPECT_LT(score(model, features).front().probability, hot);
}

TEST(Learned, RulesCountByWeight) {
  LearnedModel model = two_leaves();
  const auto features = features_of(shipped(), with({{"caller.wait_ratio", 0.01}, {"process.wait_cores", 0.9}}));
  EXPECT_EQ(score(model, features).front().class_id, "compute_bound");
  model.rule_weight = 1;
  EXPECT_EQ(score(model, features).front().class_id, "cpu_contention");
  EXPECT_TRUE(rule_scores_of({"compute_bound", "memory_contention"}, features).empty());
}

TEST(Learned, RoundTrip) {
  LearnedModel model = two_leaves();
  model.rule_weight = 0.5;
  const auto known = features_of(shipped(), Signals()).names;
  const auto back = model_from_json(to_json(model), known);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->trees, model.trees);
  EXPECT_EQ(back->classes, model.classes);
  EXPECT_EQ(back->rule_weight, 0.5);
}

TEST(Learned, ShippedModelIsCompleteWithProvenance) {
  const auto document = core::read_json_file(AACO_SOURCE_DIR "/data/bottleneck/classifier.json");
  ASSERT_TRUE(document);
  const auto model = model_from_json(*document, features_of(shipped(), Signals()).names);
  ASSERT_TRUE(model) << model.error().text();
  for (const std::string& one : model->classes) EXPECT_NE(shipped().find(one), nullptr) << one;
  EXPECT_GT(model->record["examples"].as_i64().value_or(0), 100);
  EXPECT_GT(model->record["scores"]["held_out_by_model"]["accuracy_ratio"].as_f64().value_or(0), 0.94);
}

// How long a call takes says nothing of what it is limited by, and a profiled pass only makes surer of it.
TEST(Learned, ShippedModelAgreesWithAndWithoutProfile) {
  const auto document = core::read_json_file(AACO_SOURCE_DIR "/data/bottleneck/classifier.json");
  const auto model = model_from_json(*document, features_of(shipped(), Signals()).names);
  ASSERT_TRUE(model);
  const auto undisturbed = [](double ns, double nodes, double flops, double bytes) {
    Signals signals = with({{"caller.cpu_ratio", 0.999},
                            {"caller.wait_ratio", 0.0005},
                            {"caller.blocked_ratio", 0.0005},
                            {"process.cpu_use_cores", 1},
                            {"process.others_wait_ratio", 0},
                            {"process.system_ratio", 0.01},
                            {"others.cpu_use_cores", 0.02},
                            {"machine.idle_cores", 0.98},
                            {"process.wait_cores", 0.0005},
                            {"process.allowed_cores", 2},
                            {"process.allowed_use_ratio", 0.5},
                            {"latency.cov_ratio", 0.05}});
    signals.set("latency.p50_ns", ns);
    signals.set("work.ns_per_node", ns / nodes);
    signals.set("work.intensity", flops / bytes);
    signals.set("work.flops_per_second", flops / ns * 1e9);
    signals.set("work.bytes_per_second", bytes / ns * 1e9);
    return signals;
  };
  const auto profiled = [](Signals signals, double nodes, double node_ns, double between) {
    signals.set("node.execution_count", nodes);
    signals.set("node.mean_ns", node_ns);
    signals.set("node.between_ratio", between);
    signals.set("node.remainder_ratio", between + 0.01);
    return signals;
  };
  const Signals quick = undisturbed(36e3, 5, 1.3e6, 2.7e6), chain = undisturbed(500e3, 2000, 1.3e5, 1.3e6);
  for (const Signals& signals : {quick, profiled(quick, 3, 27e3, 0.02)}) {
    const auto answer = classify(shipped(), &*model, signals);
    EXPECT_EQ(answer.class_id, "memory_bound");
    EXPECT_FALSE(answer.evidence.empty());
  }
  for (const Signals& signals : {chain, profiled(chain, 2000, 2300, 0.5)})
    EXPECT_EQ(classify(shipped(), &*model, signals).class_id, "launch_bound");
}

TEST(Document, MentionsTheGpuOfATrace) {
  Bottleneck found;
  found.class_id = "compute_bound";
  found.ranking = {{"compute_bound", 0.6}, {"memory_bound", 0.4}};
  const core::Json of_cpu = to_json(found, shipped());
  found.method = kGpuLimit;
  const core::Json of_gpu = to_json(found, shipped());
  EXPECT_NE(of_gpu["meaning"].text(), of_cpu["meaning"].text());
  EXPECT_NE(of_gpu["meaning"].text().find("kernels"), std::string_view::npos);
  EXPECT_EQ(of_gpu["ranking"].items()[1]["title"].text(), "memory bandwidth");
  EXPECT_EQ(of_gpu["ranking"].items()[1]["share_ratio"].as_f64(), 0.4) << "a share is called a share";
  EXPECT_FALSE(of_gpu["ranking"].items()[1].contains("probability_ratio"));
  EXPECT_TRUE(of_cpu["ranking"].items()[1].contains("probability_ratio"));
}

TEST(FewCalls, GiveNoConclusion) {
  const auto found = classify_by_rules(shipped(), with({{"caller.wait_ratio", 0.3}, {"process.wait_cores", 0.9}}));
  for (const std::size_t calls : {std::size_t{1}, kMinCalls - 1}) {
    const auto answer = with_calls(found, calls);
    EXPECT_EQ(answer.class_id, kInconclusive);
    EXPECT_EQ(answer.ranking.size(), found.ranking.size());
    const core::Json document = to_json(answer, shipped());
    EXPECT_EQ(document["bottleneck_class"].text(), "inconclusive");
    EXPECT_NE(document["meaning"].text().find("too few"), std::string_view::npos);
    EXPECT_TRUE(document["optimization_priority"].items().empty());
    EXPECT_FALSE(document["top_evidence"].items().empty());
  }
  EXPECT_EQ(with_calls(found, kMinCalls).class_id, found.class_id);
  EXPECT_EQ(with_calls(found, 0).class_id, found.class_id);  // a trace has no measured calls, and its events are evidence
  EXPECT_EQ(with_calls(Bottleneck{}, 1).class_id, "");
}

TEST(Learned, RefusesInvalidDocuments) {
  const auto known = features_of(shipped(), Signals()).names;
  const core::Json good = to_json(two_leaves());
  const auto refused = [&](std::string_view key, core::Json value) {
    core::Json document = good;
    document.set(key, std::move(value));
    return !model_from_json(document, known);
  };
  EXPECT_TRUE(refused("schema_version", 2));
  EXPECT_TRUE(refused("temperature", 0));
  EXPECT_TRUE(refused("temperature", core::Json()));
  EXPECT_TRUE(refused("rule_weight", -1));
  EXPECT_TRUE(refused("classes", core::Json::array({"a"})));
  EXPECT_TRUE(refused("classes", core::Json::array({1, 2})));
  EXPECT_TRUE(refused("features", core::Json::array({"nothing"})));
  EXPECT_TRUE(refused("features", core::Json::array()));
  EXPECT_TRUE(refused("trees", core::Json()));
  EXPECT_FALSE(model_from_json(core::Json(), known));
}

TEST(RuleBook, DashesAndUnderscoresAreAlike) {
  ASSERT_NE(shipped().find("cpu-contention"), nullptr);
  EXPECT_EQ(shipped().find("cpu-contention")->id, "cpu_contention");
  EXPECT_EQ(shipped().find("cpu contention"), nullptr);
  EXPECT_EQ(shipped().find("cpu-contentio"), nullptr);
}
TEST(Document, HasPublishedFields) {
  const auto found = classify_by_rules(shipped(), with({{"caller.wait_ratio", 0.3}, {"others.cpu_use_cores", 1}}));
  const core::Json document = to_json(found, shipped());
  EXPECT_EQ(document["bottleneck_class"].text(), "cpu_contention");
  EXPECT_EQ(document["confidence"].as_f64(), found.confidence);
  ASSERT_FALSE(document["top_evidence"].items().empty());
  for (const char* key : {"signal", "value", "weight"}) EXPECT_TRUE(document["top_evidence"].items()[0].contains(key)) << key;
  double shares = 0;
  for (const core::Json& one : document["top_evidence"].items()) shares += *one["weight"].as_f64();
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_FALSE(document["optimization_priority"].items().empty());
}

// The account's rules and the book blame other processes from the same share of the wait on.
TEST(Rules, OneShareOfTheWaitBlamesOthers) {
  const BottleneckClass* contention = shipped().find("cpu_contention");
  ASSERT_NE(contention, nullptr);
  const auto need = std::find_if(contention->needs.begin(), contention->needs.end(),
                                 [](const auto& one) { return one.signal == "others.wait_ratio"; });
  ASSERT_NE(need, contention->needs.end());
  EXPECT_EQ(need->above, signals::kExplainedWait);
}

}  // namespace
}  // namespace aaco::analytics::bottleneck
