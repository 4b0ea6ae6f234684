#include "tracelake/bundle.h"

#include <algorithm>

#include "tracelake/lake.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

class BundleTest : public SessionTest {
 protected:
  template <class Row>
  static std::vector<Row> read(const std::string& path, trace::NameTable& names) {
    auto rows = read_table<Row>(path, names);
    EXPECT_TRUE(rows) << rows.error().text();
    return rows.value_or(std::vector<Row>());
  }
  static bool sorted(const std::vector<trace::SystemEventRow>& rows) {
    return std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  }
  static trace::SystemEventRow event(std::int64_t time, trace::NameId metric, double value) {
    return {0, time, metric, {}, value};
  }
};

TEST_F(BundleTest, RoundTripsEveryCellType) {
  auto writer = create(manifest());
  trace::Sink& sink = writer->sink();
  trace::KernelRow row;
  row.rank = -3;
  row.name = sink.name("a kernel whose name is longer than twelve bytes");
  row.start_ns = INT64_MAX;
  row.end_ns = INT64_MIN;
  row.correlation_id = UINT64_MAX;
  row.grid_x = 0;
  sink.add(row);
  trace::NodeExecutionRow node;
  node.node_name = sink.name("node \"quoted\", ünïcode\n");
  node.thread_use_ratio = 0.25;
  sink.add(node);
  const std::string path = close(*writer, manifest());

  trace::NameTable names;
  auto kernels = read<trace::KernelRow>(path, names);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(names.text(kernels[0].name), "a kernel whose name is longer than twelve bytes");
  row.name = kernels[0].name;
  EXPECT_EQ(kernels[0], row);
  auto nodes = read<trace::NodeExecutionRow>(path, names);
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(names.text(nodes[0].node_name), "node \"quoted\", ünïcode\n");
  EXPECT_EQ(nodes[0].provider, trace::NameId{});
  EXPECT_EQ(nodes[0].thread_use_ratio, 0.25);
  EXPECT_EQ(nodes[0].output_bytes, std::nullopt);
}

TEST_F(BundleTest, WritesNoFileForEmptyTables) {
  const std::string path = make(manifest());
  EXPECT_TRUE(core::exists(join_path(path, "metrics/inference_iters.parquet")));
  EXPECT_FALSE(core::exists(join_path(path, "profiler")));
  EXPECT_FALSE(core::exists(join_path(path, ".spill")));
  trace::NameTable names;
  EXPECT_TRUE(read<trace::KernelRow>(path, names).empty());
}

TEST_F(BundleTest, SortsRowsStably) {
  auto writer = create(manifest());
  const trace::NameId metric = writer->sink().name("cpu.use_ratio");
  for (int i = 0; i < 5000; ++i) writer->sink().add(event((5000 - i) / 2, metric, i));
  trace::NameTable names;
  const auto rows = read<trace::SystemEventRow>(close(*writer, manifest()), names);
  ASSERT_EQ(rows.size(), 5000u);
  EXPECT_TRUE(sorted(rows));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].time_ns != rows[i - 1].time_ns) continue;
    ASSERT_LT(rows[i - 1].value, rows[i].value) << i;
  }
}

// Far more rows than the window holds: they stream to the file; the last come far too late and force the second pass.
TEST_F(BundleTest, StreamsManyRowsAndPlacesLateOnes) {
  constexpr int kRows = 700'000;
  auto writer = create(manifest());
  const trace::NameId even = writer->sink().name("even");
  const trace::NameId odd = writer->sink().name("odd");
  for (int i = 0; i < kRows; ++i) writer->sink().add(event(10 + i, i % 2 ? odd : even, i));
  writer->sink().add(event(3, odd, -1));
  const std::string path = close(*writer, manifest());
  trace::NameTable names;
  const auto rows = read<trace::SystemEventRow>(path, names);
  ASSERT_EQ(rows.size(), kRows + 1u);
  EXPECT_EQ(rows[0].value, -1);
  EXPECT_TRUE(sorted(rows));
  for (int i = 0; i < kRows; i += 997) {
    const auto& row = rows[static_cast<std::size_t>(i) + 1];
    ASSERT_EQ(row.value, i);
    ASSERT_EQ(names.text(row.metric), i % 2 ? "odd" : "even");
  }
  std::size_t scanned = 0;
  trace::NameTable other;
  ASSERT_TRUE(scan_table<trace::SystemEventRow>(path, other, [&](std::span<const trace::SystemEventRow> batch) -> core::Status {
    EXPECT_LE(batch.size(), 100'000u);
    scanned += batch.size();
    return {};
  }));
  EXPECT_EQ(scanned, rows.size());
}

TEST_F(BundleTest, FlushedRowsAreReadableBeforeClose) {
  for (const int rows : {100, 400'000}) {  // in memory, and streamed
    const std::string id = std::string(kId) + std::to_string(rows);
    auto writer = create(manifest(id));
    for (int i = 0; i < rows; ++i) writer->sink().add(event(i, {}, i));
    ASSERT_TRUE(writer->flush());
    trace::NameTable names;
    EXPECT_EQ(read<trace::SystemEventRow>(writer->path(), names).size(), static_cast<std::size_t>(rows));
    ASSERT_TRUE(writer->flush());
    writer->sink().add(event(rows / 2, {}, -1));  // belongs among what is in the file
    writer->sink().add(event(rows, {}, rows));
    const auto all = read<trace::SystemEventRow>(close(*writer, manifest(id)), names);
    EXPECT_EQ(all.size(), static_cast<std::size_t>(rows) + 2);
    EXPECT_TRUE(sorted(all));
  }
}

TEST_F(BundleTest, ScanEndsWithTheVisitorsError) {
  const std::string path = make(manifest());
  trace::NameTable names;
  const auto refuse = [](std::span<const trace::IterationRow>) -> core::Status {
    return core::fail(ErrorCode::cancelled, "enough");
  };
  EXPECT_EQ(scan_table<trace::IterationRow>(path, names, refuse).error().code, ErrorCode::cancelled);
}

TEST_F(BundleTest, DamagedTableIsAnError) {
  const std::string path = make(manifest(), 5000);
  const std::string file = join_path(path, "metrics/inference_iters.parquet");
  const std::string bytes = *core::read_file(file);
  trace::NameTable names;
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_TRUE(core::write_file_atomic(file, bytes.substr(0, size)));
    const auto rows = read_table<trace::IterationRow>(path, names);
    ASSERT_FALSE(rows) << size;
    EXPECT_THAT(rows.error().text(), ::testing::HasSubstr("inference_iters.parquet"));
  }
}

TEST_F(BundleTest, TableWithoutARequiredColumnIsAnError) {
  const std::string path = make(manifest());
  ASSERT_TRUE(core::make_directories(join_path(path, "telemetry")));
  ASSERT_TRUE(
      core::rename_path(join_path(path, "metrics/inference_iters.parquet"), join_path(path, "telemetry/gpu_events.parquet")));
  trace::NameTable names;
  EXPECT_THAT(read_table<trace::GpuEventRow>(path, names).error().message, ::testing::HasSubstr("no column time_ns"));
}

TEST_F(BundleTest, RefusesToReadNonSessions) {
  trace::NameTable names;
  EXPECT_EQ(read_table<trace::KernelRow>(root + "/nothing", names).error().code, ErrorCode::not_found);
}

TEST_F(BundleTest, RefusesNamesOutsideTheBundle) {
  auto writer = create(manifest());
  for (const char* name : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "session.json", ".spill/x", "a/.hidden", "a/", "./a"})
    EXPECT_EQ(writer->write(name, "x").error().code, ErrorCode::invalid_argument) << name;
  EXPECT_TRUE(writer->write("report/plots/a.svg", "x"));
}

TEST_F(BundleTest, RefusesBadAndDuplicateIds) {
  for (const char* id : {"", ".", "..", "a/b", ".hidden", "a b"})
    EXPECT_EQ(BundleWriter::create(root, manifest(id)).error().code, ErrorCode::invalid_argument) << id;
  auto writer = create(manifest());
  EXPECT_EQ(BundleWriter::create(root, manifest()).error().code, ErrorCode::conflict);
  close(*writer, manifest());
  EXPECT_EQ(BundleWriter::create(root, manifest()).error().code, ErrorCode::conflict);
}

TEST_F(BundleTest, RefusesToCloseTwiceOrUnderAnotherId) {
  auto writer = create(manifest());
  EXPECT_EQ(writer->close(manifest("other")).error().code, ErrorCode::invalid_argument);
  close(*writer, manifest());
  EXPECT_EQ(writer->close(manifest()).error().code, ErrorCode::conflict);
}

TEST_F(BundleTest, ManifestListsHashesOfAllOtherFiles) {
  const std::string path = make(manifest());
  const auto stored = read_manifest(path);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->state, "complete");
  std::vector<std::string> files;
  for (const auto& [file, hash] : stored->hashes) files.push_back(file);
  EXPECT_EQ(files, (std::vector<std::string>{"env.json", "metrics/inference_iters.parquet"}));
}

TEST_F(BundleTest, InterruptedStaysInterrupted) {
  auto writer = create(manifest());
  auto end = manifest();
  end.state = "interrupted";
  EXPECT_EQ(read_manifest(close(*writer, end))->state, "interrupted");
}

}  // namespace
}  // namespace aaco::tracelake
