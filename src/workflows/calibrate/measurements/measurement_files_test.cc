#include "workflows/measurement_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped_device.h"

namespace aaco::workflows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kH100 = "nvidia_h100_sxm5_80gb";
constexpr const char* kGemm = "device,dtype,m,n,k,latency_us,power_w\n";
constexpr const char* kConvolution = "device,dtype,n,c,h,w,k,r,s,pad,stride,dilation,latency_us\n";
constexpr const char* kAttention = "device,phase,dtype,batch,isl,step,heads,kv_heads,head_dim,latency_us\n";
constexpr const char* kModels = "device,model,seqlen,batch,latency_ms\n";

MeasurementFiles read(const std::string& text) {
  MeasurementFiles files;
  const auto status = read_measurements(text, "t.csv", hardware::shipped_registry(), files);
  EXPECT_TRUE(status) << status.error().text();
  return files;
}
std::string refusal(const std::string& text) {
  MeasurementFiles files;
  const auto status = read_measurements(text, "t.csv", hardware::shipped_registry(), files);
  return status ? "accepted" : status.error().text();
}
const estimation::Measurement& only_kernel(const MeasurementFiles& files) { return files.devices.begin()->second.kernels.at(0); }

TEST(MeasurementFiles, AProductHasItsShapeTimeAndPower) {
  const auto files = read(std::string(kGemm) + "H100,bfloat16,2,3,4,10,250\n");
  EXPECT_EQ(files.rows, 1);
  EXPECT_EQ(files.devices.begin()->first, kH100);
  const auto& row = only_kernel(files);
  EXPECT_EQ(row.kernel.type, "bf16");
  EXPECT_DOUBLE_EQ(row.seconds, 10e-6);
  EXPECT_EQ(row.power_watts, 250);
  EXPECT_EQ(row.where, "t.csv:2");
  const auto& shape = std::get<estimation::GemmShape>(row.kernel.shape);
  EXPECT_THAT((std::vector<std::int64_t>{shape.batch, shape.m, shape.n, shape.k}), ElementsAre(1, 2, 3, 4));
}
TEST(MeasurementFiles, ADecodingStepHasItsPrefixBehindIt) {
  const auto step = read(std::string(kAttention) + "h100,decode,bf16,1,100,20,8,8,64,10\n");
  const auto& decode = std::get<estimation::AttentionShape>(only_kernel(step).kernel.shape);
  EXPECT_FALSE(decode.prefill);
  EXPECT_EQ(decode.query, 1);
  EXPECT_EQ(decode.past, 120);
  const auto prompt = read(std::string(kAttention) + "h100,prefill,bf16,1,100,20,8,8,64,10\n");
  const auto& prefill = std::get<estimation::AttentionShape>(only_kernel(prompt).kernel.shape);
  EXPECT_TRUE(prefill.prefill);
  EXPECT_EQ(prefill.query, 100);
  EXPECT_EQ(prefill.past, 20);
}
TEST(MeasurementFiles, ConvolutionsWithoutAnOutputAreCountedAndLeftOut) {
  const auto files = read(std::string(kConvolution) + "h100,fp16,1,8,2,2,8,3,3,0x0,1x1,1x1,10\n" +
                          "h100,fp16,1,8,2,2,8,3,3,1x1,1x1,1x1,10\n" + "h100,fp16,1,8,3,3,8,3,3,0x0,1x1,1x1,10\n");
  EXPECT_EQ(files.without_output, 1);
  EXPECT_EQ(files.first_without_output, "t.csv:2");
  EXPECT_THAT(files.devices.at(kH100).kernels, SizeIs(2)) << "padding, or a filter of the input's size, leave one";
  EXPECT_THAT(files.notes(), SizeIs(1));
}
TEST(MeasurementFiles, AnInfiniteTimeIsAFailedRun) {
  for (const char* time : {"inf", "+Inf", "Infinity"}) {
    const auto files = read(std::string(kGemm) + "h100,bf16,2,3,4," + time + ",\nh100,bf16,2,3,4,10,\n");
    EXPECT_EQ(files.failed, 1) << time;
    EXPECT_THAT(files.devices.at(kH100).kernels, SizeIs(1)) << time;
  }
  EXPECT_EQ(read(std::string(kModels) + "h100,bert,128,1,inf\n").failed, 1);
}
TEST(MeasurementFiles, UnknownDevicesAreCountedByName) {
  const auto files = read(std::string(kGemm) + "acme,bf16,2,3,4,10,\nh100,bf16,2,3,4,10,\nacme,bf16,2,3,4,10,\n");
  EXPECT_EQ(files.rows, 3);
  EXPECT_EQ(files.strangers.at("acme").rows, 2);
  EXPECT_EQ(files.strangers.at("acme").first, "t.csv:2");
  EXPECT_THAT(files.devices, SizeIs(1));
  EXPECT_THAT(files.notes().at(0), HasSubstr("'acme' (2 rows, first: t.csv:2)"));
}
TEST(MeasurementFiles, ModelsAreNotKernels) {
  const auto files = read(std::string(kModels) + "h100,bert,128,4,2.5\n");
  const auto& rows = files.devices.at(kH100);
  EXPECT_THAT(rows.kernels, IsEmpty());
  ASSERT_THAT(rows.models, SizeIs(1));
  EXPECT_EQ(rows.models[0].model, "bert");
  EXPECT_EQ(rows.models[0].sequence, 128);
  EXPECT_EQ(rows.models[0].batch, 4);
  EXPECT_DOUBLE_EQ(rows.models[0].seconds, 2.5e-3);
}
TEST(MeasurementFiles, ByteOrderMarksAndCrlfAreRead) {
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "device,dtype,m,n,k,latency_us\r\nh100,bf16,2,3,4,10\r\n")
                  .devices,
              SizeIs(1));
}

TEST(MeasurementFiles, RefusesImpossibleTimesAndPowers) {
  for (const char* time : {"0", "-1", "nan", "", "ten", "0.0000001", "4e9", "-inf"})
    EXPECT_THAT(refusal(std::string(kGemm) + "h100,bf16,2,3,4," + time + ",\n"), HasSubstr("t.csv:2: latency_us")) << time;
  for (const char* power : {"0", "-5", "1e6", "inf", "x"})
    EXPECT_THAT(refusal(std::string(kGemm) + "h100,bf16,2,3,4,10," + power + "\n"), HasSubstr("t.csv:2: power_w")) << power;
}
TEST(MeasurementFiles, RefusesShapesThatAreNone) {
  EXPECT_THAT(refusal(std::string(kGemm) + "h100,bf16,0,3,4,10,\n"), HasSubstr("t.csv:2"));
  EXPECT_THAT(refusal(std::string(kGemm) + "h100,bf16,1.5,3,4,10,\n"), HasSubstr("expected an integer"));
  EXPECT_THAT(refusal(std::string(kConvolution) + "h100,fp16,1,8,9,9,8,3,3,1,1x1x1,1x1,10\n"), HasSubstr("expected two numbers"));
  EXPECT_THAT(refusal(std::string(kModels) + "h100,bert,128,0,2.5\n"), HasSubstr("expected a positive number"));
}
TEST(MeasurementFiles, RefusesUnknownTypesAndPhases) {
  EXPECT_THAT(refusal(std::string(kGemm) + "h100,bf17,2,3,4,10,\n"), HasSubstr("not a known data type"));
  EXPECT_THAT(refusal(std::string(kAttention) + "h100,train,bf16,1,100,0,8,8,64,10\n"), HasSubstr("expected prefill or decode"));
}
TEST(MeasurementFiles, RefusesTablesWithMissingColumns) {
  EXPECT_THAT(refusal("device,dtype,m,n,latency_us\n"), HasSubstr("missing columns for a table of gemm: k"));
  EXPECT_THAT(refusal("m,n,k,dtype,latency_us\n"), HasSubstr("missing columns for a table of gemm: device"));
  EXPECT_THAT(refusal("time,value\n1,2\n"), HasSubstr("match no kind of measurement"));
}
TEST(MeasurementFiles, RefusesDamagedTables) {
  EXPECT_THAT(refusal(""), HasSubstr("no table found"));
  EXPECT_THAT(refusal(std::string(kGemm) + "h100,bf16,2,3\n"), HasSubstr("t.csv:2: 4 fields, expected 7"));
  EXPECT_THAT(refusal("device,m,n,k,M,dtype,latency_us\n"), HasSubstr("duplicate column 'M'"));
  EXPECT_THAT(refusal("\xFF\xFE"), HasSubstr("UTF-16"));
  EXPECT_THAT(refusal("device,m\rh100,1\r"), HasSubstr("old Mac line endings"));
}
TEST(MeasurementFiles, RefusesRowsWithoutADevice) {
  EXPECT_THAT(refusal(std::string(kGemm) + ",bf16,2,3,4,10,\n"), HasSubstr("t.csv:2"));
}

}  // namespace
}  // namespace aaco::workflows
