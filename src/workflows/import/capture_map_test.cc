#include "workflows/import/capture_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"
#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

class CaptureMapTest : public ::testing::Test {
 protected:
  // A launch under an operator that names its kernel; `runs`: the kernel ran, too.
  void launch(const std::string& op, const std::string& kernel, bool runs = false) {
    event("cpu_op", op, 20, R"("External id":1,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"])");
    ++time_;
    event("cuda_runtime", "hipLaunchKernel", 4, fmt::format(R"("correlation":{},"kernel":"{}")", ++id_, kernel));
    if (runs) event("kernel", kernel, 5, fmt::format(R"("device":0,"stream":7,"correlation":{})", id_), 0);
    time_ += 50;
  }
  void call(const std::string& name) {
    event("cuda_runtime", name, 1, fmt::format(R"("correlation":{})", ++id_));
    time_ += 5;
  }
  Captures read() {
    machine_.write("capture.json", "{\"traceEvents\":[" + events_ + "]}");
    Services services;
    services.paths.share = AACO_SOURCE_DIR;
    auto captures = read_captures({machine_.root() + "/capture.json"}, services);
    EXPECT_TRUE(captures) << captures.error().message;
    return captures ? std::move(*captures) : Captures();
  }

 private:
  void event(const std::string& category, const std::string& name, int length, const std::string& arguments, int process = 1) {
    events_ += fmt::format(R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":1,"ts":{},"dur":{},"args":{{{}}}}})",
                           events_.empty() ? "" : ",", category, name, process, time_, length, arguments);
  }
  aaco::testing::FakeMachine machine_;
  std::string events_;
  int time_ = 1, id_ = 0;
};

// Kernels that ran in the capture's file (a copy of the inputs) do not switch off the launches that name theirs.
TEST_F(CaptureMapTest, StrayKernelsDoNotHideTheRecordedLaunches) {
  launch("aten::fill_", "fill", true);
  launch("aten::mm", "gemm");
  launch("aten::relu", "relu");
  const auto captures = read();
  ASSERT_EQ(captures.launches.size(), 2U);
  EXPECT_EQ(captures.launches[0].kernel, "gemm");
  EXPECT_EQ(captures.launches[0].operator_name, "aten::mm");
  EXPECT_EQ(captures.launches[0].shaped_operator, "aten::mm");
  EXPECT_NE(captures.launches[0].arguments.find("Input Dims"), std::string::npos);
  EXPECT_EQ(captures.launches[1].kernel, "relu");
  EXPECT_TRUE(captures.warnings.empty());
}

TEST_F(CaptureMapTest, EachCaptureIsAGraphAndLaunchesOutsideAreNone) {
  launch("aten::add", "before");
  for (const char* kernel : {"small", "large"}) {
    call("hipStreamBeginCapture");
    launch("aten::mm", kernel);
    call("hipStreamEndCapture");
  }
  launch("aten::add", "after");
  const auto captures = read();
  ASSERT_EQ(captures.launches.size(), 2U);
  EXPECT_EQ(captures.launches[0].kernel, "small");
  EXPECT_EQ(captures.launches[1].kernel, "large");
  EXPECT_NE(captures.launches[0].graph, captures.launches[1].graph);
}

TEST_F(CaptureMapTest, WithoutRecordedLaunchesTheKernelsOfARunBeforeTell) {
  for (int i = 0; i < 30; ++i) launch("aten::mm", "gemm" + std::to_string(i), true);
  launch("aten::relu", "lost");
  const auto captures = read();
  ASSERT_EQ(captures.launches.size(), 30U) << "one launch whose kernel was lost is no graph";
  EXPECT_EQ(captures.launches[0].kernel, "gemm0");
}

TEST_F(CaptureMapTest, NothingUsableIsAWarning) {
  call("hipLaunchKernel");
  const auto captures = read();
  EXPECT_TRUE(captures.launches.empty());
  ASSERT_EQ(captures.warnings.size(), 1U);
  EXPECT_EQ(captures.warnings[0].id, "import.capture_empty");
}

}  // namespace
}  // namespace aaco::workflows
