#include "laboratory/gpu/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "laboratory/gpu/driver_api.h"
#include "laboratory/gpu/products.h"

namespace aaco::laboratory::gpu {
namespace {

using testing::HasSubstr;

constexpr const char* kTypes[] = {"float32", "float16", "bfloat16"};

std::vector<KernelSource> all_sources() {
  std::vector<KernelSource> all{{KernelKind::fill, "", ""}, {KernelKind::read, "", ""}};
  for (const char* type : kTypes) {
    for (const char* op : {"add", "sub", "mul", "div", "relu", "sqrt", "exp", "sigmoid", "tanh", "erf", "gelu"})
      all.push_back({KernelKind::elementwise, op, type});
    for (const char* op : {"softmax", "ln", "reduce_sum", "reduce_mean", "reduce_max"})
      all.push_back({KernelKind::row, op, type});
    for (const KernelKind kind : {KernelKind::transpose, KernelKind::concat, KernelKind::gather}) all.push_back({kind, "", type});
  }
  for (const char* type : {"float64", "float32", "float16"}) all.push_back({KernelKind::multiply_add, "", type});
  return all;
}

// What an assembler would stop at first: braces, labels that are missing or stand twice.
void expect_whole(const std::string& ptx) {
  EXPECT_EQ(std::count(ptx.begin(), ptx.end(), '{'), std::count(ptx.begin(), ptx.end(), '}')) << ptx;
  std::istringstream lines(ptx);
  std::vector<std::string> labels, targets;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(":")) labels.push_back(line.substr(0, line.size() - 1));
    if (const auto at = line.find("bra "); at != std::string::npos) targets.push_back(line.substr(at + 4, line.size() - at - 5));
  }
  for (const std::string& target : targets)
    EXPECT_EQ(std::count(labels.begin(), labels.end(), target), 1) << target << "\n" << ptx;
}

TEST(Kernels, EveryOperatorHasPtxAndHipSource) {
  for (const KernelSource& source : all_sources()) {
    const auto ptx = ptx_of(source);
    ASSERT_TRUE(ptx) << source.op << source.dtype << ptx.error().message;
    expect_whole(*ptx);
    EXPECT_THAT(*ptx, HasSubstr(".visible .entry work("));
    const auto hip = hip_source_of(source);
    ASSERT_TRUE(hip) << source.op << source.dtype;
    EXPECT_THAT(*hip, HasSubstr("extern \"C\" __global__ void work("));
    EXPECT_EQ(std::count(hip->begin(), hip->end(), '{'), std::count(hip->begin(), hip->end(), '}'));
  }
}

TEST(Kernels, OnlyBfloat16NeedsTheNewerTarget) {
  EXPECT_THAT(*ptx_of({KernelKind::elementwise, "add", "bfloat16"}), HasSubstr(".target sm_80"));
  EXPECT_THAT(*ptx_of({KernelKind::elementwise, "add", "float16"}), HasSubstr(".target sm_70"));
}

TEST(Kernels, RefusesUnknownOperatorsAndTypes) {
  for (const auto& make : {&ptx_of, &hip_source_of}) {
    EXPECT_EQ(make({KernelKind::elementwise, "frobnicate", "float32"}).error().code, core::ErrorCode::unsupported);
    EXPECT_EQ(make({KernelKind::row, "add", "float32"}).error().code, core::ErrorCode::unsupported);
    EXPECT_EQ(make({KernelKind::elementwise, "add", "int8"}).error().code, core::ErrorCode::unsupported);
    EXPECT_EQ(make({KernelKind::transpose, "", "float8"}).error().code, core::ErrorCode::unsupported);
  }
}

TEST(Products, KnowTheBytesOfEveryType) {
  EXPECT_EQ(product_bytes("float8")->operand, 1);
  EXPECT_EQ(product_bytes("float8")->result, 2);
  EXPECT_EQ(product_bytes("int8")->result, 4);
  EXPECT_EQ(product_bytes("tf32")->operand, 4);
  EXPECT_FALSE(product_bytes("float4"));
}

TEST(DriverApi, MissingLibraryIsUnsupportedAndNamed) {
  const auto opened = open_vendor_library(GpuRuntime::cuda, {"libaaco_no_such.so.1", "libaaco_no_such.so.2"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, core::ErrorCode::unsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("libaaco_no_such.so.1, libaaco_no_such.so.2"));
}

TEST(DriverApi, OnlyWhatEndsTheContextIsFatal) {
  for (const int fatal : {214, 700, 719, 999}) EXPECT_TRUE(is_fatal(fatal)) << fatal;
  for (const int passing : {kSuccess, kOutOfMemory, kNotReady, 1, 209, 801}) EXPECT_FALSE(is_fatal(passing)) << passing;
}

}  // namespace
}  // namespace aaco::laboratory::gpu
