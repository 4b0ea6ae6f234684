#include "report/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aaco::report {
namespace {

using core::Json;

std::vector<std::string> keys(const Sections& sections) {
  std::vector<std::string> out;
  for_each_section(sections, [&](const auto& entry, const auto&) { out.emplace_back(entry.key); });
  return out;
}

TEST(Sections, OnlyThoseThatAreSet) {
  EXPECT_TRUE(keys({}).empty());
  Sections sections;
  sections.scaling.emplace();
  sections.gaps.emplace();
  EXPECT_EQ(keys(sections), (std::vector<std::string>{"gaps", "scaling"}));
}

TEST(Sections, UnsetMembersAreLeftOut) {
  EXPECT_EQ(to_json(Attainable()).dump(-1), R"({"device":null})");
  EXPECT_EQ(to_json(Gaps()).dump(-1), R"({"causes":[],"longest":[]})");
  EXPECT_EQ(to_json(ProfilerTotals()).dump(-1), "{}");
  EXPECT_EQ(to_json(Scaling()).dump(-1), R"({"summary":{},"points":[]})");
  EXPECT_EQ(to_json(GpuSection()).dump(-1), R"({"devices":[],"families":[]})");
}

TEST(Sections, BandsComeWithTheirValues) {
  GpuSection section;
  section.devices.emplace_back();
  section.devices[0].launch_tax_band = "high";
  EXPECT_FALSE(to_json(section)["devices"].items()[0].contains("launch_tax_band"));
  section.devices[0].launch_tax = 3;
  EXPECT_EQ(to_json(section)["devices"].items()[0]["launch_tax_band"].text(), "high");
}

TEST(Totals, AreWrittenAsTheyWereRead) {
  const char* kText =
      R"({"kernels":[{"name":"k","count":1,"sum_ns":2,"mean_ns":2,"min_ns":1,"max_ns":3,"family":"gemm","library":"","parameters":{"m":1}}],)"
      R"("calls":[{"name":"c","count":1,"sum_ns":2,"domain":"hip"}],)"
      R"("samples":{"samples":3,"first_ns":1,"last_ns":2,"instructions":[{"instruction":"v","source":"a:1","samples":3}],)"
      R"("different_instructions":1,"types":{"valu":3},"dispatches":[{"dispatch_id":18446744073709551615,"samples":3}],)"
      R"("different_dispatches":1}})";
  EXPECT_EQ(to_json(totals_from(*Json::parse(kText))).dump(-1), kText);
}

TEST(Totals, DamagedDocumentsAreEmpty) {
  EXPECT_EQ(to_json(totals_from(Json("none"))).dump(-1), "{}");
  EXPECT_EQ(totals_from(*Json::parse(R"({"kernels":[1]})")).kernels.at(0).sum_ns, 0);
}

TEST(Prediction, IsWrittenAsItWasRead) {
  const char* kText = R"({"value":2.5,"unit":"ns","confidence":"CALIBRATED","source":"s","lower":1,"upper":3})";
  EXPECT_EQ(to_json(prediction_from(*Json::parse(kText))).dump(-1), kText);
  EXPECT_EQ(prediction_from(Json()).value, 0);
}

TEST(CauseWords, OfKnownAndUnknownCauses) {
  EXPECT_EQ(cause_words("host_late"), "late launch");
  EXPECT_EQ(cause_words("queue_empty"), "queue empty");
  EXPECT_EQ(cause_words(""), "");
}

}  // namespace
}  // namespace aaco::report
