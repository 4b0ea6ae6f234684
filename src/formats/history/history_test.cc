#include "formats/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace aaco::formats::history {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Document parsed(std::string_view text, const Filter& filter = {}) {
  auto document = read(text, "file", filter);
  if (!document) throw std::runtime_error(document.error().text());
  return *std::move(document);
}
std::string error_of(std::string_view text, const Filter& filter = {}) {
  const auto document = read(text, "file", filter);
  return document ? "accepted" : document.error().text();
}
std::vector<double> values(const Series& series) {
  std::vector<double> out;
  for (const Point& point : series.points) out.push_back(point.value);
  return out;
}
std::vector<std::string> names(const Document& document) {
  std::vector<std::string> out;
  for (const Series& series : document.series) out.push_back(series.name);
  return out;
}

constexpr std::string_view kTable =
    "time,commit,branch,latency,throughput\n"
    "2024.01.01 3:00:00 +0100,aaa0,main,154,10.43\n"
    "2024.01.02 3:00:00 +0100,aaa1,side,138,\n"
    "2024.01.03 3:00:00 +0100,aaa2,main,x,10.29\n";

TEST(HistoryTable, EveryNumericColumnIsASeries) {
  const Document document = parsed(kTable);
  EXPECT_THAT(names(document), ElementsAre("latency", "throughput"));
  EXPECT_THAT(values(document.series[0]), ElementsAre(154, 138));
  EXPECT_EQ(document.series[0].points[1].label, "aaa1");
  EXPECT_EQ(document.series[0].points[0].time_ns, 1704074400LL * 1'000'000'000);
  EXPECT_EQ(document.read, 6);
  EXPECT_EQ(document.dropped.at("not a number"), 2);
}
TEST(HistoryTable, RowsAreChosenByAColumn) {
  EXPECT_THAT(values(parsed(kTable, {{"branch", "side"}}).series.at(0)), ElementsAre(138));
}
TEST(HistoryTable, MissingColumn) { EXPECT_THAT(error_of(kTable, {{"brnch", "main"}}), HasSubstr("latency")); }
TEST(HistoryTable, Semicolons) {
  EXPECT_THAT(values(parsed("time;m\n2024-01-01;1,5\n2024-01-02;2\n2024-01-03;3\n").series[0]), ElementsAre(1.5, 2, 3));
}
TEST(HistoryTable, DecimalCommasAfterSemicolons) {
  const auto read = parsed("step;value\n0;100,3\n1;-1,5e1\n2;1.234,5\n");
  EXPECT_THAT(names(read), ElementsAre("step", "value"));
  EXPECT_THAT(values(read.series.at(1)), ElementsAre(100.3, -15, 1234.5));
  EXPECT_THAT(values(parsed("a\tb\n1\t1,5\n").series.at(1)), ElementsAre(1.5));
}
TEST(HistoryTable, DecimalPointsAfterSemicolons) {
  EXPECT_THAT(values(parsed("a;b\n1.5;2\n2.25;3\n").series.at(0)), ElementsAre(1.5, 2.25));
}
TEST(HistoryTable, RefusesMixedDecimalSeparators) {
  EXPECT_THAT(error_of("a;b\n1,5;2\n1.25;3\n"), HasSubstr("mixes decimal commas and decimal points"));
}
TEST(HistoryTable, TextWithCommasStaysText) {
  for (const char* text : {"1,2,3", ",5", "5,", "1.23,5", "12345.678,5", "a,5", "1,5x"})
    EXPECT_THAT(names(parsed(std::string("what;value\n") + text + ";1\n" + text + ";2\n")), ElementsAre("value")) << text;
}
TEST(HistoryTable, SecondsSince1970) {
  EXPECT_EQ(parsed("time,m\n1609466400,1\n").series[0].points[0].time_ns, 1609466400LL * 1'000'000'000);
}
TEST(HistoryTable, NumbersThatAreNames) { EXPECT_THAT(names(parsed("commit,m\n1234567,1\n1234568,2\n")), ElementsAre("m")); }
TEST(HistoryTable, NotFiniteIsCounted) {
  const Document document = parsed("m\n1\nnan\ninf\n2\n");
  EXPECT_THAT(values(document.series[0]), ElementsAre(1, 2));
  EXPECT_EQ(
      document.dropped.at("not finite") + (document.dropped.contains("not a number") ? document.dropped.at("not a number") : 0),
      2);
}
TEST(HistoryTable, HistogramLog) {
  const Document document = parsed(
      "#[Histogram log format version 1.0]\n#Tag,Interval_Start,p50\nTag=read,1.5,10\nTag=write,1.5,30\nTag=read,2.5,12\n");
  EXPECT_EQ(document.format, "histogram-log");
  EXPECT_THAT(values(document.series.at(1)), ElementsAre(10, 12));
  EXPECT_EQ(document.series.at(1).name, "read:p50");
}
TEST(HistoryTable, UntaggedRowAmongTaggedRowsIsCountedNotRead) {
  const Document document = parsed("#Tag,Interval_Start,p50\nTag=read,1.5,10\n2r,3.5,12\n,,\n");
  EXPECT_THAT(values(document.series.at(1)), ElementsAre(10));
  EXPECT_EQ(document.dropped.at("untagged row among tagged rows"), 4);
  EXPECT_EQ(document.read, 6);
}
TEST(HistoryTable, AFirstLineOfNumbersIsAValue) {
  const auto list = parsed("98.8\n99.1\n100.2\n");
  EXPECT_THAT(names(list), ElementsAre("value"));
  EXPECT_THAT(values(list.series[0]), ElementsAre(98.8, 99.1, 100.2));
  const auto two = parsed("1;2,5;0\n3;4,5;1\n");
  EXPECT_THAT(names(two), ElementsAre("column 1", "column 2", "column 3"));
  EXPECT_THAT(values(two.series[1]), ElementsAre(2.5, 4.5));
  EXPECT_THAT(names(parsed("build,2\n1,5\n2,6\n")), Contains("2")) << "a header with a number in it";
}
TEST(HistoryTable, RowsShorterThanTheHeader) { EXPECT_THAT(values(parsed("a,b\n1,2\n3\n").series.at(1)), ElementsAre(2)); }
TEST(HistoryTable, NoNumbers) { EXPECT_THAT(error_of("a,b\nx,y\n"), HasSubstr("no numeric series")); }
TEST(HistoryTable, HeaderOnly) { EXPECT_THAT(error_of("a,b\n"), HasSubstr("no numeric series")); }
TEST(HistoryTable, RemarksOnly) { EXPECT_THAT(error_of("# nothing\n"), HasSubstr("no rows")); }
TEST(HistoryTable, EmptyAssignment) { EXPECT_THAT(error_of("window.BENCHMARK_DATA = "), HasSubstr("an empty assignment")); }
TEST(HistoryTable, Empty) { EXPECT_THAT(error_of(" \n"), HasSubstr("is empty")); }

constexpr std::string_view kGoogle = R"({"context": {"date": "2026-11-21T08:15:30+00:00"}, "benchmarks": [
 {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetition_index": 0, "real_time": 10.5, "cpu_time": 10, "time_unit": "us", "items_per_second": 5},
 {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetition_index": 1, "real_time": 11.5, "cpu_time": 11, "time_unit": "us", "items_per_second": 4},
 {"name": "BM_x/8_mean", "run_name": "BM_x/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 11, "time_unit": "us"},
 {"name": "BM_y", "run_name": "BM_y", "error_occurred": true, "error_message": "no"}]})";

TEST(HistoryGoogle, OnePointPerRepetition) {
  const Document document = parsed(kGoogle);
  EXPECT_EQ(document.format, "google-benchmark");
  EXPECT_THAT(names(document), ElementsAre("BM_x/8", "BM_x/8:cpu_time", "BM_x/8:items_per_second"));
  EXPECT_THAT(values(document.series[0]), ElementsAre(10.5, 11.5));
  EXPECT_EQ(document.series[0].unit, "us");
  EXPECT_EQ(document.series[2].lower_is_better, false);
  EXPECT_EQ(document.dropped.at("aggregate of repetitions"), 1);
  EXPECT_EQ(document.dropped.at("failed benchmark"), 1);
}

constexpr std::string_view kTracker = R"(window.BENCHMARK_DATA = {"lastUpdate": 1, "entries": {"Suite": [
 {"commit": {"id": "0123456789abcdef"}, "date": 1737502817456, "tool": "googlecpp", "benches": [{"name": "b", "value": 3, "unit": "ns/iter"}]},
 {"commit": {"id": "1123456789abcdef"}, "date": 1737602817456, "tool": "googlecpp", "benches": [{"name": "b", "value": 4, "unit": "ns/iter"}, {"name": "c"}]}]}};)";

TEST(HistoryTracker, OnePointPerCommit) {
  const Document document = parsed(kTracker);
  ASSERT_EQ(document.series.size(), 1U);
  EXPECT_THAT(values(document.series[0]), ElementsAre(3, 4));
  EXPECT_EQ(document.series[0].points[0].label, "0123456789");
  EXPECT_EQ(document.series[0].points[0].time_ns, 1737502817456LL * 1'000'000);
  EXPECT_EQ(document.series[0].lower_is_better, true);
  EXPECT_EQ(document.dropped.at("not a number"), 1);
}
TEST(HistoryTracker, Cut) { EXPECT_THAT(error_of(kTracker.substr(0, 200)), HasSubstr("file")); }

TEST(HistoryLists, OfNumbers) { EXPECT_THAT(values(parsed("[1, 2, null, 3.5]").series[0]), ElementsAre(1, 2, 3.5)); }
TEST(HistoryLists, Named) { EXPECT_THAT(names(parsed(R"({"a": [1, 2], "text": ["x"], "b": [3]})")), ElementsAre("a", "b")); }
TEST(HistoryLists, Annotated) {
  const Document document =
      parsed(R"({"time": {"index": [0, 1], "raw": ["1871", "1872"]}, "series": [{"label": "V1", "raw": [1120, 1160]}]})");
  EXPECT_THAT(values(document.series[0]), ElementsAre(1120, 1160));
  EXPECT_EQ(document.series[0].points[1].label, "1872");
}
TEST(HistoryLists, Nothing) {
  for (const char* text : {"[]", "{}", R"({"a": 1})", R"({"series": []})", R"({"benchmarks": []})", R"({"entries": {}})"})
    EXPECT_THAT(error_of(text), HasSubstr("no numeric series")) << text;
}

TEST(HistoryJson, PytestBenchmarkYieldsOnePointPerFile) {
  const Document document = parsed(R"({"machine_info":{},"commit_info":{"id":"0123456789abcdef"},"datetime":"2024-01-01T02:00:00",
 "benchmarks":[{"name":"test_a","fullname":"t.py::test_a","stats":{"median":0.25,"mean":0.5}},{"name":"test_b","stats":{"median":"x"}}]})");
  EXPECT_EQ(document.format, "pytest-benchmark");
  ASSERT_EQ(names(document), (std::vector<std::string>{"t.py::test_a"}));
  EXPECT_THAT(values(document.series[0]), ElementsAre(0.25));
  EXPECT_EQ(document.series[0].points[0].label, "0123456789");
  EXPECT_EQ(document.series[0].points[0].time_ns, 1704074400LL * 1'000'000'000);
  EXPECT_EQ(document.series[0].unit, "s");
  EXPECT_EQ(document.series[0].lower_is_better, true);
  EXPECT_EQ(document.dropped.at("not a number"), 1);
}
TEST(HistoryJson, HyperfineYieldsOnePointPerRun) {
  const Document document =
      parsed(R"({"results":[{"command":"a","mean":2,"times":[1,null,3]},{"command":"b","mean":5},{"command":"c","times":[]}]})");
  EXPECT_EQ(document.format, "hyperfine");
  ASSERT_EQ(names(document), (std::vector<std::string>{"a", "b"}));
  EXPECT_THAT(values(document.series[0]), ElementsAre(1, 3));
  EXPECT_THAT(values(document.series[1]), ElementsAre(5));
  EXPECT_EQ(document.dropped.at("not a number"), 1);
  EXPECT_THAT(error_of(R"({"results":[{"command":"a"}]})"), HasSubstr("no numeric series"));
}
TEST(HistoryJson, AggregatesOfOldGoogleBenchmarkAreKnownByName) {
  const Document document =
      parsed(R"({"benchmarks":[{"name":"a","real_time":1},{"name":"a","real_time":3},{"name":"a_mean","real_time":2},
 {"name":"b_mean","real_time":7}]})");
  EXPECT_THAT(names(document), ElementsAre("a", "b_mean"));
  EXPECT_EQ(document.dropped.at("aggregate of repetitions"), 1);
}

}  // namespace
}  // namespace aaco::formats::history
