#include "tracelake/bundle.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "tracelake/lake.h"

namespace aaco::tracelake {
namespace {

class BundleTest : public ::testing::Test {
 protected:
  void SetUp() override { root_ = core::join_path(directory_.path(), "sessions"); }
  static trace::SessionManifest manifest(const std::string& id = "20261121T081530Z-3f9a1c", const std::string& tag = "") {
    trace::SessionManifest out;
    out.id.text = id;
    out.kind = "run";
    out.tag = tag;
    out.created_realtime_ns = 1795248930000000000;  // 2026-11-21T08:15:30Z
    return out;
  }
  std::unique_ptr<BundleWriter> create(const trace::SessionManifest& of) {
    auto writer = BundleWriter::create(root_, of);
    EXPECT_TRUE(writer) << writer.error().text();
    return std::move(*writer);
  }
  std::string close(BundleWriter& writer, const trace::SessionManifest& of) {
    auto path = writer.close(of);
    EXPECT_TRUE(path) << path.error().text();
    return path.value_or("");
  }
  core::TemporaryDirectory directory_ = *core::TemporaryDirectory::make("/tmp", "aaco-bundle");
  std::string root_;
};

TEST_F(BundleTest, RowsComeBackSortedByTime) {
  auto writer = create(manifest());
  trace::Sink& sink = writer->sink();
  for (int i = 0; i < 5000; ++i) {
    trace::KernelRow row;
    row.name = sink.name(i % 2 ? "a kernel with a name longer than twelve bytes" : "gemm");
    row.start_ns = 1'000'000 - i;
    row.end_ns = row.start_ns + 10;
    row.correlation_id = UINT64_MAX - static_cast<std::uint64_t>(i);
    if (i % 3) row.grid_x = i;
    sink.add(row);
  }
  ASSERT_TRUE(sink.status());
  const std::string path = close(*writer, manifest());
  EXPECT_EQ(path, core::join_path(root_, "2026-11-21/20261121T081530Z-3f9a1c"));
  trace::NameTable names;
  const auto rows = read_table<trace::KernelRow>(path, names);
  ASSERT_TRUE(rows) << rows.error().text();
  ASSERT_EQ(rows->size(), 5000u);
  EXPECT_EQ(rows->front().start_ns, 1'000'000 - 4999);
  EXPECT_EQ(names.text(rows->front().name), "a kernel with a name longer than twelve bytes");
  EXPECT_EQ(rows->front().correlation_id, UINT64_MAX - 4999);
  EXPECT_EQ(rows->front().grid_x, 4999);
  EXPECT_FALSE(rows->back().grid_x.has_value());
  EXPECT_EQ(names.text(rows->back().name), "gemm");
  EXPECT_TRUE(read_table<trace::ApiCallRow>(path, names)->empty());
}

TEST_F(BundleTest, OpenSessionIsListedAsIncomplete) {
  auto writer = create(manifest());
  auto entries = list_sessions(root_);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().manifest.state, "incomplete");
  ASSERT_TRUE(entries->front().writer);
  EXPECT_TRUE(entries->front().writer->alive);
  writer.reset();
  EXPECT_FALSE(list_sessions(root_)->front().writer->alive);
}

TEST_F(BundleTest, FindsById) {
  auto writer = create(manifest("20261121T081530Z-aaaaaa", "base"));
  const std::string first = close(*writer, manifest("20261121T081530Z-aaaaaa", "base"));
  writer = create(manifest("20261121T081531Z-bbbbbb"));
  const std::string second = close(*writer, manifest("20261121T081531Z-bbbbbb"));
  EXPECT_EQ(find_session(root_, "latest").value_or(""), second);
  EXPECT_EQ(find_session(root_, "tag:base").value_or(""), first);
  EXPECT_EQ(find_session(root_, "20261121T081530").value_or(""), first);
  EXPECT_EQ(find_session(root_, first).value_or(""), first);
  EXPECT_EQ(find_session(root_, "20261121").error().code, core::ErrorCode::conflict);
  EXPECT_EQ(find_session(root_, "nothing").error().code, core::ErrorCode::not_found);
  EXPECT_EQ(find_session(root_, "tag:other").error().code, core::ErrorCode::not_found);
}

}  // namespace
}  // namespace aaco::tracelake
