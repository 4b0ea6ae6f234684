#include "analytics/kernel_work.h"

#include <gtest/gtest.h>

namespace aaco::analytics::roofline {
namespace {

using core::Json;
using fingerprint::Family;

Json arguments(std::string_view text) { return Json::parse(text).value_or(Json()); }
std::optional<OperatorWork> work(std::string_view op, std::string_view text) { return operator_work(op, arguments(text)); }

TEST(OperatorWork, AMatrixProduct) {
  const auto mm = work("aten::mm", R"({"Input Dims":[[128,5],[5,64]],"Input type":["float","float"]})");
  ASSERT_TRUE(mm.has_value());
  EXPECT_DOUBLE_EQ(mm->flops, 2.0 * 128 * 5 * 64);
  EXPECT_DOUBLE_EQ(mm->bytes, 4.0 * (128 * 5 + 5 * 64 + 128 * 64));
  EXPECT_EQ(mm->dtype, "float32");
}
TEST(OperatorWork, AddmmUsesItsSecondAndThirdInput) {
  const auto addmm =
      work("aten::addmm",
           R"({"Input Dims":[[512],[141,512],[512,256]],"Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16"]})");
  ASSERT_TRUE(addmm.has_value());
  EXPECT_DOUBLE_EQ(addmm->flops, 2.0 * 141 * 512 * 256);
  EXPECT_EQ(addmm->dtype, "bfloat16");
}
TEST(OperatorWork, Batched) {
  const auto bmm = work("aten::bmm", R"({"Input Dims":[[8,16,32],[8,32,4]],"Input type":["c10::Half","c10::Half"]})");
  ASSERT_TRUE(bmm.has_value());
  EXPECT_DOUBLE_EQ(bmm->flops, 2.0 * 8 * 16 * 32 * 4);
}
// 16 x 16 patches of 224 x 224: 14 x 14 outputs, as MIOpen's schema places its arguments.
TEST(OperatorWork, AConvolution) {
  const auto conv = work("aten::miopen_convolution",
                         R"({"Input Dims":[[4,3,224,224],[768,3,16,16],[768],[],[],[],[],[],[]],
      "Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16"],
      "Concrete Inputs":["","","","[0, 0]","[16, 16]","[1, 1]","1","False","False"]})");
  ASSERT_TRUE(conv.has_value());
  EXPECT_DOUBLE_EQ(conv->flops, 2.0 * 4 * 768 * 14 * 14 * 3 * 16 * 16);
  EXPECT_EQ(conv->family, Family::convolution);
}
TEST(OperatorWork, GroupedConvolution) {
  const auto conv = work("aten::_convolution", R"({"Input Dims":[[1,32,8,8],[32,1,3,3],[]],"Input type":["float","float",""],
      "Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","32"]})");
  ASSERT_TRUE(conv.has_value());
  EXPECT_DOUBLE_EQ(conv->flops, 2.0 * 32 * 8 * 8 * 9);
}
TEST(OperatorWork, BothGradientsOfAConvolution) {
  const auto backward = work("aten::convolution_backward",
                             R"({"Input Dims":[[1,8,4,4],[1,3,4,4],[8,3,3,3]],"Input type":["float","float","float"],
      "Concrete Inputs":["","","","[8]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"]})");
  ASSERT_TRUE(backward.has_value());
  EXPECT_EQ(backward->kernels, 2);
  EXPECT_DOUBLE_EQ(backward->flops, 2.0 * 8 * 16 * 27);
}
TEST(OperatorWork, Attention) {
  constexpr std::string_view kFull =
      R"({"Input Dims":[[1,8,141,64],[1,8,141,64],[1,8,141,64]],"Input type":["c10::BFloat16"],"Concrete Inputs":["","","","0.","False"]})";
  const auto full = work("aten::_scaled_dot_product_flash_attention", kFull);
  ASSERT_TRUE(full.has_value());
  EXPECT_DOUBLE_EQ(full->flops, 2.0 * 8 * 141 * 141 * 128);
  std::string causal(kFull);
  causal.replace(causal.find("False"), 5, "True");
  EXPECT_DOUBLE_EQ(work("aten::_scaled_dot_product_flash_attention", causal)->flops, 2.0 * 8 * 141 * 71 * 128);
}
TEST(OperatorWork, NoWorkForMissingOrInvalidShapes) {
  for (const std::string_view text :
       {"{}", R"({"Input Dims":[]})", R"({"Input Dims":[[2,3],[4,5]],"Input type":["float","float"]})",
        R"({"Input Dims":[[2,3],[3,5]]})", R"({"Input Dims":[[2,3],[3,5]],"Input type":["complex","float"]})",
        R"({"Input Dims":[[2,-3],[-3,5]],"Input type":["float","float"]})",
        R"({"Input Dims":[[2,0],[0,5]],"Input type":["float"]})",
        R"({"Input Dims":[[2,1e300],[1e300,5]],"Input type":["float"]})", R"({"Input Dims":"x","Input type":3})", "null"})
    EXPECT_EQ(work("aten::mm", text), std::nullopt) << text;
  EXPECT_EQ(work("aten::relu", R"({"Input Dims":[[2,3],[3,5]],"Input type":["float","float"]})"), std::nullopt);
  EXPECT_EQ(work("mm", R"({"Input Dims":[[2,3],[3,5]],"Input type":["float","float"]})"), std::nullopt);
  // The profiles of 2021 have shapes and no strides.
  EXPECT_EQ(work("aten::cudnn_convolution", R"({"Input Dims":[[1,3,8,8],[4,3,3,3]],"Input type":["float","float"]})"),
            std::nullopt);
  EXPECT_EQ(work("aten::_convolution", R"({"Input Dims":[[1,3,8,8],[4,3,3,3],[]],"Input type":["float"],
      "Concrete Inputs":["","","","[0, 0]","[0, 0]","[1, 1]","False"]})"),
            std::nullopt);
}

class ShapeWorkTest : public testing::Test {
 protected:
  void kernel(std::string_view name, Family family, std::int64_t op_start, std::int64_t length = 100) {
    trace::KernelRow row;
    row.name = names_.intern(name);
    row.start_ns = 0;
    row.end_ns = length;
    attribution::Launch launch;
    launch.shaped_operator = names_.intern(operator_);
    launch.operator_arguments = names_.intern(arguments_);
    launch.shaped_start_ns = op_start;
    work_.add(row, family, launch);
  }
  std::string operator_ = "aten::mm";
  std::string arguments_ = R"({"Input Dims":[[4,5],[5,6]],"Input type":["float","float"]})";
  trace::NameTable names_;
  ShapeWork work_{names_};
};

TEST_F(ShapeWorkTest, AnOperatorsWorkCountsOnce) {
  kernel("Cijk", Family::gemm, 10);
  kernel("Cijk", Family::gemm, 10);  // the second half of the same call
  kernel("Cijk", Family::gemm, 20);
  kernel("reduce", Family::reduction, 30);
  const auto groups = work_.finish();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_DOUBLE_EQ(groups[0].flops, 2 * 240);
  EXPECT_DOUBLE_EQ(groups[0].time_ns, 300) << "in all of the calls' time";
}
TEST_F(ShapeWorkTest, AuxiliaryKernelsGetNoWork) {
  for (std::int64_t call = 0; call < 5000; ++call) {  // more than are kept open
    kernel("tables", Family::gemm, call, 5);
    kernel("main", Family::gemm, call, 80);
    kernel("tail", Family::gemm, call, 15);
  }
  const auto groups = work_.finish();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(names_.text(groups[0].kernel), "main");
  EXPECT_EQ(groups[0].count, 5000);
  EXPECT_DOUBLE_EQ(groups[0].flops, 5000 * 240.0);
  EXPECT_DOUBLE_EQ(groups[0].time_ns, 5000 * 100.0);
}
TEST_F(ShapeWorkTest, BothGradientsHaveTheirHalfOfTheWork) {
  operator_ = "aten::convolution_backward";
  arguments_ = R"({"Input Dims":[[1,8,4,4],[1,3,4,4],[8,3,3,3]],"Input type":["float","float","float"],
      "Concrete Inputs":["","","","[8]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"]})";
  kernel("offsets", Family::convolution, 10, 10);
  kernel("dgrad", Family::convolution, 10, 60);
  kernel("wgrad", Family::convolution, 10, 30);
  const auto groups = work_.finish();
  ASSERT_EQ(groups.size(), 2u);
  double time = 0;
  for (const auto& group : groups) {
    EXPECT_DOUBLE_EQ(group.flops, 2.0 * 8 * 16 * 27);
    EXPECT_NE(names_.text(group.kernel), "offsets");
    time += group.time_ns;
  }
  EXPECT_DOUBLE_EQ(time, 100);
}
TEST_F(ShapeWorkTest, ImpossibleTimesAndUnknownOperatorsAreLeftOut) {
  kernel("Cijk", Family::gemm, 10, -5);
  EXPECT_TRUE(work_.finish().empty());
}

TEST(OperatorSite, ProductsAndConvolutionsHaveTheirSizes) {
  const auto site = [](std::string_view op, std::string_view text) { return operator_site(op, arguments(text)); };
  const auto bmm = site("aten::bmm", R"({"Input Dims":[[8,16,32],[8,32,4]],"Input type":["c10::Half","c10::Half"]})");
  ASSERT_TRUE(bmm.has_value());
  EXPECT_EQ(std::get<graph::GemmSite>(bmm->site), (graph::GemmSite{8, 16, 4, 32, false, 0}));
  const auto conv = site("aten::_convolution", R"({"Input Dims":[[1,32,8,8],[32,1,3,3],[]],"Input type":["float","float",""],
      "Concrete Inputs":["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","32"]})");
  ASSERT_TRUE(conv.has_value());
  const auto& sizes = std::get<graph::ConvolutionSite>(conv->site);
  EXPECT_EQ(sizes.groups, 32);
  EXPECT_EQ(sizes.strides, (std::vector<std::int64_t>{2, 2}));
}
TEST(OperatorSite, GradientsHaveTheSizesOfTheirOperator) {
  const auto site = [](std::string_view op, std::string_view text) { return operator_site(op, arguments(text)); };
  const auto both =
      site("aten::convolution_backward", R"({"Input Dims":[[1,8,2,2],[1,3,4,4],[8,3,3,3]],"Input type":["float","float","float"],
      "Concrete Inputs":["","","","[8]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"]})");
  ASSERT_TRUE(both.has_value());
  EXPECT_TRUE(both->gradient);
  EXPECT_EQ(both->kernels, 2);
  const auto& sizes = std::get<graph::ConvolutionSite>(both->site);
  EXPECT_EQ(sizes.input, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(sizes.strides, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(sizes.k, 8);
  const auto old = site("aten::cudnn_convolution_backward_input",
                        R"({"Input Dims":[[],[32,64,7,7],[64,16,3,3],[]],"Input type":["GenericList","float","float",""]})");
  ASSERT_TRUE(old.has_value()) << "without strides: the product it comes to";
  EXPECT_EQ(std::get<graph::GemmSite>(old->site), (graph::GemmSite{1, 32 * 49, 16 * 9, 64, false, 0}));
  EXPECT_DOUBLE_EQ(old->flops, 2.0 * 32 * 49 * 16 * 9 * 64);

  const std::string shapes = "[2,8,128,64],[2,8,128,64],[2,8,128,64]";
  const auto forward = site("aten::_scaled_dot_product_flash_attention",
                            R"({"Input Dims":[)" + shapes + R"(],"Input type":["c10::Half","c10::Half","c10::Half"],
      "Concrete Inputs":["","","","0.","True"]})");
  const auto backward = site("aten::_scaled_dot_product_flash_attention_backward",
                             R"({"Input Dims":[[2,8,128,64],)" + shapes +
                                 R"(],"Input type":["c10::Half","c10::Half","c10::Half","c10::Half"],
      "Concrete Inputs":["","","","","","","","","128","128","0.","True"]})");
  ASSERT_TRUE(forward && backward);
  EXPECT_DOUBLE_EQ(backward->flops, 2.5 * forward->flops);
  EXPECT_EQ(backward->site, forward->site);
  EXPECT_TRUE(backward->gradient);
  EXPECT_FALSE(forward->gradient);
  const auto norm = site("aten::cudnn_batch_norm_backward",
                         R"({"Input Dims":[[4,8,2,2],[4,8,2,2],[8]],"Input type":["float","float","float"]})");
  ASSERT_TRUE(norm.has_value());
  EXPECT_DOUBLE_EQ(norm->bytes, 4.0 * (3 * 128 + 8)) << "reads both, writes one";
}
TEST(OperatorSite, RowWiseOperatorsReadAllAndWriteTheLargest) {
  const auto add =
      operator_site("aten::add", arguments(R"({"Input Dims":[[64,128],[128],[]],"Input type":["float","float","Scalar"]})"));
  ASSERT_TRUE(add.has_value());
  EXPECT_EQ(std::get<RowSite>(add->site), (RowSite{"add", 64, 128}));
  EXPECT_DOUBLE_EQ(add->bytes, 4.0 * (2 * 64 * 128 + 128));
  EXPECT_FALSE(operator_work("aten::add", arguments(R"({"Input Dims":[[64,128]],"Input type":["float"]})")))
      << "the roofline stays as it was";
}
TEST(OperatorSite, RefusesUnknownOperators) {
  for (const auto& [op, text] : {std::pair{"aten::add", R"({"Input Dims":[[]],"Input type":["float"]})"},
                                 {"aten::add", R"({"Input Dims":[[4,4],[4,4]],"Input type":["long int","float"]})"},
                                 {"aten::add", R"({"Input Dims":[[1000000000000,1000000000000]],"Input type":["float"]})"},
                                 {"aten::cumsum", R"({"Input Dims":[[4,4]],"Input type":["float"]})"},
                                 {"add", R"({"Input Dims":[[4,4]],"Input type":["float"]})"},
                                 {"aten::mm", R"({"Input Dims":[[4,5],[6,7]],"Input type":["float","float"]})"}})
    EXPECT_FALSE(operator_site(op, arguments(text))) << op << text;
}

TEST(SiteTimes, SumsAllKernelsOfACall) {
  trace::NameTable names;
  SiteTimes times(names);
  const auto kernel = [&](const char* op, std::int64_t op_start, std::int64_t length) {
    trace::KernelRow row;
    row.end_ns = length;
    attribution::Launch launch;
    launch.shaped_operator = names.intern(op);
    launch.operator_arguments = names.intern(R"({"Input Dims":[[4,5],[5,6]],"Input type":["float","float"]})");
    launch.shaped_start_ns = op_start;
    times.add(row, launch);
  };
  kernel("aten::mm", 10, 100);
  kernel("aten::mm", 10, 30);  // a reduction behind the product
  kernel("aten::mm", 20, 100);
  kernel("aten::mm", 30, -5);
  kernel("aten::unknown", 40, 100);
  const auto groups = times.finish();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(groups[0].kernels, 3);
  EXPECT_DOUBLE_EQ(groups[0].time_ns, 230);
}

TEST(CounterWork, MatrixInstructionsAndTraffic) {
  trace::NameTable names;
  CounterWork work(names);
  const auto add = [&](const char* counter, double value) {
    trace::KernelCounterRow row;
    row.kernel_name = names.intern("k");
    row.counter = names.intern(counter);
    row.value = value;
    work.add(row);
  };
  for (int i = 0; i < 2; ++i) {
    add("SQ_INSTS_VALU_MFMA_MOPS_F16", 1000);
    add("SQ_INSTS_VALU_ADD_F32", 10);
    add("FETCH_SIZE", 3);
    add("WRITE_SIZE", 1);
    add("SQ_WAVES", 12345);
  }
  trace::KernelGroupRow group;
  group.kernel_name = names.intern("k");
  group.family = names.intern("gemm");
  group.kernel_count = 10;
  group.kernel_sum_ns = 1000;
  const auto list = work.finish({group});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].count, 2);
  EXPECT_DOUBLE_EQ(list[0].flops, 2 * (512'000 + 640));
  EXPECT_DOUBLE_EQ(list[0].bytes, 2 * 4096);
  EXPECT_DOUBLE_EQ(list[0].time_ns, 200);
  EXPECT_EQ(list[0].dtype, "float16");
  EXPECT_EQ(list[0].family, Family::gemm);
  group.kernel_name = names.intern("another");
  EXPECT_TRUE(work.finish({group}).empty());
}
TEST(CounterWork, NeedsBothWorkAndTraffic) {
  trace::NameTable names;
  CounterWork work(names);
  work.add({0, 0, 1, names.intern("k"), names.intern("FETCH_SIZE"), 3});
  trace::KernelGroupRow group;
  group.kernel_name = names.intern("k");
  group.kernel_count = 1;
  group.kernel_sum_ns = 100;
  EXPECT_TRUE(work.finish({group}).empty());
}

hardware::Device device() {
  hardware::Device device;
  hardware::Engine engine;
  engine.kind = hardware::EngineKind::matrix;
  engine.rates.push_back({"float16", std::nullopt, hardware::Figure{100e12, "s", {}}, std::nullopt});
  device.engines.push_back(engine);
  device.memory.bytes_per_s = hardware::Figure{1e12, "s", {}};
  return device;
}

TEST(Place, UnderTheLowerRoof) {
  GroupWork work;
  work.dtype = "float16";
  work.time_ns = 1000;
  work.flops = 50e6;  // 500 ns at the peak
  work.bytes = 1e5;   // 100 ns
  const auto placed = place(work, device());
  ASSERT_TRUE(placed.has_value());
  EXPECT_TRUE(placed->compute_roof);
  EXPECT_DOUBLE_EQ(placed->reached_ratio, 0.5);
  work.bytes = 8e5;
  EXPECT_FALSE(place(work, device())->compute_roof);
  EXPECT_DOUBLE_EQ(place(work, device())->reached_ratio, 0.8);
}
TEST(Place, UnknownTypesAndNoTimeHaveNoPlace) {
  GroupWork work;
  work.dtype = "float64";
  work.time_ns = 1000;
  work.flops = work.bytes = 1;
  EXPECT_EQ(place(work, device()).has_value(), false);
  work.dtype = "float16";
  work.time_ns = 0;
  EXPECT_FALSE(place(work, device()).has_value());
  work.time_ns = 5;
  auto bare = device();
  bare.memory.bytes_per_s.reset();
  EXPECT_FALSE(place(work, bare).has_value());
}

}  // namespace
}  // namespace aaco::analytics::roofline
