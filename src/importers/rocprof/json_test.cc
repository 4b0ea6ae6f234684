#include <gtest/gtest.h>

#include "importers/rocprof.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers::rocprof {
namespace {

constexpr std::string_view kHead = R"json({ "traceEvents":[{}
,{"args":{"name":"Markers and Ranges"},"ph":"M","pid":0,"name":"process_name","sort_index":0}
,{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":1}
,{"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name","sort_index":2}
,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name","sort_index":3}
,{"args":{"name":"GPU Barriers0"},"ph":"M","pid":518,"name":"process_name","sort_index":4}
)json";
constexpr std::string_view kTail =
    "],\n\"otherData\": {\n    \"CMD\": \"rocminfo\",\n    \"Agent1.DeviceType\": \"CPU\",\n"
    "    \"Agent2.DeviceType\": \"GPU\",\n    \"Agent2.Name\": \"gfx90a\",\n    \"Agent2.ComputeUnit\": \"110\"\n  }\n}";
constexpr std::string_view kDispatch =
    R"json(,{"ph":"X","name":"add(float*, int) [clone .kd]","pid":6,"tid":77,"ts":"1000","dur":"2",
  "args":{
    "KernelName":"add(float*, int) [clone .kd]", "gpu-id":"0", "queue-id":"3", "queue-index":"0", "pid":"77", "tid":"77",
    "grd":"1000", "wgr":"256", "lds":"512", "scr":"16", "arch_vgpr":"8", "accum_vgpr":"0", "sgpr":"32", "wave_size":"64",
    "sig":"0x0", "obj":"0x7f28c7c85580", "SQ_WAVES":"16", "L2CacheHit":"53.25", "VALUUtilization":"None",
    "DispatchNs":"999000", "BeginNs":"1000123", "EndNs":"1002456", "CompleteNs":"1002999", "DurationNs":"2333"
  }
}
)json";
constexpr std::string_view kLaunch = R"json(,{"ph":"X","name":"hipLaunchKernel","pid":2,"tid":77,"ts":"900","dur":"20",
  "args":{"BeginNs":"900500", "EndNs":"920000", "pid":"77", "tid":"77", "Name":"hipLaunchKernel", "args":"( stream(1) )", "Data":"", "DurationNs":"19500"}}
)json";
constexpr std::string_view kOperation = R"json(,{"ph":"X","name":"add(float*, int)","pid":6,"tid":1,"ts":"1000","dur":"2",
  "args":{"BeginNs":"1000123", "EndNs":"1002456", "dev-id":"0", "queue-id":"5", "Name":"add(float*, int)", "pid":"77", "tid":"77", "stream-id":"1", "Data":"", "DurationNs":"2333"}}
)json";
constexpr std::string_view kArrow = R"json(,{"ts":910,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":77,"name":"dep"}
,{"ts":1000,"ph":"t","cat":"DataFlow","id":0,"pid":6,"tid":1,"name":"dep"}
)json";

using Imported = TextImport;

Imported import(const std::string& text, std::size_t step = SIZE_MAX) { return import_text(make_json_importer(), text, step); }

std::string document(std::initializer_list<std::string_view> events) {
  std::string text(kHead);
  for (const std::string_view event : events) text += event;
  return text + std::string(kTail);
}

const auto& kernels(const Imported& imported) { return imported.sink.rows<trace::KernelRow>(); }
const auto& calls(const Imported& imported) { return imported.sink.rows<trace::ApiCallRow>(); }
const auto& copies(const Imported& imported) { return imported.sink.rows<trace::CopyRow>(); }

TEST(RocprofJson, ReadsNanosecondTimesFromArguments) {
  const auto imported = import(document({kDispatch}));
  ASSERT_TRUE(imported.result.has_value());
  ASSERT_EQ(kernels(imported).size(), 1U);
  const trace::KernelRow& row = kernels(imported)[0];
  EXPECT_EQ(imported.sink.text(row.name), "add(float*, int) [clone .kd]");
  EXPECT_EQ(row.start_ns, 1000123);
  EXPECT_EQ(row.end_ns, 1002456);
  EXPECT_EQ(row.queue, 3);
  EXPECT_EQ(row.grid_x, 4);
  EXPECT_EQ(row.block_x, 256);
  EXPECT_EQ(row.lds_bytes, 512);
  EXPECT_EQ(row.vgpr_count, 8);
}

TEST(RocprofJson, CountersAreAmongTheArguments) {
  const auto imported = import(document({kDispatch}));
  const auto& counters = imported.sink.rows<trace::KernelCounterRow>();
  ASSERT_EQ(counters.size(), 2U);  // "None" is no number
  EXPECT_EQ(imported.sink.text(counters[1].counter), "L2CacheHit");
  EXPECT_EQ(counters[1].value, 53.25);
}

TEST(RocprofJson, FlowEventsJoinLaunchAndKernel) {
  const auto imported = import(document({kLaunch, kOperation, kArrow}));
  ASSERT_EQ(kernels(imported).size(), 1U);
  ASSERT_EQ(calls(imported).size(), 1U);
  EXPECT_EQ(imported.sink.text(calls(imported)[0].domain), "hip");
  EXPECT_NE(kernels(imported)[0].correlation_id, 0U);
  EXPECT_EQ(kernels(imported)[0].correlation_id, calls(imported)[0].correlation_id);
  EXPECT_EQ(kernels(imported)[0].stream, 1);
}

TEST(RocprofJson, MergesKernelsOfBothTracers) {
  const auto imported = import(document({kDispatch, kLaunch, kOperation, kArrow}));
  ASSERT_EQ(kernels(imported).size(), 1U);
  EXPECT_NE(kernels(imported)[0].correlation_id, 0U);
  EXPECT_EQ(kernels(imported)[0].grid_x, 4);
  EXPECT_EQ(kernels(imported)[0].stream, 1);
}

TEST(RocprofJson, SeparatesCopiesBarriersAndMarkers) {
  const auto imported = import(document(
      {R"(,{"ph":"X","name":"CopyHostToDevice","pid":1,"tid":0,"ts":"5","dur":"3","args":{"BeginNs":"5000","EndNs":"8000","dev-id":"0","stream-id":"2"}})",
       R"(,{"ph":"X","name":"<barrier packet>","pid":518,"tid":0,"ts":"5","dur":"3","args":{"BeginNs":"5000","EndNs":"8000","dev-id":"0"}})",
       R"(,{"ph":"X","name":"step 1","pid":0,"tid":0,"ts":"5","dur":"3","args":{"BeginNs":"4000","EndNs":"9000","pid":"7","tid":"8"}})"}));
  ASSERT_EQ(copies(imported).size(), 1U);
  EXPECT_EQ(imported.sink.text(copies(imported)[0].kind), "h2d");
  EXPECT_TRUE(kernels(imported).empty());
  EXPECT_EQ(imported.result->account.dropped.at("queue barrier packets"), 1);
  ASSERT_EQ(calls(imported).size(), 1U);
  EXPECT_EQ(imported.sink.text(calls(imported)[0].domain), "marker");
  EXPECT_EQ(calls(imported)[0].thread_id, 8);
}

TEST(RocprofJson, ReadsDevicesFromRocminfo) {
  const auto imported = import(document({kDispatch}));
  const auto& devices = imported.result->facts["devices"].items();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0]["architecture"].text(), "gfx90a");
}

TEST(RocprofJson, RefusesHeadlessEmptyFileWithReason) {
  const std::string text = ",{\"args\":{\"name\":\"COPY\"},\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"sort_index\":0}\n";
  EXPECT_TRUE(make_json_importer()->sniff(text, "results.json"));
  const auto imported = import(text);
  ASSERT_FALSE(imported.result.has_value());
  EXPECT_NE(imported.result.error().message.find("nothing was traced"), std::string::npos);
}

TEST(RocprofJson, KeepsEventsOfHeadlessFile) {
  const auto imported = import(std::string(kHead.substr(kHead.find('\n') + 1)) + std::string(kDispatch));
  ASSERT_TRUE(imported.result.has_value());
  EXPECT_EQ(kernels(imported).size(), 1U);
  EXPECT_EQ(imported.result->account.state, trace::Account::State::partial);
}

TEST(RocprofJson, SniffsOnlyItsFormat) {
  const auto importer = make_json_importer();
  EXPECT_TRUE(importer->sniff(document({kDispatch}), "x.json"));
  EXPECT_TRUE(importer->sniff(R"({"traceEvents": [{"ph": "X", "args": {"BeginNs": "1", "EndNs": "2"}}]})", "x.json"));
  for (const char* text : {"", ",", "{}", ",1,2\n", R"({"traceEvents": []})", R"([{"ph":"X"}])",
                           R"({"traceEvents": [{"ph": "M", "name": "process_sort_index", "args": {"sort_index": 1}}]})"})
    EXPECT_FALSE(importer->sniff(text, "x.json")) << text;
}

TEST(RocprofJson, RefusesFilesWithoutEvents) {
  for (const char* text : {"", "[", "{}", "nothing", ",", ",,,", "{\"traceEvents\":1}"})
    EXPECT_FALSE(import(text).result.has_value()) << text;
}

TEST(RocprofJson, CountsDroppedRecordsByReason) {
  const auto imported = import(
      document({R"(,{"ph":"X","name":"a","pid":6,"tid":0,"ts":"5","dur":"3","args":{"BeginNs":"9000","EndNs":"8000"}})",
                R"(,{"ph":"X","name":"a","pid":6,"tid":0,"ts":"5","dur":"3","args":{"BeginNs":"x","EndNs":"8000"}})",
                R"(,{"ph":"X","name":"a","pid":6,"tid":0,"ts":"5","dur":"3"})",
                R"(,{"ph":"X","name":"a","pid":99,"tid":0,"ts":"5","dur":"3","args":{"BeginNs":"1","EndNs":"2"}})", ",17"}));
  ASSERT_TRUE(imported.result.has_value());
  const trace::Account& account = imported.result->account;
  EXPECT_EQ(account.kept, 0);
  EXPECT_EQ(account.dropped.at("ends before it starts"), 1);
  EXPECT_EQ(account.dropped.at("no valid timestamp"), 2);
  EXPECT_EQ(account.dropped.at("events of an unnamed section"), 1);
  EXPECT_EQ(account.dropped.at("malformed event"), 1);
  EXPECT_EQ(account.read, account.kept + account.dropped_total());
}

TEST(RocprofJson, CutAnywhereKeepsWholeEventsAndBalances) {
  const std::string whole = document({kDispatch, kLaunch, kOperation, kArrow});
  for (std::size_t cut = kHead.size(); cut < whole.size(); ++cut) {
    const auto imported = import(whole.substr(0, cut));
    ASSERT_TRUE(imported.result.has_value()) << cut;
    const trace::Account& account = imported.result->account;
    EXPECT_EQ(account.read, account.kept + account.dropped_total()) << cut;
    EXPECT_EQ(account.state, trace::Account::State::partial) << cut;
    EXPECT_LE(kernels(imported).size(), 1U);
  }
  EXPECT_EQ(import(whole, 7).result->account, import(whole).result->account);
}

TEST(RocprofJson, ProcessesWithGpuWorkAreRanks) {
  std::string other(kDispatch);
  for (auto at = other.find("\"77\""); at != std::string::npos; at = other.find("\"77\"", at)) other.replace(at, 4, "\"99\"");
  const auto imported = import(document({kDispatch, other, kLaunch}));
  ASSERT_TRUE(imported.result.has_value());
  ASSERT_EQ(kernels(imported).size(), 2U);
  EXPECT_EQ(kernels(imported)[0].rank + kernels(imported)[1].rank, 1);
  EXPECT_EQ(calls(imported)[0].rank, 0);
  EXPECT_TRUE(imported.result->warnings.empty());
}

TEST(RocprofJson, WarnsAboutMixedProcesses) {
  std::string other(kDispatch);
  for (auto at = other.find("\"77\""); at != std::string::npos; at = other.find("\"77\"", at)) other.replace(at, 4, "\"99\"");
  const auto imported = import(document({kLaunch, kDispatch, other}));
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.processes_mixed");
}

}  // namespace
}  // namespace aaco::importers::rocprof
