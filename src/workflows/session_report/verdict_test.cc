#include "workflows/session_report/verdict.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

report::ReportModel measured(double median, double low, double high) {
  report::ReportModel model;
  model.session.kind = "run";
  model.session.outcome = trace::outcome_from_json(core::Json::object({{"model", "resnet50"}, {"backend", "cpu"}, {"batch", 2}}));
  model.metrics = {{"latency.p50_ns", median, "ns", trace::Interval{low, high}, {}},
                   {"latency.count", 500, "count", {}, {}},
                   {"throughput.items_per_second", 64, "1/s", {}, {}}};
  return model;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Verdict, SaysWhatRanHowLongAndHowWellItIsKnown) {
  const auto verdict = verdict_of(measured(31e6, 30.9e6, 31.1e6));
  EXPECT_TRUE(has(verdict.sentence, "resnet50 on cpu, batch 2, takes 31.0 ms per call")) << verdict.sentence;
  EXPECT_TRUE(has(verdict.confidence, "high: 500 iterations")) << verdict.confidence;
  EXPECT_EQ(verdict.headline_metrics.front(), "latency.p50_ns");
}

TEST(Verdict, NamesTheLargestOperator) {
  auto model = measured(31e6, 30.9e6, 31.1e6);
  report::TimeShare conv;
  conv.name = "Conv";
  conv.share_ratio = 0.87;
  model.operators = {conv};
  EXPECT_TRUE(has(verdict_of(model).sentence, "Conv takes 87.0 % of it"));
}

TEST(Verdict, WhatOthersTookComesBeforeTheParts) {
  auto model = measured(31e6, 30.9e6, 31.1e6);
  report::TimeShare conv;
  conv.name = "Conv";
  conv.share_ratio = 0.89;
  model.operators = {conv};
  model.lost_time = "48.0 % of it is waiting for a CPU: other processes used 1.02 of its 2 CPUs";
  const auto sentence = verdict_of(model).sentence;
  EXPECT_TRUE(has(sentence, "items/s); 48.0 % of it is waiting for a CPU: other processes used 1.02 of its 2 CPUs.")) << sentence;
  EXPECT_FALSE(has(sentence, "Conv")) << sentence;
}

TEST(Verdict, AWideIntervalIsLowConfidence) { EXPECT_TRUE(verdict_of(measured(31e6, 28e6, 36e6)).confidence.starts_with("low")); }

TEST(Verdict, HowWellTheMedianIsKnownIsHalfItsInterval) {
  EXPECT_TRUE(has(verdict_of(measured(31e6, 30.69e6, 31.31e6)).confidence, "median ±1.00 %"));
  EXPECT_TRUE(has(verdict_of(measured(31e6, 30e6, 310e6)).confidence, "the median is very uncertain"));
}

TEST(Verdict, ADriftLowersAndIsSaid) {
  auto model = measured(31e6, 30.9e6, 31.1e6);
  model.metrics.push_back({"latency.drift_ratio", 0.2, "ratio", {}, {}});
  const auto verdict = verdict_of(model);
  EXPECT_TRUE(verdict.confidence.starts_with("medium"));
  EXPECT_TRUE(has(verdict.confidence, "drifted"));
}

TEST(Verdict, ExternalLoadLowersTheConfidence) {
  const auto confidence = [](const char* noise) {
    auto model = measured(31e6, 30.9e6, 31.1e6);
    model.session.outcome.noise = *core::Json::parse(noise);
    return verdict_of(model).confidence;
  };
  const std::string all = confidence(R"({"disturbed_ratio": 1, "undisturbed": {"iterations": 0}, "dropped": false})");
  EXPECT_TRUE(all.starts_with("low")) << all;
  EXPECT_TRUE(has(all, "100 % of the iterations were affected by external load")) << all;
  EXPECT_TRUE(confidence(R"({"disturbed_ratio": 0.4, "undisturbed": {"median_ns": 29.6e6}})").starts_with("medium"));
  EXPECT_TRUE(confidence(R"({"disturbed_ratio": 0.4, "undisturbed": {"median_ns": 20e6}})").starts_with("low"));
  // Where the others agree, or are too few to matter, or were left out, nothing speaks against it.
  EXPECT_TRUE(confidence(R"({"disturbed_ratio": 0.9, "undisturbed": {"median_ns": 31.1e6}})").starts_with("high"));
  EXPECT_TRUE(confidence(R"({"disturbed_ratio": 0.1, "undisturbed": {"iterations": 3}})").starts_with("high"));
  EXPECT_TRUE(confidence(R"({"disturbed_ratio": 1, "undisturbed": {"iterations": 0}, "dropped": true})").starts_with("high"));
}

TEST(Verdict, WithoutAMedianItSaysSo) {
  report::ReportModel model = measured(0, 0, 0);
  model.metrics = {{"latency.mean_ns", 5e6, "ns", {}, {}}};
  const auto verdict = verdict_of(model);
  EXPECT_TRUE(has(verdict.sentence, "too few iterations"));
  EXPECT_TRUE(verdict.confidence.starts_with("low"));
}

TEST(Verdict, WhatDidNotEndSaysSo) {
  report::ReportModel model;
  model.session.kind = "run";
  model.session.state = "incomplete";
  EXPECT_EQ(verdict_of(model).sentence, "No result: the run did not end.");
}

TEST(Verdict, ARecordingSaysHowLongItRan) {
  report::ReportModel model;
  model.session.kind = "record";
  model.session.outcome = trace::outcome_from_json(core::Json::object({{"model", "train.py"}, {"wall_ns", 2'000'000'000}}));
  EXPECT_EQ(verdict_of(model).sentence, "train.py ran for 2.00 s.");
  model.metrics = {{"process.cpu_use_cores", 0.98, "cores", {}, {}}};
  EXPECT_EQ(verdict_of(model).sentence, "train.py ran for 2.00 s: 0.98 CPUs busy; limited by one CPU.");
}

report::ReportModel imported(core::Json rows, std::int64_t length_ns) {
  report::ReportModel model;
  model.session.kind = "import";
  model.session.outcome = trace::outcome_from_json(
      core::Json::object({{"files", core::Json::array({core::Json::object({{"file", "gpu.csv"}})})}, {"rows", std::move(rows)}}));
  if (length_ns > 0) model.session.phases.push_back({"trace", 0, length_ns});
  return model;
}

TEST(Verdict, AnImportSaysWhatItHoldsAndWhatItCannotTell) {
  EXPECT_EQ(verdict_of(imported(core::Json::object({{"samples", 12}}), 2'000'000'000)).sentence,
            "gpu.csv contains 12 sensor readings over 2.00 s: machine state only, no workload events.");
  EXPECT_EQ(verdict_of(imported(core::Json::object({{"calls", 1}, {"samples", 2}}), 0)).sentence,
            "gpu.csv contains 1 call and 2 sensor readings; no GPU work.");
  EXPECT_EQ(verdict_of(imported(core::Json::object({{"graph_nodes", 3}}), 0)).sentence,
            "gpu.csv contains 3 graph nodes; no timing data.");
  EXPECT_EQ(verdict_of(imported(core::Json::object({{"kernels", 1}, {"calls", 2}}), 0)).sentence,
            "gpu.csv contains 2 calls and 1 kernel; its duration is zero.");
  EXPECT_EQ(verdict_of(imported(core::Json::object({{"counters", 2894}}), 0)).sentence,
            "gpu.csv contains 2,894 counter values; timeline, busy time and gaps are unavailable without timestamps.");
  EXPECT_EQ(verdict_of(imported(core::Json(), 0)).sentence, "gpu.csv contains no events with a timestamp.");
}

TEST(Verdict, AnImportedSeriesIsNamedAfterItsFile) {
  auto model = imported(core::Json(), 0);
  model.metrics = {{"latency.p50_ns", 31e6, "ns", trace::Interval{30.9e6, 31.1e6}, {}}};
  EXPECT_TRUE(verdict_of(model).sentence.starts_with("gpu.csv takes 31.0 ms per call"));
}

}  // namespace
}  // namespace aaco::workflows
