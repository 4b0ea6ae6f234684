// Every shared table of rocprof, rocprofv3 and rocprof-compute, taken apart by a second and simple path, must give the same
// counts and sums.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "importers/file_source.h"
#include "importers/rocm/table_reader.h"
#include "tests/support/source_dir.h"

namespace aaco::importers::rocm {
namespace {

using Records = std::vector<std::vector<std::string>>;

// Character by character, the way the RFC reads.
Records simple_records(const std::string& text) {
  Records records;
  std::vector<std::string> record;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        field += text[++i];
      else if (c == '"')
        quoted = false;
      else
        field += c;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      record.push_back(std::move(field));
      field.clear();
    } else if (c == '\n') {
      record.push_back(std::move(field));
      field.clear();
      if (record.size() > 1 || !record[0].empty()) records.push_back(std::move(record));
      record.clear();
    } else if (c != '\r') {
      field += c;
    }
  }
  record.push_back(std::move(field));
  if (record.size() > 1) records.push_back(std::move(record));
  return records;
}

struct Totals {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> kernels, calls;  // name: count, ns
  std::int64_t copies = 0, copies_ns = 0;
  double counters = 0;
  bool operator==(const Totals&) const = default;
};

std::int64_t index_of(const std::vector<std::string>& header, std::initializer_list<const char*> names) {
  for (std::size_t i = 0; i < header.size(); ++i)
    for (const char* name : names)
      if (header[i] == name) return static_cast<std::int64_t>(i);
  return -1;
}

Totals simple_totals(const Records& records) {
  Totals totals;
  const auto& header = records.at(0);
  const auto name = index_of(header, {"Kernel_Name", "KernelName"});
  const auto start = index_of(header, {"Start_Timestamp", "BeginNs"});
  const auto end = index_of(header, {"End_Timestamp", "EndNs"});
  const auto dispatch = index_of(header, {"Dispatch_Id", "Dispatch_ID", "Index"});
  const auto function = index_of(header, {"Function"});
  const auto direction = index_of(header, {"Direction"});
  const auto value = index_of(header, {"Counter_Value"});
  const auto at = [](const auto& record, std::int64_t index) { return record.at(static_cast<std::size_t>(index)); };
  std::set<std::string> seen;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto& record = records[i];
    if (value >= 0) totals.counters += std::stod(at(record, value));
    if (start < 0 || end < 0 || at(record, start).find('E') != std::string::npos) continue;
    const std::int64_t length = std::stoll(at(record, end)) - std::stoll(at(record, start));
    if (direction >= 0) {
      ++totals.copies;
      totals.copies_ns += length;
    } else if (function >= 0) {
      auto& [count, sum] = totals.calls[at(record, function)];
      ++count, sum += length;
    } else if (name >= 0 && (value < 0 || seen.insert(at(record, dispatch) + " " + at(record, start)).second)) {
      auto& [count, sum] = totals.kernels[at(record, name)];
      ++count, sum += length;
    }
  }
  return totals;
}

Totals imported_totals(const trace::MemorySink& sink, bool in_lines) {
  Totals totals;
  for (const auto& row : sink.rows<trace::KernelRow>()) {
    auto& [count, sum] = totals.kernels[std::string(sink.text(row.name))];
    ++count, sum += row.end_ns - row.start_ns;
  }
  for (const auto& row : sink.rows<trace::ApiCallRow>()) {
    if (sink.text(row.domain) == "memory_allocation" || sink.text(row.domain) == "scratch_memory") continue;
    auto& [count, sum] = totals.calls[std::string(sink.text(row.name))];
    ++count, sum += row.end_ns - row.start_ns;
  }
  for (const auto& row : sink.rows<trace::CopyRow>()) ++totals.copies, totals.copies_ns += row.end_ns - row.start_ns;
  if (in_lines)
    for (const auto& row : sink.rows<trace::KernelCounterRow>()) totals.counters += row.value;
  return totals;
}

std::vector<std::string> tables() {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::filesystem::path root = set != nullptr ? set : AACO_SOURCE_DIR "/../shared/data";
  std::vector<std::string> paths;
  for (const char* folder : {"rocprof_legacy", "rocprofv3_csv", "rocprof_compute"}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "traces" / folder, none))
      if (entry.is_regular_file() && entry.path().extension() == ".csv") paths.push_back(entry.path().string());
  }
  return paths;
}

TEST(RealRocmTables, EqualAnIndependentCalculation) {
  const auto paths = tables();
  if (paths.empty()) GTEST_SKIP() << "skipped, no real data";
  std::int64_t kernel_tables = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const Records records = simple_records(text.str());
    trace::MemorySink sink;
    const auto source = open_file_source(path);
    ASSERT_TRUE(source.has_value());
    const auto result = import_table(**source, sink, "test");
    ASSERT_TRUE(result.has_value()) << result.error().text();
    const bool in_lines = index_of(records[0], {"Counter_Value"}) >= 0;
    const Totals totals = imported_totals(sink, in_lines);
    EXPECT_EQ(totals, simple_totals(records));
    EXPECT_EQ(result->account.read, static_cast<std::int64_t>(records.size()) - 1);
    EXPECT_EQ(result->account.state, trace::Account::State::ok);
    kernel_tables += totals.kernels.empty() ? 0 : 1;
  }
  EXPECT_GT(kernel_tables, 5);
}

// What rocprof and rocprofv3 themselves say of a trace.
TEST(RealRocmTables, TotalsEqualRocprofsOwnStatistics) {
  std::int64_t pairs = 0;
  for (const std::string& path : tables()) {
    const std::string trace_path = path.substr(0, path.rfind(".stats.csv")) + ".csv";
    if (!path.ends_with(".stats.csv") || !std::filesystem::exists(trace_path)) continue;
    SCOPED_TRACE(path);
    trace::MemorySink sink;
    trace::MemorySink nothing;
    const auto source = open_file_source(trace_path);
    const auto statistics_source = open_file_source(path);
    ASSERT_TRUE(source && statistics_source);
    ASSERT_TRUE(import_table(**source, sink, "test").has_value());
    const auto statistics = import_table(**statistics_source, nothing, "test");
    ASSERT_TRUE(statistics.has_value());
    const Totals totals = imported_totals(sink, false);
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> own;
    for (const core::Json& entry : statistics->facts["statistics"]["entries"].items())
      own[std::string(entry["name"].text())] = {*entry["calls"].as_i64(), *entry["total_ns"].as_i64()};
    EXPECT_EQ(totals.kernels, own);
    ++pairs;
  }
  if (pairs == 0) GTEST_SKIP() << "skipped, no real data";
}

}  // namespace
}  // namespace aaco::importers::rocm
