#include <gtest/gtest.h>

#include "importers/ort_profile.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers::ort {
namespace {

struct Imported {
  trace::MemorySink sink;
  core::Result<ImportResult> result;
};

Imported import_text(std::string text, const Options& options = {}) {
  Imported imported;
  TextSource source(std::move(text));
  imported.result = make_importer(options)->import(source, imported.sink);
  return imported;
}

std::string node(int ts, const std::string& more = "") {
  return R"({"cat":"Node","pid":1,"tid":2,"dur":5,"ts":)" + std::to_string(ts) +
         R"(,"ph":"X","name":"conv1_kernel_time","args":{"op_name":"Conv","provider":"CPUExecutionProvider","node_index":"3",)"
         R"("parameter_size":"9408","input_type_shape":[{"float":[1,3]}],)"
         R"("thread_scheduling_stats":{"sub_threads":{"1":{"num_run":0},"2":{"num_run":4}}}})" +
         more + "}";
}
std::string run(int ts) {
  return R"({"cat":"Session","pid":1,"tid":2,"dur":20,"ts":)" + std::to_string(ts) + R"(,"ph":"X","name":"model_run","args":{}})";
}

TEST(OrtProfile, NodesBelongToTheRunThatFollows) {
  const auto got = import_text("[" + node(12) + "," + run(10) + "," + node(42) + "," + run(40) + "]");
  const auto& nodes = got.sink.rows<trace::NodeExecutionRow>();
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(got.sink.text(nodes[0].node_name), "conv1");
  EXPECT_EQ(got.sink.text(nodes[0].op_type), "Conv");
  EXPECT_EQ(nodes[0].node_index, 3);
  EXPECT_EQ(nodes[0].parameter_bytes, 9408);
  EXPECT_FALSE(nodes[0].output_bytes);
  EXPECT_EQ(nodes[0].start_ns, 12'000);
  EXPECT_EQ(got.sink.text(nodes[0].input_shapes), R"([{"float":[1,3]}])");
  EXPECT_DOUBLE_EQ(nodes[0].thread_use_ratio.value_or(0), 2.0 / 3);
  EXPECT_EQ(nodes[1].iteration, 1);
  ASSERT_EQ(got.sink.rows<trace::IterationRow>().size(), 2U);
  EXPECT_EQ(got.sink.text(got.sink.rows<trace::IterationRow>()[0].phase), "profile");
  EXPECT_EQ(got.result->clock, core::ClockId::trace);
  EXPECT_EQ(got.result->account.kept, 4);
}

TEST(OrtProfile, KnownStartShiftsTimesAndDropsWarmUp) {
  const auto got =
      import_text("[" + node(12) + "," + run(10) + "," + node(42) + "," + run(40) + "]", {.start_ns = 1'000'000, .skip_runs = 1});
  ASSERT_EQ(got.sink.rows<trace::NodeExecutionRow>().size(), 1U);
  EXPECT_EQ(got.sink.rows<trace::NodeExecutionRow>()[0].start_ns, 1'042'000);
  EXPECT_EQ(got.result->clock, core::ClockId::monotonic);
  EXPECT_EQ(got.result->account.dropped.at("warm-up of the profiled pass"), 2);
}

TEST(OrtProfile, GpuKernelsNameTheirNode) {
  const auto got = import_text(
      R"([{"cat":"Kernel","pid":-1,"tid":-1,"dur":7,"ts":30,"ph":"X","name":"gemm","args":{"op_name":"Gemm","parent_name":"fc1_kernel_time"}},)"
      R"({"cat":"Kernel","pid":-1,"tid":-1,"dur":7,"ts":40,"ph":"X","name":"gemm","args":{"parent_name":"fc2_kernel_time"}},)"
      R"({"cat":"Kernel","pid":-1,"tid":-1,"dur":7,"ts":50,"ph":"X","name":"relu","args":{"parent_name":"fc1_kernel_time"}},)"
      R"({"cat":"Kernel","pid":-1,"tid":-1,"dur":7,"ts":60,"ph":"X","name":"x","args":{"parent_name":3}}])");
  const auto& kernels = got.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_EQ(kernels[0].external_id, kernels[2].external_id);
  EXPECT_NE(kernels[0].external_id, kernels[1].external_id);
  EXPECT_EQ(kernels[3].external_id, 0U);
  const auto& nodes = got.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(nodes.size(), 2U);  // one a node
  EXPECT_EQ(got.sink.text(nodes[0].name), "fc1");
  EXPECT_EQ(nodes[0].external_id, kernels[0].external_id);
}
TEST(OrtProfile, GpuKernelsOfItsProviders) {
  const auto got = import_text(
      R"([{"cat":"Kernel","pid":-1,"tid":-1,"dur":7,"ts":30,"ph":"X","name":"gemm","args":{"stream":"5","grid_x":"12","block_x":256}},)"
      R"({"cat":"Kernel","pid":-1,"tid":-1,"dur":2,"ts":40,"ph":"X","name":"MemcpyHostToDevice","args":{"stream":"5"}}])");
  ASSERT_EQ(got.sink.rows<trace::KernelRow>().size(), 1U);
  EXPECT_EQ(got.sink.rows<trace::KernelRow>()[0].stream, 5);
  EXPECT_EQ(got.sink.rows<trace::KernelRow>()[0].grid_x, 12);
  EXPECT_EQ(got.sink.rows<trace::KernelRow>()[0].block_x, 256);
  EXPECT_EQ(got.sink.rows<trace::KernelRow>()[0].end_ns, 37'000);
  ASSERT_EQ(got.sink.rows<trace::CopyRow>().size(), 1U);
  EXPECT_EQ(got.sink.text(got.sink.rows<trace::CopyRow>()[0].kind), "h2d");
}

// As a file looks that another program read and wrote again.
TEST(OrtProfile, AcceptsFractionalAndTextTimes) {
  const auto got = import_text(
      R"([{"cat":"Node","name":"a_kernel_time","ts":12.0,"dur":5.25},{"cat":"Node","name":"b_kernel_time","ts":"14.5","dur":"3"},)"
      R"({"cat":"Session","name":"model_run","ts":1e1,"dur":20.001},{"cat":"Session","name":"model_run","ts":1e300,"dur":1},)"
      R"({"cat":"Session","name":"model_run","ts":"soon","dur":1}])",
      {.phase = "step"});
  const auto& nodes = got.sink.rows<trace::NodeExecutionRow>();
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].start_ns, 12'000);
  EXPECT_EQ(nodes[0].duration_ns, 5'250);
  EXPECT_EQ(nodes[1].start_ns, 14'500);
  EXPECT_EQ(nodes[1].duration_ns, 3'000);
  ASSERT_EQ(got.sink.rows<trace::IterationRow>().size(), 1U);
  EXPECT_EQ(got.sink.rows<trace::IterationRow>()[0].duration_ns, 20'001);
  EXPECT_EQ(got.sink.text(got.sink.rows<trace::IterationRow>()[0].phase), "step");
  EXPECT_EQ(got.result->account.dropped.at("timestamp out of range"), 1);
  EXPECT_EQ(got.result->account.dropped.at("no timestamp or duration"), 1);
}

TEST(OrtProfile, BadEventsAreCountedByReason) {
  const auto got = import_text(
      R"([{"cat":"Node","name":"a_kernel_time","ts":1},{"cat":"Node","name":"a_kernel_time","ts":1,"dur":-1},)"
      R"({"cat":"Node","name":"a_kernel_time","ts":9223372036854775807,"dur":1},{"cat":"Weather","name":"a","ts":1,"dur":1},{"cat" 1}])");
  EXPECT_EQ(got.result->account.dropped.at("no timestamp or duration"), 1);
  EXPECT_EQ(got.result->account.dropped.at("timestamp out of range"), 2);
  EXPECT_EQ(got.result->account.dropped.at("unknown event category"), 1);
  EXPECT_EQ(got.result->account.dropped.at("not a JSON object"), 1);
  EXPECT_EQ(got.result->account.kept, 0);
}

TEST(OrtProfile, TruncatedFileKeepsItsStart) {
  const std::string text = "[" + node(12) + "," + run(10) + "," + node(42) + "," + run(40) + "]";
  const auto got = import_text(text.substr(0, text.size() - 10));
  EXPECT_EQ(got.sink.rows<trace::IterationRow>().size(), 1U);
  EXPECT_EQ(got.sink.rows<trace::NodeExecutionRow>().size(), 2U);  // the last run's node is kept, and noted
  EXPECT_EQ(got.result->account.state, trace::Account::State::partial);
  EXPECT_EQ(got.result->account.notes.size(), 1U);
}

TEST(OrtProfile, KeepsOnlyWholeRunsOnRequest) {
  const auto got = import_text("[" + node(12) + "," + run(10) + "," + node(42) + "]", {.whole_runs_only = true});
  EXPECT_EQ(got.sink.rows<trace::NodeExecutionRow>().size(), 1U);
  EXPECT_EQ(got.result->account.dropped.at("node of an unfinished run"), 1);
  EXPECT_TRUE(got.result->account.notes.empty());
}

TEST(OrtProfile, RefusesFilesWithoutEvents) {
  for (const char* text : {"", "[]", "[", "x", "{}"}) EXPECT_FALSE(import_text(text).result.has_value()) << text;
}

TEST(OrtProfile, Sniffs) {
  const auto importer = make_importer();
  EXPECT_TRUE(importer->sniff("[" + run(1), "p.json"));
  EXPECT_TRUE(importer->sniff("\n[" + node(1), "p.json"));
  EXPECT_FALSE(importer->sniff(R"([{"ph":"X","cat":"kernel"}])", "p.json"));
  EXPECT_FALSE(importer->sniff(R"({"traceEvents":[]})", "p.json"));
  EXPECT_FALSE(importer->sniff("", "p.json"));
}

}  // namespace
}  // namespace aaco::importers::ort
