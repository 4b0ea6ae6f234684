#include "importers/kineto.h"

#include <gtest/gtest.h>

#include "importers/stream/source_testing.h"

namespace aaco::importers::kineto {
namespace {

using trace::ApiCallRow;
using trace::CollectiveRow;
using trace::CopyRow;
using trace::KernelRow;

struct Imported {
  trace::MemorySink sink;
  core::Result<ImportResult> result;

  template <class Row>
  [[nodiscard]] const Row& only() const {
    EXPECT_EQ(sink.rows<Row>().size(), 1U);
    static const Row none;
    return sink.rows<Row>().empty() ? none : sink.rows<Row>().front();
  }
  [[nodiscard]] std::int64_t dropped(const std::string& why) const {
    const auto found = result->account.dropped.find(why);
    return found == result->account.dropped.end() ? 0 : found->second;
  }
  [[nodiscard]] std::string text(trace::NameId id) const { return std::string(sink.text(id)); }
};

Imported import_text(std::string text, const Options& options = {}) {
  Imported imported;
  TextSource source(std::move(text));
  imported.result = make_importer(options)->import(source, imported.sink);
  return imported;
}
Imported import_event(const std::string& event) { return import_text(R"({"traceEvents":[)" + event + "]}"); }

// What an event of a kernel looks like, with its beginning left to the test.
std::string kernel(const std::string& head, const std::string& args = R"("device":0,"stream":7,"correlation":8)") {
  return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,)" + head + R"(,"args":{)" + args + "}}";
}

TEST(Kineto, AKernel) {
  const auto got = import_event(
      R"j({"ph":"X","cat":"kernel","name":"void gemm<float, 4>(int)","pid":2,"tid":7,"ts":1419247333430.849,"dur":3.136,)j"
      R"("args":{"External id":9,"device":2,"context":1,"stream":7,"correlation":8218,"registers per thread":32,)"
      R"("shared memory":1024,"grid":[12, 2, 1],"block":[256,1,1]}})");
  const KernelRow& row = got.only<KernelRow>();
  EXPECT_EQ(got.text(row.name), "void gemm<float, 4>(int)");
  EXPECT_EQ(row.start_ns, 1419247333430849);
  EXPECT_EQ(row.end_ns - row.start_ns, 3136);
  EXPECT_EQ(row.device, 2);
  EXPECT_EQ(row.stream, 7);
  EXPECT_EQ(row.correlation_id, 8218U);
  EXPECT_EQ(row.external_id, 9U);
  EXPECT_EQ(row.grid_x, 12);
  EXPECT_EQ(row.block_x, 256);
  EXPECT_EQ(row.vgpr_count, 32);
  EXPECT_EQ(row.lds_bytes, 1024);
  EXPECT_EQ(got.result->account.kept, 1);
}

TEST(Kineto, AcceptsDeviceNumberVariants) {
  for (const char* number : {"12", "12.0", "1.2e1", "\"12\"", "\"GPU 12\""}) {
    const auto got = import_event(R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":4,"ts":1,"dur":1,"args":{"device":)" +
                                  std::string(number) + R"(,"stream":)" + number + "}}");
    EXPECT_EQ(got.only<KernelRow>().device, 12) << number;
    EXPECT_EQ(got.only<KernelRow>().stream, 12) << number;
  }
  const auto broken =
      import_event(R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":4,"ts":1,"dur":1,"args":{"device":1.5,"stream":null}})");
  EXPECT_EQ(broken.only<KernelRow>().device, 3);  // the process and the thread, then
  EXPECT_EQ(broken.only<KernelRow>().stream, 4);
}

TEST(Kineto, Format2021) {
  const auto got = import_event(
      R"({"ph":"X","cat":"Kernel","name":"k","pid":1,"tid":"stream 20","ts":1623212388426902,"dur":5,"args":{"external id":"4","correlation":18446744073709551615}},)"
      R"({"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":10,"tid":"11","ts":1623212388426900,"dur":1,"args":{"correlation":18446744073709551615}},)"
      R"({"ph":"X","cat":"Operator","name":"ProfilerStep#5","pid":10,"tid":"11","ts":1623212388426800,"dur":700,"args":{}})");
  const KernelRow& row = got.only<KernelRow>();
  EXPECT_EQ(row.device, 1);
  EXPECT_EQ(row.stream, 20);
  EXPECT_EQ(row.correlation_id, UINT64_MAX);
  EXPECT_EQ(row.external_id, 4U);
  ASSERT_EQ(got.sink.rows<ApiCallRow>().size(), 2U);
  EXPECT_EQ(got.text(got.sink.rows<ApiCallRow>()[0].domain), "cuda_runtime");
  EXPECT_EQ(got.sink.rows<ApiCallRow>()[0].thread_id, 11);
  EXPECT_EQ(got.text(got.sink.rows<ApiCallRow>()[1].domain), "annotation");
  EXPECT_EQ(got.only<trace::IterationRow>().duration_ns, 700'000);
}

TEST(Kineto, Copies) {
  const auto got = import_event(
      R"j({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7,"correlation":14,"bytes":92928}},)j"
      R"j({"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":5,"dur":1,"args":{"bytes":"64"}},)j"
      R"({"ph":"X","cat":"gpu_memcpy","name":"CopyX","pid":0,"tid":7,"ts":9,"dur":1,"args":{"kind":"DtoD","bytes":-1}})");
  const auto& rows = got.sink.rows<CopyRow>();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(got.text(rows[0].kind), "h2d");
  EXPECT_EQ(rows[0].bytes, 92928);
  EXPECT_EQ(got.text(rows[1].kind), "memset");
  EXPECT_EQ(rows[1].bytes, 64);
  EXPECT_EQ(got.text(rows[2].kind), "d2d");
  EXPECT_FALSE(rows[2].bytes);
}

TEST(Kineto, CollectiveIsInBothTables) {
  const auto got = import_event(
      R"j({"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)","pid":3,"tid":9,"ts":10,"dur":4,)j"
      R"("args":{"device":3,"stream":9,"correlation":5,"Collective name":"_allgather_base","In msg nelems":1000,"Group size":8,)"
      R"("dtype":"BFloat16","Process Group Name":"1"}})");
  EXPECT_EQ(got.only<KernelRow>().device, 3);
  const CollectiveRow& row = got.only<CollectiveRow>();
  EXPECT_EQ(got.text(row.operation), "all_gather");
  EXPECT_EQ(row.bytes, 2000);
  EXPECT_EQ(row.group_size, 8);
  EXPECT_EQ(got.text(row.group), "1");
}

TEST(Kineto, ACollectiveWithoutArgumentsIsKnownByItsName) {
  const auto got =
      import_event(R"({"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce_RING_LL_Sum_float","pid":0,"tid":1,"ts":1,"dur":1})");
  EXPECT_EQ(got.text(got.only<CollectiveRow>().operation), "all_reduce");
  EXPECT_FALSE(got.only<CollectiveRow>().bytes);
}

TEST(Kineto, OperatorKeepsAttributionArguments) {
  const auto got = import_event(
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1,"dur":3,"args":{"External id":5,"Record function id":0,)"
      R"("Input Dims":[[2,3],[3,4]],"Input type":["float","float"],"Call stack":"long","Ev Idx":7}})");
  const ApiCallRow& row = got.only<ApiCallRow>();
  EXPECT_EQ(got.text(row.domain), "cpu_op");
  EXPECT_EQ(row.external_id, 5U);
  EXPECT_EQ(got.text(row.arguments), R"({"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]})");
}

TEST(Kineto, HipCallsAreHip) {
  const auto got = import_event(
      R"({"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":2,"ts":1,"dur":3,"args":{"correlation":5,"kernel":"k"}})");
  EXPECT_EQ(got.text(got.only<ApiCallRow>().domain), "hip");
  EXPECT_EQ(got.text(got.only<ApiCallRow>().arguments), "");
}

TEST(Kineto, FlowEventFillsMissingCorrelationId) {
  const auto got =
      import_event(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":100.5,"dur":2,"args":{"device":0}},)"
                   R"({"ph":"f","cat":"ac2g","id":77,"pid":0,"tid":7,"ts":100.5,"name":"ac2g","bp":"e"},)"
                   R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":6,"ts":90,"dur":2,"args":{}},)"
                   R"({"ph":"s","cat":"ac2g","id":77,"pid":5,"tid":6,"ts":90,"name":"ac2g"})");
  EXPECT_EQ(got.only<KernelRow>().correlation_id, 77U);
  EXPECT_EQ(got.only<ApiCallRow>().correlation_id, 77U);
}

TEST(Kineto, RowsWithoutFlowEventKeepNoId) {
  EXPECT_EQ(import_event(kernel(R"("ts":1,"dur":2)", R"("device":0)")).only<KernelRow>().correlation_id, 0U);
}

TEST(Kineto, BadTimesAreCountedByReason) {
  const auto reason = [](const std::string& head) {
    const auto got = import_event(kernel(head));
    EXPECT_EQ(got.sink.rows<KernelRow>().size(), 0U) << head;
    return got.result->account.dropped.empty() ? std::string() : got.result->account.dropped.begin()->first;
  };
  EXPECT_EQ(reason(R"("ts":1)"), "no duration");
  EXPECT_EQ(reason(R"("ts":1,"dur":-1)"), "negative duration");
  EXPECT_EQ(reason(R"("ts":1,"dur":"x")"), "invalid duration");
  EXPECT_EQ(reason(R"("ts":null,"dur":1)"), "no valid timestamp");
  EXPECT_EQ(reason(R"("dur":1)"), "no valid timestamp");
  EXPECT_EQ(reason(R"("ts":99999999999999999999999,"dur":1)"), "no valid timestamp");
  EXPECT_EQ(reason(R"("ts":9223372036854775,"dur":9223372036854775)"), "timestamp out of range");
}

TEST(Kineto, ZeroDurationsAndEmptyNamesAreKept) {
  EXPECT_EQ(import_event(kernel(R"("ts":1,"dur":0)")).only<KernelRow>().end_ns, 1000);
  EXPECT_EQ(import_event(R"({"ph":"X","cat":"kernel","name":"","pid":0,"tid":1,"ts":1,"dur":1})").sink.rows<KernelRow>().size(),
            1U);
}

TEST(Kineto, NonGpuWorkIsNotAKernel) {
  const auto got = import_event(
      R"({"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#6","pid":0,"tid":7,"ts":1,"dur":5,"args":{}},)"
      R"({"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":7,"ts":1,"dur":5,"args":{}},)"
      R"({"ph":"X","cat":"python_function","name":"f","pid":0,"tid":7,"ts":1,"dur":5,"args":{}},)"
      R"j({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":5,"args":{}})j");
  EXPECT_EQ(got.sink.rows<KernelRow>().size(), 0U);
  EXPECT_EQ(got.sink.rows<trace::IterationRow>().size(), 0U);
  EXPECT_EQ(got.dropped("Python function frames"), 1);
  EXPECT_EQ(got.result->account.dropped_total(), 4);
  EXPECT_EQ(got.result->account.read, 4);
  EXPECT_EQ(got.result->facts["profiler_end_ns"].as_i64(), 6000);
}

TEST(Kineto, OverheadOfTheProfilerIsHostTime) {
  const auto got =
      import_event(R"({"ph":"X","cat":"overhead","name":"Lazy Function Loading","pid":-1,"tid":0,"ts":10,"dur":2500,"args":{}})");
  const ApiCallRow& row = got.only<ApiCallRow>();
  EXPECT_EQ(got.text(row.domain), "profiler_overhead");
  EXPECT_EQ(got.text(row.name), "Lazy Function Loading");
  EXPECT_EQ(row.end_ns - row.start_ns, 2'500'000);
  EXPECT_EQ(got.result->facts["profiler_overhead_ns"].as_i64(), 2'500'000);
}
TEST(Kineto, KeepsLongPythonFrames) {
  const auto got =
      import_event(R"({"ph":"X","cat":"python_function","name":"long","pid":0,"tid":7,"ts":1,"dur":200,"args":{}},)"
                   R"({"ph":"X","cat":"python_function","name":"short","pid":0,"tid":7,"ts":1,"dur":199.9,"args":{}})");
  EXPECT_EQ(got.text(got.only<ApiCallRow>().name), "long");
  EXPECT_EQ(got.dropped("Python function frames"), 1);
}

TEST(Kineto, ATimeWithoutPythonFramesIsARow) {
  const auto got =
      import_event(R"({"ph":"X","cat":"python_function","name":"main","pid":3,"tid":7,"ts":500,"dur":90000,"args":{}},)"
                   R"({"ph":"X","cat":"python_function","name":"short","pid":3,"tid":7,"ts":60500,"dur":9,"args":{}})");
  std::vector<std::pair<std::int64_t, std::int64_t>> quiet;
  for (const auto& row : got.sink.rows<ApiCallRow>())
    if (got.text(row.name) == "(no Python frame recorded)") quiet.emplace_back(row.start_ns, row.end_ns);
  EXPECT_EQ(quiet, (std::vector<std::pair<std::int64_t, std::int64_t>>{{1'000'000, 60'000'000}, {61'000'000, 90'000'000}}));
}

TEST(Kineto, KeepsPythonFramesOnRequest) {
  const auto got = import_text(R"([{"ph":"X","cat":"python_function","name":"f","pid":0,"tid":7,"ts":1,"dur":5}])",
                               {.python_functions = true});
  EXPECT_EQ(got.text(got.only<ApiCallRow>().domain), "python");
}

TEST(Kineto, AnyChromeTrace) {
  const auto got = import_text(
      R"([{"ph":"B","name":"outer","pid":1,"tid":"main","ts":1},{"ph":"B","name":"inner","pid":1,"tid":"main","ts":2},)"
      R"({"ph":"E","pid":1,"tid":"main","ts":3},{"ph":"E","pid":1,"tid":"main","ts":9},{"ph":"E","pid":1,"tid":"main","ts":10},)"
      R"({"ph":"B","name":"open","pid":1,"tid":2,"ts":4},{"ph":"C","name":"memory","pid":1,"ts":5,"args":{"used":12.5,"text":"x"}}])");
  const auto& rows = got.sink.rows<ApiCallRow>();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(got.text(rows[0].name), "inner");
  EXPECT_EQ(rows[1].end_ns, 9000);
  EXPECT_EQ(got.text(rows[1].domain), "marker");
  EXPECT_EQ(got.dropped("end event without begin event"), 1);
  EXPECT_EQ(got.dropped("unterminated begin event"), 1);
  EXPECT_DOUBLE_EQ(got.only<trace::SystemEventRow>().value, 12.5);
  EXPECT_EQ(got.result->account.read, 7);
  EXPECT_EQ(got.result->account.read, got.result->account.kept + got.result->account.dropped_total());
}

TEST(Kineto, StepsAreIterationsInOrder) {
  const auto got =
      import_event(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#11","pid":1,"tid":1,"ts":500,"dur":90},)"
                   R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#10","pid":1,"tid":1,"ts":100,"dur":80},)"
                   R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#10","pid":1,"tid":2,"ts":120,"dur":10})");
  const auto& rows = got.sink.rows<trace::IterationRow>();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].iteration, 0);
  EXPECT_EQ(rows[0].duration_ns, 80'000);
  EXPECT_EQ(rows[1].start_ns, 500'000);
  EXPECT_EQ(got.text(rows[0].phase), "step");
}

TEST(Kineto, ReadsFactsBeforeAndAfterEvents) {
  const auto got = import_text(
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}],"traceEvents":[],)"
      R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":8},"baseTimeNanoseconds":1751410836000000000,"hip_runtime_version":60443483})");
  EXPECT_EQ(got.result->rank, 3);
  EXPECT_EQ(got.result->facts["distributed"]["world_size"].as_i64(), 8);
  EXPECT_EQ(got.result->facts["base_time_ns"].as_i64(), 1751410836000000000);
  EXPECT_EQ(got.result->facts["devices"].items()[0]["name"].text(), "AMD Instinct MI300X");
  EXPECT_EQ(got.result->facts["versions"]["hip_runtime_version"].as_i64(), 60443483);
}

TEST(Kineto, RowsCarryTheRankTheyAreGiven) {
  EXPECT_EQ(import_text("[" + kernel(R"("ts":1,"dur":1)") + "]", {.rank = 5}).only<KernelRow>().rank, 5);
}

TEST(Kineto, TheRankOfAFile) {
  EXPECT_EQ(rank_of(R"({"distributedInfo": {"backend": "nccl", "rank": 12})", "", "rank3.json"), 12);
  EXPECT_EQ(rank_of("", R"("distributedInfo": {"rank": 7}, "traceName": "x"})", "x"), 7);
  EXPECT_EQ(rank_of("", "", "job_rank_4.pt.trace.json.gz"), 4);
  EXPECT_EQ(rank_of("", "", "rank-15/trace.json"), 15);
  EXPECT_FALSE(rank_of(R"({"distributedInfo": {"backend": "nccl"}, "rank": 5})", "", "trace.json"));
  EXPECT_FALSE(rank_of("", "", "frank.json"));
}

TEST(Kineto, TruncatedFileKeepsItsStart) {
  const auto got = import_text(R"({"traceEvents":[)" + kernel(R"("ts":1,"dur":2)") + R"(,{"ph":"X","cat":"kern)");
  ASSERT_TRUE(got.result.has_value());
  EXPECT_EQ(got.sink.rows<KernelRow>().size(), 1U);
  EXPECT_EQ(got.result->account.state, trace::Account::State::partial);
  ASSERT_EQ(got.result->warnings.size(), 1U);
  EXPECT_EQ(got.result->warnings[0].id, "import.truncated");
}

TEST(Kineto, ReportsTrailingDocument) {
  const std::string document = "[" + kernel(R"("ts":1,"dur":2)") + "]";
  const auto got = import_text(document + document);
  EXPECT_EQ(got.sink.rows<KernelRow>().size(), 1U);
  EXPECT_EQ(got.result->account.state, trace::Account::State::partial);
  ASSERT_EQ(got.result->warnings.size(), 1U);
  EXPECT_EQ(got.result->warnings[0].id, "import.trailing");
  EXPECT_NE(got.result->warnings[0].message.find(std::to_string(document.size()) + " bytes after the end"), std::string::npos);
}

TEST(Kineto, RefusesFilesWithoutEvents) {
  for (const char* text :
       {"", "nothing", "{", "[", R"({"nodes":[],"schema":"1.0.1"})", R"({"traceEvents":5})", R"({"traceEvents":[{"ph)"})
    EXPECT_FALSE(import_text(text).result.has_value()) << text;
}

TEST(Kineto, Sniffs) {
  const auto importer = make_importer();
  EXPECT_TRUE(importer->sniff(R"({"schemaVersion": 1, "deviceProperties": [)", "a"));
  EXPECT_TRUE(importer->sniff(R"( {"traceEvents":[)", "a"));
  EXPECT_TRUE(importer->sniff(R"([ {"name":"x","ph":"X"}])", "a"));
  EXPECT_FALSE(importer->sniff(R"({"schema":"1.0.1","nodes":[)", "a"));
  EXPECT_FALSE(importer->sniff(R"([1,2,"ph"])", "a"));
  EXPECT_FALSE(importer->sniff("", "a"));
  EXPECT_FALSE(importer->sniff("a,b,c\n1,2,3\n", "trace.json"));
}

// What rocmProfileData's rpd2tracing writes: processes named after GPUs, numbers as texts, no categories, and arrows that begin
// somewhere within the call.
TEST(Kineto, TracesOfRocmProfileData) {
  const auto got = import_text(R"([ {}
,{"name": "process_name", "ph": "M", "pid":"9","args":{"name":"GPU2"}}
,{"pid":"9","tid":"0","name":"gemm_kernel","ts":"120","dur":"30","ph":"X","args":{"desc":"KernelExecution"}}
,{"pid":"9","tid":"1","name":"CopyHostToDevice","ts":"160","dur":"5","ph":"X","args":{"desc":"CopyHostToDevice"}}
,{"pid":"9","tid":"1","name":"FillBuffer","ts":"170","dur":"5","ph":"X","args":{"desc":"FillBuffer"}}
,{"pid":"77","tid":"77","name":"hipLaunchKernel","ts":"100","dur":"10","ph":"X","args":{"desc":""}}
,{"pid":"77","tid":"77","name":"hipMemcpy","ts":"140","dur":"40","ph":"X","args":{"desc":""}}
,{"pid":"77","tid":"77","cat":"api_op","name":"api_op","ts":"109","id":"1","ph":"s"}
,{"pid":"9","tid":"0","cat":"api_op","name":"api_op","ts":"120","id":"1","ph":"f","bp":"e"}
,{"pid":"77","tid":"77","cat":"api_op","name":"api_op","ts":"160","id":"2","ph":"s"}
,{"pid":"9","tid":"1","cat":"api_op","name":"api_op","ts":"160","id":"2","ph":"f","bp":"e"}
])");
  const auto& kernels = got.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].device, 2);
  EXPECT_EQ(kernels[0].end_ns - kernels[0].start_ns, 30'000);
  EXPECT_EQ(kernels[0].correlation_id, 1U);
  const auto& copies = got.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 2U);
  std::map<std::string, std::uint64_t> ids;
  for (const auto& copy : copies) ids[std::string(got.sink.text(copy.kind))] = copy.correlation_id;
  EXPECT_EQ(ids["h2d"], 2U);
  EXPECT_EQ(ids["memset"], 0U);  // no arrow ends at it
  const auto& calls = got.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 2U);
  for (const auto& call : calls) {
    EXPECT_EQ(got.sink.text(call.domain), "hip");
    EXPECT_NE(call.correlation_id, 0U);
  }
}

}  // namespace
}  // namespace aaco::importers::kineto
