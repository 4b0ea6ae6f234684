#include "workflows/session_report/report_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Json document() {
  return *Json::parse(R"({"model": "m", "nodes": 4, "level": "all", "runtime": {"version": "1.30.0", "provider": "CPU"},
    "levels": [{"level": "basic", "kernels": 4, "kept": 4}, {"level": "all", "kernels": 3, "fused": 2, "kept": 2}],
    "drawing": [{"repeats": 2, "rows": [{"fate": "fused", "before": "Conv+Relu", "after": "FusedConv", "node": "c", "time_ns": 9, "from": []},
                                        {"fate": "inserted", "before": "", "after": "Cast", "kind": "cast", "from": [0]}]}],
    "not_fused": [{"reason": "graph_output", "pattern": "gelu", "first": "a", "second": "b", "both_ns": 2},
                  {"reason": "cast_between", "pattern": "conv", "first": "c", "second": "d"},
                  {"reason": "cast_between", "pattern": "conv", "first": "e", "second": "f"}]})");
}
Json provider() {
  return *Json::parse(R"({"kind": "provider", "there": "migraphx", "link": {"name": "PCIe", "bytes_per_s": 1e9},
    "parts": [{"target": "migraphx", "nodes": 3, "first": "a", "last": "b"}],
    "refused": [{"reason": "provider_operator", "op_type": "Hardmax", "node": "h", "condition": "c"},
                {"reason": "provider_operator", "op_type": "Hardmax", "node": "i", "condition": "c"}],
    "seams": [{"first": "a", "second": "h", "from": "migraphx", "to": "host", "bytes": 10, "least_ns": 10},
              {"first": "h", "second": "b", "from": "host", "to": "migraphx", "bytes": 30, "least_ns": 30}]})");
}

TEST(ReportCompiler, AnEmptyDocumentHasNoBlocks) { EXPECT_THAT(compiler_section(Json()).blocks, IsEmpty()); }
TEST(ReportCompiler, RowsKeepWhatBecameOfTheNodes) {
  const auto found = compiler_section(document());
  ASSERT_THAT(found.blocks, SizeIs(1));
  EXPECT_EQ(found.blocks[0].repeats, 2);
  EXPECT_EQ(found.blocks[0].rows[0].after, "FusedConv");
  EXPECT_EQ(found.blocks[0].rows[0].time_ns, 9);
  EXPECT_EQ(found.blocks[0].rows[1].detail, "cast");
  EXPECT_THAT(found.blocks[0].rows[1].from, ElementsAre(0));
  EXPECT_FALSE(found.blocks[0].rows[1].time_ns);
}
TEST(ReportCompiler, ReasonsAreCountedMostFirst) {
  const auto found = compiler_section(document());
  ASSERT_THAT(found.missed, SizeIs(2));
  EXPECT_EQ(found.missed[0].reason, "cast_between");
  EXPECT_EQ(found.missed[0].count, 2);
  EXPECT_EQ(found.missed[0].first, "c");
  EXPECT_FALSE(found.missed[0].both_ns);
  EXPECT_EQ(found.missed[1].both_ns, 2);
}
TEST(ReportCompiler, TheSentenceIsOfTheLevelShown) {
  EXPECT_EQ(report::compiled_sentence(compiler_section(document())), "4 nodes become 3 kernels at level all");
}
TEST(ReportCompiler, SeamsAreSortedAndSummed) {
  const auto found = compiler_section(document().set("against", provider()));
  ASSERT_THAT(found.seams, SizeIs(2));
  EXPECT_EQ(found.seams[0].bytes, 30);
  EXPECT_EQ(found.seams_least_ns, 40);
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].count, 2);
  EXPECT_EQ(found.link, "PCIe");
}
TEST(ReportCompiler, SidesThatFuseTheSameHaveNoDifferences) {
  EXPECT_THAT(compiler_section(document().set("against", Json::object({{"kind", "level"}, {"there", "basic"}}))).differences,
              IsEmpty());
}
TEST(ReportCompiler, NodesByProviderAreParts) {
  const auto found = compiler_section(document().set(
      "against", Json::object({{"kind", "backend"}, {"there", "dnnl"}, {"nodes_by_provider", Json::object({{"Dnnl", 2}})}})));
  ASSERT_THAT(found.parts, SizeIs(1));
  EXPECT_EQ(found.parts[0].nodes, 2);
  EXPECT_THAT(found.seams, IsEmpty());
}

}  // namespace
}  // namespace aaco::workflows
