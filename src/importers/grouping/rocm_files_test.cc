#include "importers/grouping/rocm_files.h"

#include <gtest/gtest.h>

#include "importers/grouping/counter_runs.h"

namespace aaco::importers::grouping {
namespace {

RocmFile table(std::string path, RocmTable kind, std::string format = "rocprofv3") {
  return {std::move(path), std::move(format), kind, {}};
}

const RocmPlace& place_of(const std::vector<RocmPlace>& places, std::size_t file) {
  for (const RocmPlace& place : places)
    if (place.file == file) return place;
  throw std::out_of_range("no such file");
}

TEST(ImportFiles, TablesOfOneProcessAreOneRunWithoutARank) {
  const auto places = place_files(
      {table("out/host/77_counter_collection.csv", RocmTable::counters), table("out/host/77_hip_api_trace.csv", RocmTable::calls),
       table("out/host/77_kernel_trace.csv", RocmTable::kernels), table("out/host/77_agent_info.csv", RocmTable::facts)});
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places[0].file, 2U);  // kernels first
  EXPECT_EQ(places[3].file, 3U);  // facts last
  for (const RocmPlace& place : places) {
    EXPECT_TRUE(place.same_pass(places[0]));
    EXPECT_EQ(place.rank, std::nullopt);
    EXPECT_EQ(place.host, "host");
  }
}

TEST(ImportFiles, ProcessesAreRanksButALauncherWithoutEventsIsNot) {
  const auto places =
      place_files({table("out/h/99_kernel_trace.csv", RocmTable::kernels),
                   table("out/h/101_kernel_trace.csv", RocmTable::kernels), table("out/h/98_agent_info.csv", RocmTable::facts)});
  EXPECT_EQ(place_of(places, 0).rank, 0);
  EXPECT_EQ(place_of(places, 1).rank, 1);
  EXPECT_EQ(place_of(places, 2).rank, std::nullopt);
}

TEST(ImportFiles, NamedRanksKeepTheirNumbers) {
  const auto places = place_files(
      {table("out/rank3_kernel_trace.csv", RocmTable::kernels), table("out/rank1_kernel_trace.csv", RocmTable::kernels)});
  EXPECT_EQ(place_of(places, 0).rank, 3);
  EXPECT_EQ(place_of(places, 1).rank, 1);
  const auto folders = place_files({table("out/rank_5/h/9_kernel_trace.csv", RocmTable::kernels),
                                    table("out/rank_2/h/8_kernel_trace.csv", RocmTable::kernels)});
  EXPECT_EQ(place_of(folders, 0).rank, 5);
  EXPECT_EQ(place_of(folders, 1).rank, 2);
}

TEST(ImportFiles, PassesOfOneProcessAreOneRunWhateverItsNumber) {
  const auto places = place_files({table("out/pmc_1/h/500_counter_collection.csv", RocmTable::counters),
                                   table("out/pmc_2/h/1000_counter_collection.csv", RocmTable::counters),
                                   table("out/pass_3/h/20_counter_collection.csv", RocmTable::counters)});
  EXPECT_EQ(places[0].run, places[1].run);
  EXPECT_EQ(places[0].run, places[2].run);
  EXPECT_NE(places[0].pass, places[1].pass);
  EXPECT_EQ(places[0].rank, std::nullopt);
}

TEST(ImportFiles, ARunWithCountersOfTheTracedKernelsIsAPassOfIt) {
  const auto with = [](RocmFile file, std::set<std::string> kernels) {
    file.kernels = std::move(kernels);
    return file;
  };
  const RocmFile traced = with(table("trace/100_kernel_trace.csv", RocmTable::kernels), {"gemm", "relu", "copy"});
  const RocmFile calls = table("trace/100_hip_api_trace.csv", RocmTable::calls);
  const RocmFile first = with(table("pmc_1/200_counter_collection.csv", RocmTable::counters), {"gemm", "relu"});
  const RocmFile second = with(table("pmc_2/300_counter_collection.csv", RocmTable::counters), {"gemm"});
  const auto places = place_files({first, traced, second, calls});
  std::set<int> passes;
  for (const RocmPlace& place : places) {
    EXPECT_EQ(place.run, places[0].run);
    EXPECT_EQ(place.rank, std::nullopt);
    passes.insert(place.pass);
  }
  EXPECT_EQ(passes.size(), 3U);
  EXPECT_EQ(place_of(places, 1).pass, place_of(places, 3).pass);
  const RocmFile other = with(first, {"other", "kernels"});
  EXPECT_NE(place_of(place_files({other, traced}), 0).run, place_of(place_files({other, traced}), 1).run);
  const RocmFile rank = with(table("trace/101_kernel_trace.csv", RocmTable::kernels), {"gemm"});
  EXPECT_NE(place_of(place_files({first, traced, rank}), 0).run, place_of(place_files({first, traced, rank}), 1).run)
      << "of which of two processes is not known";
}

TEST(ImportFiles, FirstKernelNamesAreThoseOfWholeLines) {
  EXPECT_EQ(first_kernel_names("\"Kind\",\"Kernel_Name\",\"Id\"\n\"K\",\"f<a, b>(int)\",1\n\"K\",\"g\",2\n\"K\",\"cut"),
            (std::set<std::string>{"f<a, b>(int)", "g"}));
  EXPECT_TRUE(first_kernel_names("\"Domain\",\"Function\"\n\"A\",\"b\"\n").empty());
  EXPECT_TRUE(first_kernel_names("").empty());
}

TEST(ImportFiles, ADocumentComesBeforeTheTablesOfItsRun) {
  const auto places = place_files({table("a/results.csv", RocmTable::kernels, "rocprof"),
                                   {"a/results.json", "rocprof", std::nullopt, {}},
                                   table("a/results.stats.csv", RocmTable::facts, "rocprof"),
                                   table("a/b/results.csv", RocmTable::kernels, "rocprof")});
  EXPECT_EQ(places[0].file, 1U);
  EXPECT_TRUE(places[0].same_pass(place_of(places, 0)));
  EXPECT_TRUE(places[0].same_pass(place_of(places, 2)));
  EXPECT_FALSE(places[0].same_pass(place_of(places, 3)));
}

TEST(ImportFiles, TablesOfAWorkloadArePassesTheTimesFirst) {
  const auto places = place_files({table("w/SQ_LEVEL_WAVES.csv", RocmTable::kernels, "rocprof_compute"),
                                   table("w/pmc_perf.csv", RocmTable::kernels, "rocprof_compute"),
                                   table("w/sysinfo.csv", RocmTable::facts, "rocprof_compute"),
                                   table("w/timestamps.csv", RocmTable::kernels, "rocprof_compute")});
  EXPECT_EQ(places[0].file, 3U);
  EXPECT_EQ(places[1].file, 1U);
  EXPECT_EQ(places[0].run, places[2].run);
  EXPECT_NE(places[0].pass, places[1].pass);
}

TEST(ImportFiles, OddNamesDoNoHarm) {
  for (const char* path :
       {"", "/", "x", "pmc_/x.csv", "pass_99999999999999999999/x.csv", "_kernel_trace.csv", "a//b/_results.csv"})
    EXPECT_EQ(place_files({table(path, RocmTable::kernels)}).size(), 1U) << path;
  EXPECT_TRUE(place_files({}).empty());
}

}  // namespace
}  // namespace aaco::importers::grouping
