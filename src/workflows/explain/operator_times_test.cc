#include "workflows/explain/operator_times.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

class Operators : public testing::Test {
 public:
  Operators& op(const char* name, std::int64_t start_us, std::int64_t end_us, const char* domain = "cpu_op") {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.start_ns = start_us * 1000;
    row.end_ns = end_us * 1000;
    times_.add(row);
    return *this;
  }
  std::string leading() { return std::string(times_.leading().value_or(OperatorTimes::Leading()).id); }
  trace::NameTable names_;
  OperatorTimes times_{names_};
};

TEST_F(Operators, OwnTimeOfTheInnermost) {
  op("autograd::evaluate", 0, 1000).op("aten::addmm", 100, 700).op("aten::relu", 700, 900);
  EXPECT_EQ(leading(), "matrix-products");
  EXPECT_NEAR(times_.leading()->share, 0.6, 1e-9);
}
TEST_F(Operators, Convolutions) {
  op("aten::conv2d", 0, 1000).op("aten::mkldnn_convolution", 10, 990).op("aten::relu", 1000, 1200);
  EXPECT_EQ(leading(), "convolutions");
}
TEST_F(Operators, ManyShortOperatorsAreDispatch) {
  for (int i = 0; i < 200; ++i) op("aten::addmm", 3 * i, 3 * i + 3);
  EXPECT_EQ(leading(), "framework");
}
TEST_F(Operators, NoneLeads) {
  EXPECT_EQ(leading(), "");
  op("aten::tanh", 0, 500).op("aten::mm", 500, 800);
  EXPECT_EQ(leading(), "");
  op("aten::mm", 0, 100'000, "python");
  EXPECT_EQ(leading(), "") << "no operator";
}

}  // namespace
}  // namespace aaco::workflows
