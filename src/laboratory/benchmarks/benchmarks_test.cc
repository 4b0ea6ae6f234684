#include "laboratory/benchmarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/strings.h"
#include "laboratory/benchmarks/memory_need.h"
#include "laboratory/benchmarks/one_operator.h"
#include "laboratory/benchmarks/operator_share.h"
#include "laboratory/benchmarks/resident.h"
#include "tests/support/source_dir.h"

namespace aaco::laboratory {
namespace {

using testing::HasSubstr;

constexpr std::string_view kSuite = R"(schema: 1
suite: own
rounds: 3
visit_ms: 5
kernels:
  - kernel: gemm
    kind: gemm
    dtypes: [float32, int8]
    sites:
      - {m: [1, 2], n: 8, k: [4, 16]}
      - {m: 1, n: 8, k: 4}
  - kernel: depthwise
    kind: convolution
    sites:
      - {c: 6, h: 8, w: 8, k: 6, r: 3, s: 3, pad: 1}
models:
  - {model: mlp, batch: [1, 4], width: 7}
)";

std::string refusal(std::string_view from, std::string_view to) {
  EXPECT_NE(kSuite.find(from), std::string_view::npos) << from;
  const auto parsed = parse_suite(core::replace_all(std::string(kSuite), from, to), "own.yaml");
  return parsed ? "" : parsed.error().text();
}

TEST(Suite, ExpandsSitesWithoutDuplicates) {
  const BenchmarkSuite suite = parse_suite(kSuite, "own.yaml").value();
  EXPECT_EQ(suite.rounds, 3);
  EXPECT_EQ(suite.visit_ns, 5'000'000);
  ASSERT_EQ(suite.cases.size(), 2U * 4 + 1 + 2);
  EXPECT_EQ(suite.cases[0].id, "gemm float32 batch=1 k=4 m=1 n=8");
  EXPECT_EQ(suite.cases[8].size("groups"), 6) << "depthwise: a group a channel";
  EXPECT_EQ(suite.cases[10].id, "models float32 mlp batch=4 width=7");
}

TEST(Suite, ErrorsNameFileAndLine) {
  EXPECT_THAT(refusal("schema: 1", "schema: 2"), HasSubstr("own.yaml:1"));
  EXPECT_THAT(refusal("kind: gemm", "kind: gem"), HasSubstr("use one of: gemm"));
  EXPECT_THAT(refusal("k: [4, 16]", "k: [4, -16]"), HasSubstr("own.yaml:10"));
  EXPECT_THAT(refusal("k: [4, 16]", "k: []"), HasSubstr("empty"));
  EXPECT_THAT(refusal("k: [4, 16]", "q: [4, 16]"), HasSubstr("'k' is missing"));
  EXPECT_THAT(refusal("{m: 1, n: 8, k: 4}", "{m: 1, n: 8, k: 4, z: 1}"), HasSubstr("'z'"));
  EXPECT_THAT(refusal("int8", "int9"), HasSubstr("not a supported data type"));
  EXPECT_THAT(refusal("kind: gemm", "kind: transfer"), HasSubstr("'gemm' is not a transfer"));
  EXPECT_THAT(refusal("r: 3, s: 3, pad: 1", "r: 9, s: 9"), HasSubstr("larger than the padded input"));
  EXPECT_THAT(refusal("kernel: gemm", "kernel: ../gemm"), HasSubstr("used as a file name"));
  EXPECT_THAT(refusal("rounds: 3", "rounds: 0"), HasSubstr("rounds"));
  EXPECT_THAT(refusal("visit_ms: 5", "visit_ms: 0"), HasSubstr("visit_ms"));
  EXPECT_FALSE(parse_suite("schema: 1\nsuite: x\n", "x.yaml")) << "nothing to measure";
  EXPECT_FALSE(parse_suite("[", "x.yaml"));
}

TEST(Suite, ShippedSuitesParse) {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  const auto suites = load_suites("all", paths);
  ASSERT_TRUE(suites) << suites.error().text();
  ASSERT_EQ(suites->size(), 2U);
  EXPECT_TRUE(load_suites("gpu", paths)) << load_suites("gpu", paths).error().text();
  const auto llm = load_suites("llm", paths);
  ASSERT_TRUE(llm) << llm.error().text();
  for (const BenchmarkSuite& suite : {(*suites)[0], (*llm)[0]})
    for (const BenchmarkCase& one : suite.cases) {
      const auto model = benchmarks::one_operator(one);
      EXPECT_TRUE(model) << model.error().text();
    }
  EXPECT_FALSE(load_suites("macro", paths));
  EXPECT_FALSE(load_suites("/nonexistent.yaml", paths));
}

TEST(OneOperator, RefusesUnknownOperators) {
  BenchmarkCase one = parse_suite(kSuite, "own.yaml").value().cases[0];
  one.kind = CaseKind::vector;
  one.op = "frobnicate";
  EXPECT_THAT(benchmarks::one_operator(one).error().text(), HasSubstr("frobnicate"));
  one.kind = CaseKind::model;
  EXPECT_FALSE(benchmarks::one_operator(one));
}

std::int64_t needed_for(std::int64_t rows, bool on_host) {
  BenchmarkCase one = parse_suite(kSuite, "own.yaml").value().cases[0];
  one.sizes = {{"batch", 1}, {"m", rows}, {"n", 10}, {"k", 20'000}};
  return benchmarks::memory_needed(benchmarks::one_operator(one).value().graph, {}, on_host);
}

TEST(MemoryNeed, GrowsWithLiveTensors) {
  constexpr std::int64_t kRow = 4LL * 20'000, kWeights = 4LL * 20'000 * 10;
  EXPECT_GE(needed_for(1'000, true), 1'000 * kRow + kWeights);
  const std::int64_t grown = needed_for(100'000, true) - needed_for(50'000, true);
  EXPECT_GE(grown, 50'000 * kRow);
  EXPECT_LE(grown, 50'000 * kRow * 21 / 10);  // the input as made and as bound, and what comes out
  EXPECT_EQ(needed_for(1'000, false), 2 * kWeights);
}

BenchmarkVisit visit_of(const BenchmarkCase& one, std::int64_t round, double median_ns) {
  BenchmarkVisit visit;
  visit.one = one;
  visit.round = round;
  visit.calls = 10;
  visit.median_ns = median_ns;
  visit.lowest_ns = median_ns * 0.9;
  visit.p90_ns = median_ns * 1.1;
  return visit;
}

class JournalTest : public testing::Test {
 protected:
  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make(testing::TempDir()).value();
  core::Json provenance_ = core::Json::object({{"device", "acme"}});
  BenchmarkSuite suite_ = parse_suite(kSuite, "own.yaml").value();
};

TEST_F(JournalTest, ResumesInterruptedRun) {
  auto first = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  BenchmarkVisit measured = visit_of(suite_.cases[0], 0, 100);
  measured.power_watts = 45.5;
  ASSERT_TRUE(first.add(measured));
  BenchmarkVisit failed;
  failed.one = suite_.cases[1];
  failed.error = "no such kernel";
  ASSERT_TRUE(first.add(failed));
  const std::string text = core::read_file(first.path()).value();
  ASSERT_TRUE(core::write_file_atomic(first.path(), text + R"({"case": {"id)"));  // killed while writing

  auto again = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  EXPECT_TRUE(again.resumed());
  EXPECT_EQ(again.run_id(), first.run_id());
  EXPECT_TRUE(again.has(suite_.cases[0].id, 0));
  EXPECT_FALSE(again.has(suite_.cases[0].id, 1));
  EXPECT_EQ(again.visits()[1].error, "no such kernel");
  EXPECT_EQ(again.visits()[0].power_watts, 45.5);
  ASSERT_TRUE(again.add(visit_of(suite_.cases[0], 1, 110)));
  ASSERT_TRUE(again.finish());
  EXPECT_EQ(BenchmarkJournal::read(again.path()).value().visits().size(), 3U);
  EXPECT_FALSE(BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value().resumed()) << "it is finished";
}

TEST_F(JournalTest, AnotherKeyOrFreshStartsOver) {
  const auto first = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  EXPECT_FALSE(BenchmarkJournal::open(folder_.path(), provenance_, "other", false).value().resumed());
  const auto fresh = BenchmarkJournal::open(folder_.path(), provenance_, "key", true).value();
  EXPECT_FALSE(fresh.resumed());
  EXPECT_NE(fresh.path(), first.path());
}

TEST_F(JournalTest, ReportsSpreadBetweenRounds) {
  auto journal = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  ASSERT_TRUE(journal.add(visit_of(suite_.cases[0], 0, 100)));
  EXPECT_FALSE(spread_of(journal)) << "one round";
  ASSERT_TRUE(journal.add(visit_of(suite_.cases[0], 1, 110)));
  for (const double ns : {150.0, 100.0, 120.0}) ASSERT_TRUE(journal.add(visit_of(suite_.cases[1], ns == 150 ? 0 : 1, ns)));
  ASSERT_TRUE(journal.add(visit_of(suite_.cases[2], 0, 100)));
  const auto spread = spread_of(journal);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->cases, 2);
  EXPECT_NEAR(spread->median_ratio, 0.3, 1e-9) << "of 10 and 50 %";
  EXPECT_NEAR(spread->p90_ratio, 0.46, 1e-9);
}

TEST_F(JournalTest, RefusesNonJournals) {
  const std::string path = core::join_path(folder_.path(), "run-x.jsonl");
  for (const char* text : {"", "{}\n", "[1]\n", "{\"schema_version\": 1, \"provenance\": {}}\n{\"case\": 3}\n"}) {
    ASSERT_TRUE(core::write_file_atomic(path, text));
    EXPECT_FALSE(BenchmarkJournal::read(path)) << text;
  }
}

TEST_F(JournalTest, LocksTheFolder) {
  {
    const auto held = hold_benchmarks(folder_.path());
    ASSERT_TRUE(held.has_value());
    const auto second = hold_benchmarks(folder_.path());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, core::ErrorCode::conflict);
  }
  EXPECT_TRUE(aaco::laboratory::hold_benchmarks(folder_.path()).has_value());
  const auto nowhere = hold_benchmarks("/proc/version/x");
  EXPECT_FALSE(nowhere.has_value());
}

TEST_F(JournalTest, FullDiskDoesNotCorruptTables) {
  auto journal = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  ASSERT_TRUE(journal.add(visit_of(suite_.cases[0], 0, 110'000)));
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder_.path(), "run-0.jsonl"), ""));
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder_.path(), "run-1.jsonl"), R"({"schema_version":1,"prov)"));
  const auto tables = write_tables(folder_.path(), "acme");
  ASSERT_TRUE(tables.has_value()) << tables.error().text();
  EXPECT_EQ(tables->size(), 1U);
  ASSERT_TRUE(core::write_file_atomic(core::join_path(folder_.path(), "run-2.jsonl"), "[1]\n"));
  EXPECT_FALSE(write_tables(folder_.path(), "acme").has_value()) << "what is damaged is not passed over";
}

TEST_F(JournalTest, SmallestCallGivesCallOverhead) {
  auto journal = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  BenchmarkCase one = suite_.cases[0];
  one.kernel = "overhead";
  one.kind = CaseKind::vector;
  const auto add = [&](const char* op, std::int64_t cols, double median_ns) {
    one.op = op;
    one.sizes = {{"rows", 1}, {"cols", cols}};
    one.id = "overhead " + one.op + " " + std::to_string(cols);
    ASSERT_TRUE(journal.add(visit_of(one, 0, median_ns)));
  };
  add("call", 64, 11'000);
  add("launch", 64, 1'000);
  add("call", 65'536, 20'000);
  add("launch", 65'536, 40'000);
  add("call", 1, 9'000);  // no chain to hold it against
  ASSERT_TRUE(journal.add(visit_of(suite_.cases[0], 0, 120'000)));
  ASSERT_TRUE(write_tables(folder_.path(), "acme").has_value());
  EXPECT_THAT(core::read_file(core::join_path(folder_.path(), "gemm_float32.csv")).value(), HasSubstr(",8,4,110,,"));
}

TEST_F(JournalTest, TablesListOperatorAndSource) {
  auto journal = BenchmarkJournal::open(folder_.path(), provenance_, "key", false).value();
  BenchmarkCase launch, call;
  launch.kernel = call.kernel = "launch";
  launch.kind = call.kind = CaseKind::vector;
  launch.dtype = call.dtype = "float32";
  launch.op = "launch";
  call.op = "call";
  launch.id = "launch float32 launch";
  call.id = "launch float32 call";
  launch.sizes = call.sizes = {{"rows", 1}, {"cols", 64}};
  ASSERT_TRUE(journal.add(visit_of(launch, 0, 1'000)));
  ASSERT_TRUE(journal.add(visit_of(call, 0, 11'000)));
  BenchmarkVisit product = visit_of(suite_.cases[0], 0, 110'000);
  product.power_watts = 321.5;
  ASSERT_TRUE(journal.add(product));
  ASSERT_TRUE(journal.add(visit_of(suite_.cases[0], 1, 130'000)));
  BenchmarkVisit convolution = visit_of(suite_.cases[8], 0, 210'000);
  convolution.operator_ratio = 0.5;
  ASSERT_TRUE(journal.add(convolution));
  BenchmarkVisit model = visit_of(suite_.cases[10], 0, 5e6);
  model.resident_before_bytes = 1000;
  model.resident_loaded_bytes = 1500;
  model.resident_peak_bytes = 4000;
  ASSERT_TRUE(journal.add(model));
  const auto tables = write_tables(folder_.path(), "acme").value();
  EXPECT_EQ(tables.size(), 4U);
  const auto text = [&](const char* name) { return core::read_file(core::join_path(folder_.path(), name)).value(); };
  EXPECT_EQ(
      text("gemm_float32.csv"),
      "device,dtype,batch,m,n,k,latency_us,power_w,clock_mhz,source\nacme,float32,1,1,8,4,110,321.5,," + journal.run_id() + "\n")
      << "the median of both visits less the call's own 10 us";
  EXPECT_THAT(text("depthwise_float32.csv"), HasSubstr("acme,float32,NCHW,1,6,8,8,6,3,3,1x1,1x1,1x1,6,100,,,"));
  EXPECT_THAT(text("models_float32.csv"), HasSubstr("acme,mlp,FP32,4,width=7,,,5,3000,500,"));
  EXPECT_THAT(text("launch_float32.csv"), HasSubstr("acme,launch,float32,1,64,1,,"));
}

TEST(OperatorShare, IsTheOperatorsPartOfAllNodes) {
  const std::string_view profile = R"([
    {"cat":"Node","name":"r_kernel_time","dur":30,"args":{"op_name":"ReorderInput"}},
    {"cat":"Node","name":"c_kernel_time","dur":900,"args":{"op_name":"Conv"}},
    {"cat":"Session","name":"model_run","dur":99},
    {"cat":"Node","name":"r_kernel_time","dur":10,"args":{"op_name":"ReorderInput"}},
    {"cat":"Node","name":"c_kernel_time","dur":30,"args":{"op_name":"Conv"}}])";
  EXPECT_EQ(benchmarks::operator_share(profile, "Conv", 1), 0.75);
  EXPECT_FALSE(benchmarks::operator_share(profile, "Gemm", 1));
  EXPECT_FALSE(benchmarks::operator_share("[{", "Conv", 0));
}

TEST(Resident, ReadsTheKernelsText) {
  const auto read = benchmarks::parse_status("Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->now_bytes, 1 << 20);
  EXPECT_EQ(read->peak_bytes, 2 << 20);
  EXPECT_FALSE(benchmarks::parse_status("VmRSS:\t 1024 kB\n"));
  EXPECT_FALSE(benchmarks::parse_status("VmRSS: -1 kB\nVmHWM: 1 kB\n"));
}

}  // namespace
}  // namespace aaco::laboratory
