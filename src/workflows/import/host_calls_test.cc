#include <gtest/gtest.h>

#include <algorithm>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "workflows/import.h"

namespace aaco::workflows {
namespace {

std::string event(const std::string& category, const std::string& name, int start_us, int duration_us) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":1,"ts":)" + std::to_string(start_us) +
         R"(,"dur":)" + std::to_string(duration_us) + "}";
}

class HostStepsTest : public testing::Test {
 public:
  // Imports a trace of these events; the number of its steps, and whether a warning says that there are none.
  std::pair<double, bool> steps(const std::vector<std::string>& events) {
    auto folder = core::TemporaryDirectory::make(testing::TempDir(), "host_steps");
    std::string text;
    for (const std::string& one : events) text += (text.empty() ? "" : ",") + one;
    const std::string path = core::join_path(folder->path(), "train.pt.trace.json");
    EXPECT_TRUE(core::write_file_atomic(path, R"({"schemaVersion":1,"traceEvents":[)" + text + "]}"));
    Services services;
    services.paths.share = AACO_SOURCE_DIR;
    services.paths.sessions = core::join_path(folder->path(), "sessions");
    services.tool_version = "test";
    ImportRequest request;
    request.paths = {path};
    const auto outcome = import(request, services);
    EXPECT_TRUE(outcome) << outcome.error().text();
    if (!outcome) return {-1, false};
    const auto* count = trace::find_metric(outcome->metrics, "latency.count");
    const auto& warnings = outcome->manifest.warnings;
    const bool said = std::any_of(warnings.begin(), warnings.end(), [](const auto& one) { return one.id == "import.no_steps"; });
    return {count != nullptr ? count->value : 0, said};
  }
};

TEST_F(HostStepsTest, OptimizerStepsOfATrainingLoop) {
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(event("cpu_op", "aten::mm", 1000 * i, 700));
    events.push_back(event("user_annotation", "Optimizer.step#AdamW.step", 1000 * i + 800, 100));
  }
  EXPECT_EQ(steps(events), std::pair(3.0, false));
}
TEST_F(HostStepsTest, OperatorsWithoutSteps) {
  EXPECT_EQ(steps({event("cpu_op", "aten::mm", 0, 700), event("cpu_op", "aten::add", 800, 7)}), std::pair(0.0, true));
}
TEST_F(HostStepsTest, NoOperatorsNoWarning) {
  EXPECT_EQ(steps({event("user_annotation", "load", 0, 700)}), std::pair(0.0, false));
}

}  // namespace
}  // namespace aaco::workflows
