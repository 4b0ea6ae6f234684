#include "importers/migraphx.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "importers/file_source.h"
#include "importers/migraphx/instruction.h"
#include "importers/stream/source_testing.h"
#include "tests/support/source_dir.h"

namespace aaco::importers::migraphx {
namespace {

constexpr std::string_view kProgram = R"text(Compiling ...
Reading: net.onnx
module: "main"
main:@0 = check_context::migraphx::gpu::context -> float_type, {}, {}
main:@1 = hip::hip_copy_literal[id=main:@literal:3] -> half_type, {8, 4}, {4, 1}
x = @param:x -> half_type, {2, 8}, {8, 1}
main:#output_0 = @param:main:#output_0 -> half_type, {2, 4}, {4, 1}
main:@4 = gpu::code_object[code_object=4608,symbol_name=mlir_dot_add,global=256,local=256,output_arg=2,](x,main:@1,main:#output_0) -> half_type, {2, 4}, {4, 1}, target_id=0
main:@5 = @return(main:@4), target_id=0

)text";
constexpr std::string_view kTimes = R"text(Running performance report ...
main:@0 = check_context::migraphx::gpu::context -> float_type, {}, {}: 0.0005ms, 1%
main:@1 = hip::hip_copy_literal[id=main:@literal:3] -> half_type, {8, 4}, {4, 1}: 0.0015ms, 1%
x = @param:x -> half_type, {2, 8}, {8, 1}: 0.001ms, 1%
main:#output_0 = @param:main:#output_0 -> half_type, {2, 4}, {4, 1}: 0ms, 0%
main:@4 = gpu::code_object[code_object=4608,symbol_name=mlir_dot_add,global=256,local=256,output_arg=2,](x,main:@1,main:#output_0) -> half_type, {2, 4}, {4, 1}, target_id=0: 0.0125ms, 80%
main:@5 = @return(main:@4), target_id=0: 0.0005ms, 1%

Summary:
gpu::code_object::mlir_dot_add: 0.0125ms / 1 = 0.0125ms, 80%

Batch size: 2
Rate: 78498.4 inferences/sec
Total time: 0.0127391ms (Min: 0.009838ms, Max: 0.030393ms, Mean: 0.0128411ms, Median: 0.013082ms)
Percentiles (90%, 95%, 99%): (0.014356ms, 0.014547ms, 0.025104ms)
Total instructions time: 0.016ms
Overhead time: 0.00065204ms, 0.00231968ms
Overhead: 5%, -18%
[ MIGraphX Version: 2.13.0.20250912 ] Complete(0.67s): /opt/rocm/bin/migraphx-driver perf net.onnx
)text";

using Imported = TextImport;

Imported import(const std::string& text, std::size_t step = SIZE_MAX) { return import_text(make_importer(), text, step); }

const auto& nodes(const Imported& imported) { return imported.sink.rows<trace::GraphNodeRow>(); }
const auto& edges(const Imported& imported) { return imported.sink.rows<trace::GraphEdgeRow>(); }
const auto& executions(const Imported& imported) { return imported.sink.rows<trace::NodeExecutionRow>(); }

TEST(Migraphx, InstructionsAreNodesAndTheirArgumentsEdges) {
  const auto imported = import(std::string(kProgram));
  ASSERT_TRUE(imported.result.has_value());
  ASSERT_EQ(nodes(imported).size(), 6U);
  EXPECT_EQ(imported.sink.text(nodes(imported)[4].op_type), "gpu::code_object::mlir_dot_add");
  EXPECT_EQ(imported.sink.text(nodes(imported)[4].provider), "gpu");
  EXPECT_EQ(nodes(imported)[1].parameter_count, 32);
  ASSERT_EQ(edges(imported).size(), 4U);
  EXPECT_EQ(edges(imported)[0].source_node, 2);
  EXPECT_EQ(edges(imported)[0].target_node, 4);
  EXPECT_EQ(imported.sink.text(edges(imported)[0].shape), "[2,8]");
  EXPECT_EQ(imported.sink.text(edges(imported)[0].data_type), "float16");
  const core::Json& facts = imported.result->facts["migraphx"];
  EXPECT_EQ(facts["stage"].text(), "compile");
  EXPECT_EQ(facts["classes"]["fused_kernel"].as_i64(), 1);
  EXPECT_EQ(facts["modules"].items()[0].text(), "main");
  EXPECT_EQ(facts["model"].text(), "net.onnx");
}

TEST(Migraphx, APerformanceReportHasDurations) {
  const auto imported = import(std::string(kProgram) + std::string(kTimes));
  ASSERT_TRUE(imported.result.has_value());
  EXPECT_EQ(nodes(imported).size(), 6U);
  ASSERT_EQ(executions(imported).size(), 6U);
  EXPECT_EQ(executions(imported)[4].duration_ns, 12500);
  EXPECT_EQ(executions(imported)[4].start_ns, 3000);
  const core::Json& facts = imported.result->facts["migraphx"];
  EXPECT_EQ(facts["stage"].text(), "perf");
  EXPECT_EQ(facts["report"]["batch"].as_f64(), 2);
  EXPECT_EQ(facts["report"]["rate_hz"].as_f64(), 78498.4);
  EXPECT_EQ(facts["version"].text(), "2.13.0.20250912");
  EXPECT_EQ(facts["stated"]["Overhead"].text(), "5%, -18%");
  EXPECT_TRUE(imported.result->warnings.empty());
  EXPECT_EQ(imported.result->account.state, trace::Account::State::ok);
}

TEST(Migraphx, ReportsTruncation) {
  const auto imported = import(std::string(kProgram) + std::string(kTimes.substr(0, 300)));
  ASSERT_TRUE(imported.result.has_value());
  EXPECT_EQ(imported.result->account.state, trace::Account::State::partial);
  ASSERT_FALSE(imported.result->warnings.empty());
  EXPECT_EQ(imported.result->warnings[0].id, "import.truncated");
}

TEST(Migraphx, ReportsInconsistentTotals) {
  std::string text = std::string(kProgram) + std::string(kTimes);
  text.replace(text.find("time: 0.016ms"), 13, "time: 0.026ms");
  const auto imported = import(text);
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.statistics_differ");
}

TEST(Migraphx, TheLastListingCounts) {
  const auto imported = import(
      "@0 = @param:x -> float_type, {1}, {1}\n@1 = relu(@0) -> float_type, {1}, {1}\n"
      "@0 = @param:x -> float_type, {1}, {1}\n@1 = gpu::relu(@0) -> float_type, {1}, {1}\n");
  ASSERT_EQ(nodes(imported).size(), 2U);
  EXPECT_EQ(imported.sink.text(nodes(imported)[1].op_type), "gpu::relu");
  EXPECT_EQ(imported.result->account.dropped.at("earlier program listing"), 2);
}

TEST(Migraphx, DebugSymbolsNameTheNodes) {
  const auto imported = import(
      "x = @param:x -> float_type, {1}, {1}\n"
      "@1 = relu(x) -> float_type, {1}, {1}, debug_symbols={Relu_7, Add_8}\n");
  EXPECT_EQ(imported.sink.text(nodes(imported)[1].node_name), "Relu_7, Add_8");
}

TEST(Migraphx, LinesInAllTheirForms) {
  const auto literal = parse_instruction("@0 = @literal{0.0136, -0.08} -> float_type, {10}, {1}");
  ASSERT_TRUE(literal.has_value());
  EXPECT_EQ(literal->op, "@literal");
  EXPECT_EQ(literal->lengths, "10");
  const auto tuple = parse_instruction("@7 = topk[k=2,axis=1](@6) -> [float_type, {1, 2}, {2, 1}, int64_type, {1, 2}, {2, 1}]");
  ASSERT_TRUE(tuple.has_value());
  EXPECT_EQ(tuple->data_type, "tuple");
  const auto modules =
      parse_instruction("  main:@3 = gpu::mlir_op[op=dot](main:@1,x), [main:mlir_dot0] -> float_type, {2}, {1}, target_id=0");
  ASSERT_TRUE(modules.has_value());
  EXPECT_EQ(modules->arguments.size(), 2U);
  const auto dynamic = parse_instruction("x = @param:x -> float_type, {[1..4, {2}], 3}, {}");
  ASSERT_TRUE(dynamic.has_value());
  EXPECT_EQ(parse_lengths(dynamic->lengths), std::nullopt);
  const auto allocation =
      parse_instruction("@1 = hip::hip_allocate_memory[shape=float_type, {456}, {1},id=scratch] -> float_type, {456}, {1}");
  ASSERT_TRUE(allocation.has_value());
  EXPECT_EQ(attribute(allocation->attributes, "id"), "scratch");
  EXPECT_EQ(parse_milliseconds("0.00057782ms"), 578);
}

TEST(Migraphx, NoInstructions) {
  for (const char* line :
       {"", "a", "a = ", "a = b", "a = b -> c", "Rate: 3/sec", "gpu::gemm: 0.28ms, 69%", "a b = c -> float_type, {}",
        "x = f(a -> float_type, {1}, {1}", "x = f(a)) -> float_type, {1}, {1}", "x = f -> ", "x = f -> [float_type"})
    EXPECT_FALSE(parse_instruction(line).has_value()) << line;
  for (const char* text : {"ms", "-1ms", "nanms", "1e300ms", "1 s"}) EXPECT_EQ(parse_milliseconds(text), std::nullopt) << text;
}

TEST(Migraphx, RefusesOtherTexts) {
  for (const char* text : {"", "\n\n", "hello\n", "a = b\nc = d\n", "Summary:\nload: 0.1ms, 3%\n"}) {
    EXPECT_FALSE(make_importer()->sniff(text, "x.txt")) << text;
    EXPECT_FALSE(import(text).result.has_value()) << text;
  }
  EXPECT_TRUE(make_importer()->sniff(kProgram, "x.log"));
}

TEST(Migraphx, CutAnywhereBalances) {
  const std::string whole = std::string(kProgram) + std::string(kTimes);
  for (std::size_t cut = 130; cut < whole.size(); ++cut) {
    const auto imported = import(whole.substr(0, cut));
    if (!imported.result) continue;
    const trace::Account& account = imported.result->account;
    EXPECT_EQ(account.read, account.kept + account.dropped_total()) << cut;
    EXPECT_LE(nodes(imported).size(), 6U) << cut;
  }
  EXPECT_EQ(import(whole, 7).result->account, import(whole).result->account);
}

// What the files state themselves, found by plain search.
TEST(RealMigraphx, SumsMatchTheReports) {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::filesystem::path root = set != nullptr ? set : AACO_SOURCE_DIR "/../shared/data";
  std::error_code none;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "traces/migraphx", none)) {
    if (!entry.path().filename().string().starts_with("driver_")) continue;
    ++files;
    SCOPED_TRACE(entry.path().string());
    const auto head = read_head(entry.path().string());
    ASSERT_TRUE(head.has_value());
    EXPECT_TRUE(make_importer()->sniff(*head, entry.path().filename().string()));
    Imported imported;
    const auto source = open_file_source(entry.path().string());
    ASSERT_TRUE(source.has_value());
    imported.result = make_importer()->import(**source, imported.sink);
    ASSERT_TRUE(imported.result.has_value());
    EXPECT_TRUE(imported.result->warnings.empty());
    std::size_t lines = 0;
    for (std::size_t at = head->find(" = "); at != std::string::npos; at = head->find(" = ", at + 1)) ++lines;
    EXPECT_EQ(lines, nodes(imported).size() + executions(imported).size());
    const auto total = head->find("Total instructions time: ");
    EXPECT_EQ(total != std::string::npos, !executions(imported).empty());
    std::int64_t sum = 0;
    for (const auto& execution : executions(imported)) sum += execution.duration_ns;
    if (total == std::string::npos) continue;
    EXPECT_NEAR(static_cast<double>(sum), std::atof(head->c_str() + total + 25) * 1e6, 1000);
  }
  if (files == 0) GTEST_SKIP() << "skipped, no real data";
}

}  // namespace
}  // namespace aaco::importers::migraphx
