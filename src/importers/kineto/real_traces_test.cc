// Every shared Kineto trace, read whole by a second and simple path (core::Json and doubles), must give the same counts and sums.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/json.h"
#include "core/strings.h"
#include "importers/file_source.h"
#include "importers/kineto.h"
#include "tests/support/source_dir.h"

namespace aaco::importers::kineto {
namespace {

struct Totals {
  std::map<std::pair<std::int64_t, std::string>, std::pair<std::int64_t, std::int64_t>> kernels;  // (device, name): count, ns
  std::int64_t copies = 0, copies_ns = 0, calls = 0, operations = 0, linked = 0, steps = 0;
  bool operator==(const Totals&) const = default;
};

std::int64_t to_ns(const core::Json& microseconds) { return std::llround(*microseconds.as_f64() * 1000); }

std::int64_t device_of(const core::Json& event) {
  const auto device = event["args"]["device"].as_i64();
  return device ? *device : event["pid"].as_i64().value_or(0);
}

Totals simple_totals(const core::Json& document) {
  Totals totals;
  std::map<std::string, int> steps;
  for (const core::Json& event : document["traceEvents"].items()) {
    if (event["ph"].text() != "X" || event["dur"].is_null()) continue;
    const std::string category = core::to_lower(event["cat"].text());
    if (category == "kernel") {
      auto& [count, sum] = totals.kernels[{device_of(event), std::string(event["name"].text())}];
      ++count;
      sum += to_ns(event["dur"]);
      totals.linked += event["args"]["correlation"].as_i64().value_or(0) != 0;
    } else if (category.find("memcpy") != std::string::npos || category.find("memset") != std::string::npos) {
      ++totals.copies;
      totals.copies_ns += to_ns(event["dur"]);
    }
    const bool step = event["name"].text().starts_with("ProfilerStep#") && !category.starts_with("gpu");
    if (step) ++steps[std::string(event["name"].text())];
    if (category == "cuda_runtime" || category == "runtime" || category == "cuda_driver") ++totals.calls;
    if ((category == "cpu_op" || category == "operator") && !step) ++totals.operations;
  }
  totals.steps = static_cast<std::int64_t>(steps.size());
  return totals;
}

Totals imported_totals(const trace::MemorySink& sink) {
  Totals totals;
  for (const auto& row : sink.rows<trace::KernelRow>()) {
    auto& [count, sum] = totals.kernels[{row.device, std::string(sink.text(row.name))}];
    ++count;
    sum += row.end_ns - row.start_ns;
    totals.linked += row.correlation_id != 0;
  }
  for (const auto& row : sink.rows<trace::CopyRow>()) {
    ++totals.copies;
    totals.copies_ns += row.end_ns - row.start_ns;
  }
  for (const auto& row : sink.rows<trace::ApiCallRow>()) {
    const std::string_view domain = sink.text(row.domain);
    totals.calls += domain == "hip" || domain.starts_with("cuda_");
    totals.operations += domain == "cpu_op";
  }
  totals.steps = static_cast<std::int64_t>(sink.rows<trace::IterationRow>().size());
  return totals;
}

std::string whole_text(const std::string& path) {
  auto source = open_file_source(path);
  std::string text;
  std::string block(std::size_t{1} << 20, '\0');
  while (source) {
    const auto count = (*source)->read(block);
    if (!count || *count == 0) break;
    text.append(block, 0, *count);
  }
  return text;
}

std::vector<std::string> traces() {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::filesystem::path root = set != nullptr ? set : AACO_SOURCE_DIR "/../shared/data";
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "traces" / "kineto", none)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && path.find(".json") != std::string::npos && path.find("_et.json") == std::string::npos)
      paths.push_back(path);
  }
  return paths;
}

TEST(RealKinetoTraces, EqualAnIndependentCalculation) {
  const auto paths = traces();
  if (paths.empty()) GTEST_SKIP() << "skipped, no real data";
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    trace::MemorySink sink;
    auto source = open_file_source(path);
    ASSERT_TRUE(source.has_value());
    const auto result = make_importer()->import(**source, sink);
    ASSERT_TRUE(result.has_value()) << result.error().text();
    const auto document = core::Json::parse(whole_text(path));
    ASSERT_TRUE(document.has_value());
    EXPECT_EQ(imported_totals(sink), simple_totals(*document));
    EXPECT_EQ(result->account.read, static_cast<std::int64_t>((*document)["traceEvents"].items().size()));
    EXPECT_EQ(result->account.state, trace::Account::State::ok);
  }
}

}  // namespace
}  // namespace aaco::importers::kineto
