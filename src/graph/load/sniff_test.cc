#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "graph/load.h"

namespace aaco::graph {
namespace {

using namespace std::string_literals;

class Sniff : public testing::Test {
 protected:
  Sniff() : folder_(*core::TemporaryDirectory::make(testing::TempDir())) {}
  core::Result<ModelFormat> sniff(const std::string& bytes) {
    const std::string path = core::join_path(folder_.path(), "model");
    EXPECT_TRUE(core::write_file_atomic(path, bytes));
    return sniff_model(path);
  }
  std::string refusal(const std::string& bytes) {
    const auto format = sniff(bytes);
    return format ? "" : format.error().text();
  }
  core::TemporaryDirectory folder_;
};

TEST_F(Sniff, EmptyZipArchiveIsNotReportedAsDamagedOnnx) { EXPECT_EQ(sniff("PK\x05\x06rest"s).value(), ModelFormat::pt2); }

TEST_F(Sniff, AZipArchiveIsAPyTorchExport) { EXPECT_EQ(sniff("PK\x03\x04rest"s).value(), ModelFormat::pt2); }
TEST_F(Sniff, TfliteHasItsNameAtByteFour) { EXPECT_EQ(sniff("\x1C\0\0\0TFL3"s).value(), ModelFormat::tflite); }
TEST_F(Sniff, AnythingElseMayBeOnnx) { EXPECT_EQ(sniff("\x08\x08\x3a\x10"s).value(), ModelFormat::onnx); }
TEST_F(Sniff, BytesThatBeginWithABracketAreNoTextByThat) {
  EXPECT_THAT(refusal("{\"a\": 1}"), testing::HasSubstr("a text file"));
  EXPECT_EQ(sniff("{\x01\xff\x07\x02"s).value(), ModelFormat::onnx) << "the reader tells that it is damaged";
  EXPECT_EQ(sniff("<\x01\xff\x07\x02"s).value(), ModelFormat::onnx);
}
TEST_F(Sniff, WeightsWithoutAGraphAreNamed) {
  EXPECT_THAT(refusal("GGUF...."), testing::HasSubstr("GGUF"));
  EXPECT_THAT(refusal("\x40\0\0\0\0\0\0\0{\"a\":{}}"s), testing::HasSubstr("safetensors"));
  EXPECT_THAT(refusal("\x80\x02"
                      "ctorch"s),
              testing::HasSubstr("pickle"));
}
TEST_F(Sniff, OtherFilesAreNamed) {
  EXPECT_THAT(refusal(""), testing::HasSubstr("is empty"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1"), testing::HasSubstr("git lfs pull"));
  EXPECT_THAT(refusal("<html>"), testing::HasSubstr("text file"));
}
TEST_F(Sniff, AMissingFileIsNotFound) {
  EXPECT_EQ(sniff_model(core::join_path(folder_.path(), "none")).error().code, core::ErrorCode::not_found);
}

}  // namespace
}  // namespace aaco::graph
