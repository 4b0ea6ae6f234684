#include <gtest/gtest.h>

#include "agent/clock_offset.h"
#include "agent/health_files.h"
#include "agent/minute_book.h"
#include "agent/spool.h"
#include "core/files.h"

namespace aaco::agent {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Folder {
  core::TemporaryDirectory folder = *core::TemporaryDirectory::make("/tmp", "aaco-spool");
  bool full = false;
  SpoolOptions options(std::int64_t limit = 1 << 20) {
    return {folder.path(), limit, [this](const std::string& path, std::string_view bytes) {
              if (full) return core::Status(core::fail(core::ErrorCode::exhausted, "no space left on device"));
              return core::write_file_atomic(path, bytes);
            }};
  }
};

TEST(Spool, KeepsOrderAndForgetsOnlyWhatIsRemoved) {
  Folder f;
  const auto spool = *Spool::open(f.options());
  spool->add("a\n", 1);
  spool->add("b\nc\n", 2);
  const auto batch = spool->oldest(100);
  EXPECT_EQ(batch.text, "a\nb\nc\n");
  EXPECT_EQ(spool->oldest(100).rows, 3);
  spool->add("d\n", 1);
  spool->remove(batch);
  EXPECT_EQ(spool->oldest(100).text, "d\n");
}
TEST(Spool, KilledAgentFindsItsRowsAgain) {
  Folder f;
  (*Spool::open(f.options()))->add("a\n", 1);
  const auto spool = *Spool::open(f.options());
  EXPECT_EQ(spool->oldest(100).text, "a\n");
  spool->add("b\n", 1);
  EXPECT_EQ(spool->oldest(100).text, "a\nb\n");
}
TEST(Spool, FileCutShortIsCountedAndLeftOut) {
  Folder f;
  (*Spool::open(f.options()))->add("a\nb\n", 2);
  ASSERT_TRUE(core::write_file_atomic(f.folder.path() + "/000000000001-2.rows", "a\n"));
  const auto spool = *Spool::open(f.options());
  spool->add("c\n", 1);
  EXPECT_EQ(spool->oldest(100).text, "c\n");
  EXPECT_EQ(spool->counts().damaged_rows, 2);
}
TEST(Spool, OldestRowsAreDroppedAndCountedAtTheLimit) {
  Folder f;
  const auto spool = *Spool::open(f.options(3 * 4096));
  for (const char* text : {"a\n", "b\n", "c\n", "d\n", "e\n"}) spool->add(text, 1);
  EXPECT_EQ(spool->oldest(100).text, "c\nd\ne\n");
  EXPECT_EQ(spool->counts().dropped_rows, 2);
  EXPECT_LE(*core::tree_size(f.folder.path()), 3 * 4096);
}
TEST(Spool, FullDiskKeepsRowsInMemoryUntilThereIsSpace) {
  Folder f;
  const auto spool = *Spool::open(f.options());
  f.full = true;
  spool->add("a\n", 1);
  EXPECT_EQ(spool->counts().rows_in_memory, 1);
  EXPECT_EQ(spool->oldest(100).text, "a\n");
  f.full = false;
  spool->add("b\n", 1);
  EXPECT_EQ(spool->counts().rows_in_memory, 0);
  EXPECT_EQ(spool->oldest(100).text, "a\nb\n");
}
TEST(Spool, FullDiskIsBoundedInMemory) {
  Folder f;
  const auto spool = *Spool::open(f.options());
  f.full = true;
  const std::string line = std::string(1023, 'x') + "\n";
  for (int i = 0; i < 4000; ++i) spool->add(line, 1);
  EXPECT_LE(spool->counts().waiting_rows, Spool::kMaxMemoryBytes / 1024);
  EXPECT_EQ(spool->counts().waiting_rows + spool->counts().dropped_rows, 4000);
}
TEST(Spool, SecondAgentOnTheFolderIsRefused) {
  Folder f;
  const auto first = *Spool::open(f.options());
  const auto second = Spool::open(f.options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, core::ErrorCode::conflict);
}
TEST(Spool, TinyLimitIsRefused) {
  Folder f;
  EXPECT_FALSE(Spool::open(f.options(100)));
}
TEST(Spool, FolderThatCannotBeMadeIsRefused) { EXPECT_FALSE(Spool::open({"/proc/nothing/spool", 1 << 20, {}})); }

TEST(ClockOffset, AnswersNarrowTheOffset) {
  ClockOffset offset;
  EXPECT_FALSE(offset.offset_ns());
  const std::int64_t truth = 7 * kSecond + 123'000'000;
  std::int64_t now = 1000 * kSecond;
  for (int i = 0; i < 12; ++i) {
    now += 4 * kSecond + offset.best_wait_ns(now);
    offset.add(now, now + 1'000'000, (now - truth) / kSecond);
  }
  EXPECT_NEAR(static_cast<double>(*offset.offset_ns()), static_cast<double>(truth), 8e6);
  EXPECT_LE(*offset.uncertainty_ns(), 8'000'000);
  EXPECT_EQ(offset.contradictions(), 0);
}
TEST(ClockOffset, ContradictionStartsAgain) {
  ClockOffset offset;
  offset.add(1000 * kSecond, 1000 * kSecond, 1000);
  offset.add(1010 * kSecond, 1010 * kSecond, 950);
  EXPECT_EQ(offset.contradictions(), 1);
  EXPECT_NEAR(static_cast<double>(*offset.offset_ns()), 59.5e9, 1e9);
}
TEST(ClockOffset, ClockThatWasSetIsUnknown) {
  ClockOffset offset;
  offset.add(1000 * kSecond, 1000 * kSecond, 1000);
  offset.forget();
  EXPECT_FALSE(offset.offset_ns());
  EXPECT_EQ(offset.best_wait_ns(5), 0);
}

TEST(ResetDevice, IsTheDeviceOfAReset) {
  EXPECT_EQ(reset_device("4,812,99,-;amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!"), "0000:c1:00.0");
  EXPECT_EQ(reset_device("3,1,2,-;NVRM: Xid (PCI:0000:3B:00): 79, pid=1, GPU has fallen off the bus."), "0000:3b:00");
}
TEST(ResetDevice, OtherLinesAreNone) {
  for (const char* line : {"", "amdgpu 0000:c1:00.0: amdgpu: ring gfx timeout", "NVRM: Xid (PCI:0000:3B:00): 31, pid=1",
                           "NVRM: Xid (PCI:", "amdgpu x: GPU reset begin!"})
    EXPECT_EQ(reset_device(line), "") << line;
}

struct Book {
  MinuteBook book;
  void gpu(const char* metric, double value, const char* source = "a") {
    const auto source_id = book.name(source);
    book.add(trace::GpuEventRow{0, 0, 0, book.name(metric), source_id, value});
  }
  std::optional<double> closed(std::string_view column) {
    for (const auto& row : book.close(60 * kSecond, "n", {}, {}))
      if (const auto& value = row.values[trace::fleet_column(column)]) return value;
    return std::nullopt;
  }
};

TEST(MinuteBook, MeanOfOneSource) {
  Book b;
  b.gpu("gpu.power_watts", 100);
  b.gpu("gpu.power_watts", 200);
  b.gpu("gpu.power_watts", 900, "another");
  EXPECT_EQ(b.closed("power_watts"), 150);
}
TEST(MinuteBook, CounterGrowsOverMinutes) {
  Book b;
  b.gpu("gpu.pcie_replays_count", 5);
  EXPECT_EQ(b.closed("pcie_replays"), std::nullopt);  // nothing to compare with
  b.gpu("gpu.pcie_replays_count", 8);
  EXPECT_EQ(b.closed("pcie_replays"), 3);
  b.gpu("gpu.pcie_replays_count", 2);  // the driver was loaded again
  EXPECT_EQ(b.closed("pcie_replays"), 2);
}
TEST(MinuteBook, LinkErrorsAreNotMemoryErrors) {
  Book b;
  for (const double errors : {0.0, 10.0}) {
    b.gpu("gpu.ecc_correctable_count", 100 + errors);
    b.book.count_link_errors(0, errors - 4, 0);
    if (errors > 0) continue;
    EXPECT_EQ(b.closed("link_errors"), std::nullopt);
  }
  EXPECT_EQ(b.closed("ecc_corrected"), 0);
}
TEST(MinuteBook, ThrottleIsTheStrongestReason) {
  Book b;
  for (const double flag : {1.0, 0.0}) {
    b.gpu("gpu.throttle_power_flag", flag);
    b.gpu("gpu.throttle_thermal_flag", 1);
  }
  EXPECT_EQ(b.closed("throttle_ratio"), 1);
}
TEST(MinuteBook, OtherMetricsAndSingleCpusAreIgnored) {
  Book b;
  b.gpu("gpu.fan_rpm", 3000);
  b.book.add(trace::SystemEventRow{0, 0, b.book.name("cpu.use_ratio"), b.book.name("cpu3"), 1});
  EXPECT_TRUE(b.book.empty());
  EXPECT_TRUE(b.book.close(0, "n", {}, {}).empty());
}

}  // namespace
}  // namespace aaco::agent
