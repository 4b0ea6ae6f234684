#include "formats/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::formats::npy {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLimit = 1 << 20;

std::string fixture(const std::string& name) {
  return *core::read_file(std::string(AACO_SOURCE_DIR) + "/tests/fixtures/npy/" + name);
}

// An .npy of version 1 with a header of the test's own.
std::string npy(const std::string& header, const std::string& data) {
  const std::string text = header + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + data;
}
std::string plain(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }", data);
}
std::string refusal(const std::string& bytes) {
  const auto array = parse_npy(bytes);
  return array ? "" : array.error().text();
}
std::string zip_refusal(const std::string& bytes, std::int64_t limit = kLimit) {
  const auto arrays = parse_npz(bytes, limit);
  return arrays ? "" : arrays.error().text();
}
std::vector<float> floats(const Array& array) {
  std::vector<float> values(array.data.size() / sizeof(float));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};

TEST(Npy, ReadsFloats) {
  const auto array = parse_npy(fixture("floats.npy"));
  ASSERT_TRUE(array) << array.error().text();
  EXPECT_EQ(array->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array->format, (ElementFormat{'f', 4}));
  EXPECT_EQ(floats(*array), kSix);
}
TEST(Npy, ConvertsColumnMajorBigEndian) { EXPECT_EQ(floats(*parse_npy(fixture("fortran_big_endian.npy"))), kSix); }
TEST(Npy, ReadsVersion2) { EXPECT_EQ(parse_npy(fixture("version2.npy"))->shape, std::vector<std::int64_t>{4}); }
TEST(Npy, AScalarHasNoDimensions) { EXPECT_TRUE(parse_npy(plain("|b1", "()", "\1"))->shape.empty()); }
TEST(Npy, ReadsEmptyArray) { EXPECT_TRUE(parse_npy(plain("<f4", "(0, 3)", ""))->data.empty()); }

TEST(Npy, RefusesOtherFiles) { EXPECT_THAT(refusal("hello"), HasSubstr("not a .npy file")); }
TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = fixture("floats.npy");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse_npy(std::string_view(whole).substr(0, length))) << length;
}
TEST(Npy, RefusesTooMuchData) {
  EXPECT_THAT(refusal(plain("|u1", "(2,)", "abc")), HasSubstr("3 bytes of data, but its shape requires 2"));
}
TEST(Npy, RefusesObjects) { EXPECT_THAT(refusal(plain("|O", "(1,)", "")), HasSubstr("Python objects")); }
TEST(Npy, RefusesPickledObjects) { EXPECT_THAT(refusal(plain("|O8", "(1,)", "")), HasSubstr("Python objects")); }
TEST(Npy, RefusesTexts) { EXPECT_THAT(refusal(plain("<U4", "(1,)", "")), HasSubstr("not numeric")); }
TEST(Npy, RefusesRecords) {
  EXPECT_THAT(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")), HasSubstr("records"));
}
TEST(Npy, RefusesANegativeDimension) { EXPECT_THAT(refusal(plain("<f4", "(-1,)", "")), HasSubstr("dimension")); }
TEST(Npy, RefusesAShapeThatOverflows) {
  EXPECT_THAT(refusal(plain("<f8", "(4294967296, 4294967296)", "")), HasSubstr("shape overflows 64 bits"));
}
TEST(Npy, RefusesAHeaderWithoutAShape) {
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': False}", "")), HasSubstr("lacks"));
}
TEST(Npy, RefusesAnUnknownOrder) {
  EXPECT_THAT(refusal(npy("{'descr': '<f4', 'fortran_order': 7, 'shape': (0,)}", "")), HasSubstr("fortran_order"));
}
TEST(Npy, RefusesANewerVersion) {
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x09\x00\x10\x00\x00\x00", 12)), HasSubstr("version 9"));
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto arrays = parse_npz(fixture(name), kLimit);
    ASSERT_TRUE(arrays) << name << arrays.error().text();
    ASSERT_EQ(arrays->size(), 2U);
    EXPECT_EQ((*arrays)[0].name, "x");
    EXPECT_EQ(floats((*arrays)[0]), kSix);
    EXPECT_EQ((*arrays)[1].name, "ids");
  }
}
TEST(Npz, RefusesEveryTruncation) {
  const std::string whole = fixture("deflated.npz");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse_npz(std::string_view(whole).substr(0, length), kLimit)) << length;
}
TEST(Npz, RefusesAChangedByte) {
  std::string bytes = fixture("stored.npz");
  bytes[bytes.find("'<f4'") + 200] ^= 1;
  EXPECT_THAT(zip_refusal(bytes), HasSubstr("checksum"));
}
TEST(Npz, RefusesMoreThanTheLimit) {
  EXPECT_THAT(zip_refusal(fixture("deflated.npz"), 100), HasSubstr("more than the 100 allowed"));
}
TEST(Npz, RefusesArchiveWithoutArrays) {
  std::string bytes = fixture("stored.npz");
  for (std::size_t at = 0; (at = bytes.find(".npy", at)) != std::string::npos;) bytes.replace(at, 4, ".txt");
  EXPECT_THAT(zip_refusal(bytes), HasSubstr("no .npy member"));
}

}  // namespace
}  // namespace aaco::formats::npy
