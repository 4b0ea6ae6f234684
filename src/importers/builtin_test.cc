#include "importers/builtin.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace aaco::importers {
namespace {

std::map<std::string, ImporterInfo> by_title() {
  std::map<std::string, ImporterInfo> all;
  for (const auto& importer : builtin_importers()) all.emplace(importer->info().title, importer->info());
  return all;
}

std::set<std::string> names_of(auto&& wanted) {
  std::set<std::string> names;
  for (const auto& [title, info] : by_title())
    if (wanted(info)) names.insert(info.name);
  return names;
}

using Names = std::set<std::string>;

TEST(Builtin, EveryImporterSaysWhatItIs) {
  EXPECT_EQ(by_title().size(), builtin_importers().size()) << "titles are distinct";
  for (const auto& [title, info] : by_title()) {
    EXPECT_FALSE(info.name.empty()) << title;
    EXPECT_FALSE(info.profiler.empty()) << title;
  }
}

TEST(Builtin, FormatsOfOneNameAreOfOneProfilerAndOneGrouping) {
  std::map<std::string, ImporterInfo> first;
  for (const auto& [title, info] : by_title()) {
    const auto& [name, other] = *first.emplace(info.name, info).first;
    EXPECT_EQ(other.profiler, info.profiler) << title;
    EXPECT_EQ(other.grouping, info.grouping) << title;
  }
}

TEST(Builtin, ProfilersWithSeveralFormats) {
  EXPECT_EQ(names_of([](const auto& info) { return info.profiler == "rocprof"; }),
            (Names{"rocpd", "rocprof", "rocprof_compute", "rocprofv3"}));
  EXPECT_EQ(names_of([](const auto& info) { return info.profiler == "nsys"; }), (Names{"nsys", "nsys_stats"}));
}

TEST(Builtin, Groupings) {
  const auto grouped = [](Grouping grouping) { return names_of([&](const auto& info) { return info.grouping == grouping; }); };
  EXPECT_EQ(grouped(Grouping::traces), (Names{"jax_trace", "kineto", "xplane"}));
  EXPECT_EQ(grouped(Grouping::processes), (Names{"nsys", "rpd"}));
  EXPECT_EQ(grouped(Grouping::reports), Names{"nsys_stats"});
  EXPECT_EQ(grouped(Grouping::rocm), (Names{"pftrace", "rocpd", "rocprof", "rocprof_compute", "rocprofv3"}));
  EXPECT_EQ(grouped(Grouping::program), Names{"migraphx"});
  EXPECT_EQ(grouped(Grouping::none), (Names{"database", "ort", "smi"}));
}

TEST(Builtin, PassesOfRocprofComputeAreNotItsOwn) {
  EXPECT_EQ(names_of([](const auto& info) { return info.numbers_passes; }), (Names{"rocpd", "rocprof", "rocprofv3"}));
}

TEST(Builtin, Databases) {
  EXPECT_EQ(names_of([](const auto& info) { return info.database; }), (Names{"database", "nsys", "rocpd", "rocprof", "rpd"}));
}

}  // namespace
}  // namespace aaco::importers
