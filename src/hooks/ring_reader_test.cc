#include "hooks/ring_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "hooks/static_runtime.h"

namespace aaco::hooks {
namespace {

// A ring as a writer leaves it, in a file.
struct Writer {
  explicit Writer(std::uint32_t records = wire::kMinRecords) : bytes(wire::kHeaderBytes + records * sizeof(wire::Record)) {
    ring().magic = wire::kMagic;
    ring().records = records;
    ring().process_id = 11;
    ring().thread_id = 12;
  }
  wire::Ring& ring() { return *reinterpret_cast<wire::Ring*>(bytes.data()); }
  wire::Record& record(std::size_t i) { return reinterpret_cast<wire::Record*>(bytes.data() + wire::kHeaderBytes)[i]; }
  void write(std::uint64_t number) {
    record((number - 1) % ring().records).sequence = number;
    ring().next = std::max(ring().next, number);
  }
  std::string file() const {
    std::string path = testing::TempDir() + "aaco_ring_test.ring";
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  std::vector<char> bytes;
};

std::vector<std::uint64_t> drained(RingReader& reader, bool last = false) {
  std::vector<std::uint64_t> numbers;
  reader.drain([&](const wire::Record& record) { numbers.push_back(record.sequence); }, last);
  return numbers;
}

TEST(RingReader, ReadsInOrder) {
  Writer writer;
  for (std::uint64_t i = 1; i <= 3; ++i) writer.write(i);
  auto reader = RingReader::open(writer.file());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->process_id(), 11);
  EXPECT_EQ(drained(*reader), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(drained(*reader).empty());
}
TEST(RingReader, WaitsForARecordThatIsNotFinished) {
  Writer writer;
  writer.write(1);
  writer.write(3);
  auto reader = RingReader::open(writer.file());
  ASSERT_TRUE(reader);
  EXPECT_EQ(drained(*reader).size(), 1U);
  EXPECT_EQ(drained(*reader, true), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(reader->unfinished(), 1U);
}
TEST(RingReader, StopsAfterOneLap) {
  Writer writer;
  for (std::uint64_t i = 1; i <= wire::kMinRecords; ++i) writer.write(i);
  writer.ring().next = ~std::uint64_t{0};
  auto reader = RingReader::open(writer.file());
  ASSERT_TRUE(reader);
  EXPECT_EQ(drained(*reader, true).size(), wire::kMinRecords);
  EXPECT_TRUE(drained(*reader, true).empty());
}
TEST(RingReader, RefusesAnInvalidFile) { EXPECT_FALSE(RingReader::open("/proc/self/exe")); }
TEST(RingReader, RefusesAMissingFile) { EXPECT_FALSE(RingReader::open("/nowhere/a.ring")); }
TEST(RingReader, RefusesARingThatIsNotReady) {
  Writer writer;
  writer.ring().magic = 0;
  EXPECT_FALSE(RingReader::open(writer.file()));
}
TEST(RingReader, RefusesAWrongNumberOfRecords) {
  for (const std::uint32_t records : {0U, 1U, 1023U, 2048U, 0xffffffffU}) {
    Writer writer;
    writer.ring().records = records;
    EXPECT_FALSE(RingReader::open(writer.file())) << records;
  }
}
TEST(RingReader, RefusesATruncatedFile) {
  Writer writer;
  writer.bytes.resize(writer.bytes.size() - 1);
  EXPECT_FALSE(RingReader::open(writer.file()));
}

TEST(StaticRuntime, IgnoresWhatIsNotAProgram) {
  EXPECT_FALSE(has_static_runtime_bytes(""));
  EXPECT_FALSE(has_static_runtime_bytes("#!/bin/sh\necho cudaLaunchKernel\n"));
  EXPECT_FALSE(has_static_runtime("/nowhere"));
  EXPECT_FALSE(has_static_runtime("/proc/self/exe"));
}
TEST(StaticRuntime, SurvivesDamagedPrograms) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  for (std::size_t i = 0; i < 64; ++i)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = head;
      damaged[i] = value;
      EXPECT_FALSE(has_static_runtime_bytes(damaged));
      EXPECT_FALSE(has_static_runtime_bytes(std::string_view(damaged).substr(0, i)));
    }
}

}  // namespace
}  // namespace aaco::hooks
