#include "importers/jax_trace.h"

#include <gtest/gtest.h>

#include "importers/stream/source_testing.h"

namespace aaco::importers::jax_trace {
namespace {

// As jax.profiler.start_trace() writes it: planes and lines by their names, times in microseconds, an empty object at the end.
std::string document(const std::string& events) {
  return R"x({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{"name":"Stream #13(Compute,MemcpyD2D)"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":701,"tid":9,"name":"thread_name","args":{"name":"python"}},
)x" + events +
         "{}]}";
}
std::string example() {
  return document(
      R"x({"ph":"X","pid":1,"tid":13,"ts":10.5,"dur":2.25,"name":"fusion_1","args":{"correlation_id":"7","hlo_op":"fusion.1","kernel_details":"regs:40 grid:8,1,1 block:128,1,1"}},
{"ph":"X","pid":1,"tid":13,"ts":14,"dur":1,"name":"MemcpyD2H","args":{"memcpy_details":"kind_src:device size:64 dest:0"}},
{"ph":"X","pid":1,"tid":2,"ts":10,"dur":5,"name":"jit_f"},
{"ph":"X","pid":701,"tid":9,"ts":5,"dur":15,"name":"train","args":{"step_num":"12"}},
{"ph":"X","pid":701,"tid":9,"ts":6,"dur":1,"name":"$step.py:3 step"},
)x");
}

TEST(JaxTrace, KernelsCopiesRangesAndSteps) {
  const auto imported = import_text(make_importer(), example());
  ASSERT_TRUE(imported.result) << imported.result.error().text();
  const auto& kernels = imported.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(imported.sink.text(kernels[0].name), "fusion_1");
  EXPECT_EQ(kernels[0].start_ns, 10'500);
  EXPECT_EQ(kernels[0].end_ns, 12'750);
  EXPECT_EQ(kernels[0].stream, 13);
  EXPECT_EQ(kernels[0].correlation_id, 7U);
  EXPECT_EQ(kernels[0].block_x, 128);
  const auto& copies = imported.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].bytes, 64);
  const auto& calls = imported.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(imported.sink.text(calls[0].domain), "annotation");
  EXPECT_EQ(imported.sink.text(calls[1].domain), "python");
  EXPECT_EQ(imported.sink.rows<trace::IterationRow>().size(), 1U);
}
TEST(JaxTrace, CallsOfARuntimeAmongThreadsOfTheHost) {
  const auto domain = [](const std::string& name) {
    const auto imported =
        import_text(make_importer(), document(R"x({"ph":"X","pid":701,"tid":9,"ts":6,"dur":1,"name":")x" + name +
                                              R"x(","args":{"correlation_id":"7"}},
)x"));
    const auto& calls = imported.sink.rows<trace::ApiCallRow>();
    return calls.size() == 1 ? imported.sink.text(calls[0].domain) : std::string("not one call");
  };
  EXPECT_EQ(domain("cuLaunchKernel"), "cuda_driver");
  EXPECT_EQ(domain("cudaMemcpyAsync"), "cuda_runtime");
  EXPECT_EQ(domain("hipModuleLaunchKernel"), "hip");
  EXPECT_EQ(domain("cumsum"), "annotation");
  EXPECT_EQ(domain("cudart"), "annotation");
}
TEST(JaxTrace, IsDistinguishedFromOtherChromeTraces) {
  const auto importer = make_importer();
  EXPECT_TRUE(importer->sniff(example(), "host.trace.json"));
  for (const char* other :
       {"", "[]", R"x({"traceEvents":[{"ph":"X","name":"/host:CPU"}]})x",
        R"x({"traceEvents":[{"ph":"M","name":"process_name","args":{"name":"python"}}]})x", R"x({"process_name":"/host:CPU"})x"})
    EXPECT_FALSE(importer->sniff(other, "host.trace.json")) << other;
}
TEST(JaxTrace, EventsThatCannotBeUsedAreCounted) {
  const auto dropped = [](const char* event) {
    const auto imported = import_text(make_importer(), document(std::string(event) + ","));
    EXPECT_TRUE(imported.result);
    std::string reasons;
    if (imported.result)
      for (const auto& [why, count] : imported.result->account.dropped)
        if (why != "process and thread names" && why != "unused event phase") reasons += why;
    return reasons;
  };
  EXPECT_EQ(dropped(R"x({"ph":"X","pid":9,"tid":1,"ts":1,"dur":1,"name":"f"})x"), "events of an unnamed section");
  EXPECT_EQ(dropped(R"x({"ph":"X","pid":1,"tid":13,"dur":1,"name":"f"})x"), "no valid timestamp");
  EXPECT_EQ(dropped(R"x({"ph":"X","pid":1,"tid":13,"ts":1,"dur":"x","name":"f"})x"), "invalid duration");
  EXPECT_EQ(dropped(R"x({"ph":"X","pid":1,"tid":13,"ts":1,"dur":-2,"name":"f"})x"), "negative duration");
  EXPECT_EQ(dropped(R"x({"ph":"X","pid":1,"tid":13,"ts":1,"dur":2})x"), "events without a name");
}
TEST(JaxTrace, EveryTruncationIsReadOrRefused) {
  const std::string text = example();
  for (std::size_t size = 0; size < text.size(); size += 7)
    (void)import_either_way([](trace::ByteSource& source, trace::Sink& sink) { return make_importer()->import(source, sink); },
                            text.substr(0, size));
}
TEST(JaxTrace, DocumentsWithoutEventsAreRefused) {
  EXPECT_FALSE(import_text(make_importer(), "{}").result);
  EXPECT_FALSE(import_text(make_importer(), "not JSON").result);
}

}  // namespace
}  // namespace aaco::importers::jax_trace
