#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::collectors {
namespace {

// Every text in the collectors' sources that is a metric's name.
std::set<std::string> names_in_sources() {
  const std::regex name(
      "\"((?:cpu|process|system|memory|pressure|cgroup|gpu)\\.[a-z0-9_]*[a-z0-9]_[a-z0-9_]+|process\\.count)\"");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(AACO_SOURCE_DIR "/src/collectors")) {
    const std::string path = entry.path().string();
    if (!(path.ends_with(".cc") || path.ends_with(".h")) || path.ends_with("_test.cc")) continue;
    const std::string text = *core::read_file(path);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), name); at != std::sregex_iterator(); ++at)
      names.insert((*at)[1]);
  }
  return names;
}

std::set<std::string> names_in_document() {
  const std::regex name("\\b((?:cpu|process|system|memory|pressure|cgroup|gpu)\\.[a-z0-9_]+_[a-z0-9_]+|process\\.count)\\b");
  const std::string text = *core::read_file(AACO_SOURCE_DIR "/docs/formats/telemetry.md");
  std::set<std::string> names;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), name); at != std::sregex_iterator(); ++at) names.insert((*at)[1]);
  return names;
}

TEST(TelemetryDocument, HasEveryMetricThatACollectorEmits) {
  const auto documented = names_in_document();
  const auto emitted = names_in_sources();
  EXPECT_GT(emitted.size(), 80U);
  for (const std::string& name : emitted)
    EXPECT_TRUE(documented.contains(name)) << name << " is not in docs/formats/telemetry.md";
}
TEST(TelemetryDocument, HasNoUnusedMetric) {
  const auto emitted = names_in_sources();
  for (const std::string& name : names_in_document()) {
    const bool composed =
        name.starts_with("pressure.") || name.starts_with("gpu.partition");  // put together from a resource or a number
    EXPECT_TRUE(composed || emitted.contains(name)) << name;
  }
}

}  // namespace
}  // namespace aaco::collectors
