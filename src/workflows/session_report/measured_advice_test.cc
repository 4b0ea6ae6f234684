#include "workflows/session_report/measured_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::Json;
using ::testing::ElementsAre;

const std::map<std::string, Json>& measured() {
  static const std::map<std::string, Json> kMeasured = {
      {"launch_bound", *Json::parse(R"({"configuration": "threads=2", "verdict": "improvement", "change_ratio": -0.12,
                                        "interval": {"low": -0.14, "high": -0.1}, "session": "s"})")}};
  return kMeasured;
}

TEST(MeasuredAdvice, SaysWhatWasMeasured) {
  EXPECT_EQ(measured_sentence(measured().at("launch_bound")),
            "measured here: threads=2 -12.0 % (-14.0 % to -10.0 %), improvement");
}
TEST(MeasuredAdvice, JoinsTheAdviceOfItsId) {
  report::ReportModel model;
  model.advice.resize(2);
  model.advice[0].id = "storage";
  model.advice[1].id = "launch_bound";
  add_measured(model, measured());
  EXPECT_TRUE(model.advice[0].evidence.empty());
  EXPECT_EQ(model.advice[1].evidence.size(), 1U);
  const Json joined = with_measured(*Json::parse(R"([{"id": "launch_bound"}, {"id": "storage"}])"), measured());
  EXPECT_EQ(joined.items()[0]["measured"]["change_ratio"].as_f64(), -0.12);
  EXPECT_TRUE(joined.items()[1]["measured"].is_null());
}
TEST(MeasuredAdvice, AnEmptyLakeHasNone) {
  const auto folder = *core::TemporaryDirectory::make(testing::TempDir());
  const auto found = measured_advice(folder.path(), "s");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

}  // namespace
}  // namespace aaco::workflows
