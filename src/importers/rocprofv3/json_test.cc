#include <gtest/gtest.h>

#include "importers/rocprofv3.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers::rocprofv3 {
namespace {

constexpr std::string_view kMetadata =
    R"json("metadata": {"node": {"hostname": "node7"}, "pid": 4711, "init_time": 100, "fini_time": 9000, "command": ["./app", "-n", "3"]})json";
constexpr std::string_view kAgents =
    R"json("agents": [
{"size": 1, "id": {"handle": 11}, "type": 1, "node_id": 0, "logical_node_id": 0, "name": "AMD EPYC"},
{"size": 1, "id": {"handle": 12}, "type": 2, "node_id": 3, "logical_node_id": 2, "cu_count": 304, "num_xcc": 8, "wave_front_size": 64, "name": "gfx942", "product_name": "AMD Instinct MI300X"}])json";
constexpr std::string_view kStrings =
    R"json("strings": {"callback_records": [], "buffer_records": [{"kind": "NONE", "operations": ["NONE"]},
{"kind": "HIP_RUNTIME_API", "operations": ["hipInit", "hipLaunchKernel"]}, {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
{"kind": "MARKER_CORE_API", "operations": ["roctxMarkA", "roctxRangePushA"]}, {"kind": "MEMORY_ALLOCATION", "operations": ["MEMORY_ALLOCATION_ALLOCATE"]}],
"marker_api": [{"key": 9, "value": "step \"one\""}], "pc_sample_instructions": ["s_endpgm", "v_add_f32 v1, v2"], "pc_sample_comments": ["", "a.cc:3"]})json";
constexpr std::string_view kSymbols =
    R"json("kernel_symbols": [{"size": 1, "kernel_id": 0, "kernel_name": ""},
{"kernel_id": 7, "kernel_name": "_Z3addPf.kd", "formatted_kernel_name": "add(float*, \"x\")", "arch_vgpr_count": 24, "sgpr_count": 48, "private_segment_size": 0},
{"kernel_id": 8, "kernel_name": "ncclDevKernel_AllReduce_Sum_f32.kd"}])json";
constexpr std::string_view kCounters =
    R"json("counters": [{"id": {"handle": 501}, "agent_id": {"handle": 12}, "name": "SQ_WAVES"}])json";
constexpr std::string_view kCollection =
    R"json("callback_records": {"counter_collection": [{"thread_id": 5, "dispatch_data": {"size": 1, "correlation_id": {"internal": 3, "external": 0}, "start_timestamp": 1000, "end_timestamp": 1500,
"dispatch_info": {"agent_id": {"handle": 12}, "queue_id": {"handle": 1}, "kernel_id": 7, "dispatch_id": 1, "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 128, "y": 1, "z": 1}}},
"records": [{"counter_id": {"handle": 501}, "value": 2.5}, {"counter_id": {"handle": 501}, "value": 3.5}], "arch_vgpr_count": 24, "sgpr_count": 48, "lds_block_size_v": 512}]})json";
constexpr std::string_view kRecords =
    R"json("buffer_records": {"kernel_dispatch": [
{"size": 1, "kind": 11, "operation": 1, "thread_id": 5, "correlation_id": {"internal": 18446744073709551613, "external": 5}, "start_timestamp": 1000, "end_timestamp": 1500, "dispatch_info": {"size": 1, "agent_id": {"handle": 12}, "queue_id": {"handle": 1}, "kernel_id": 7, "dispatch_id": 1, "private_segment_size": 16, "group_segment_size": 512, "workgroup_size": {"x": 64, "y": 2, "z": 1}, "grid_size": {"x": 1000, "y": 4, "z": 1}}, "stream_id": {"handle": 3}},
{"kind": 11, "operation": 1, "thread_id": 5, "correlation_id": {"internal": 4, "external": 0}, "start_timestamp": 2000, "end_timestamp": 2600, "dispatch_info": {"agent_id": {"handle": 12}, "queue_id": {"handle": 1}, "kernel_id": 8, "dispatch_id": 2}}],
"hip_api": [{"kind": 1, "operation": 1, "correlation_id": {"internal": 4, "external": 0}, "start_timestamp": 900, "end_timestamp": 950, "thread_id": 5}],
"hsa_api": [],
"marker_api": [{"kind": 3, "operation": 1, "correlation_id": {"internal": 9, "external": 0}, "start_timestamp": 800, "end_timestamp": 3000, "thread_id": 5}],
"memory_copy": [{"kind": 2, "operation": 1, "thread_id": 5, "correlation_id": {"internal": 6, "external": 0}, "start_timestamp": 100, "end_timestamp": 200, "dst_agent_id": {"handle": 12}, "src_agent_id": {"handle": 11}, "bytes": 4096}],
"memory_allocation": [{"kind": 4, "operation": 0, "thread_id": 5, "correlation_id": {"internal": 7, "external": 0}, "start_timestamp": 10, "end_timestamp": 20, "agent_id": {"handle": 12}, "address": "0x7f", "allocation_size": 1024}],
"pc_sample_host_trap": [{"record": {"timestamp": 1100, "dispatch_id": 1, "pc": {"code_object_id": 1, "code_object_offset": 4}}, "inst_index": 1}]})json";

using Imported = TextImport;

Imported import(const std::string& text, std::size_t step = SIZE_MAX) { return import_text(make_json_importer(), text, step); }

std::string process(std::initializer_list<std::string_view> members) {
  std::string text = "{";
  for (const std::string_view member : members) text.append(text.size() > 1 ? ",\n" : "").append(member);
  return text + "}";
}
std::string document(const std::string& processes) { return "{\n\"rocprofiler-sdk-tool\": [\n" + processes + "\n]\n}\n"; }
std::string whole() { return document(process({kMetadata, kAgents, kCounters, kStrings, kSymbols, kCollection, kRecords})); }

const auto& kernels(const Imported& imported) { return imported.sink.rows<trace::KernelRow>(); }
const auto& counters(const Imported& imported) { return imported.sink.rows<trace::KernelCounterRow>(); }
const auto& calls(const Imported& imported) { return imported.sink.rows<trace::ApiCallRow>(); }
const auto& copies(const Imported& imported) { return imported.sink.rows<trace::CopyRow>(); }

TEST(Rocprofv3Json, KernelsHaveAllFields) {
  const auto imported = import(whole());
  ASSERT_TRUE(imported.result.has_value()) << imported.result.error().text();
  ASSERT_EQ(kernels(imported).size(), 2U);
  const trace::KernelRow& row = kernels(imported)[0];
  EXPECT_EQ(imported.sink.text(row.name), "add(float*, \"x\")");
  EXPECT_EQ(row.device, 2);  // the logical number, as in the tables
  EXPECT_EQ(row.queue, 1);
  EXPECT_EQ(row.stream, 3);
  EXPECT_EQ(row.correlation_id, 18446744073709551613U);
  EXPECT_EQ(row.external_id, 5U);
  EXPECT_EQ(row.dispatch_id, 1U);
  EXPECT_EQ(row.grid_x, 16);
  EXPECT_EQ(row.grid_y, 2);
  EXPECT_EQ(row.block_x, 64);
  EXPECT_EQ(row.lds_bytes, 512);
  EXPECT_EQ(row.scratch_bytes, 16);
  EXPECT_EQ(row.vgpr_count, 24);
  EXPECT_EQ(row.sgpr_count, 48);
  EXPECT_EQ(row.start_ns, 1000);
  EXPECT_EQ(row.end_ns, 1500);
  EXPECT_EQ(imported.result->host, "node7");
  EXPECT_EQ(imported.result->facts["devices"].items()[0]["name"].text(), "AMD Instinct MI300X");
}

TEST(Rocprofv3Json, CallsMarkersCopiesAndAllocations) {
  const auto imported = import(whole());
  ASSERT_EQ(calls(imported).size(), 3U);
  const auto name = [&](std::size_t i) { return imported.sink.text(calls(imported)[i].name); };
  EXPECT_EQ(name(0), "hipLaunchKernel");
  EXPECT_EQ(imported.sink.text(calls(imported)[0].domain), "hip");
  EXPECT_EQ(calls(imported)[0].process_id, 4711);
  EXPECT_EQ(name(1), "step \"one\"");
  EXPECT_EQ(imported.sink.text(calls(imported)[1].domain), "marker");
  EXPECT_EQ(imported.sink.text(calls(imported)[2].domain), "memory_allocation");
  EXPECT_EQ(imported.sink.text(calls(imported)[2].arguments), R"({"agent":2,"bytes":1024})");
  ASSERT_EQ(copies(imported).size(), 1U);
  EXPECT_EQ(imported.sink.text(copies(imported)[0].kind), "h2d");
  EXPECT_EQ(copies(imported)[0].bytes, 4096);
  EXPECT_EQ(copies(imported)[0].device, 2);
}

TEST(Rocprofv3Json, CountersAreAddedUpAndTheirKernelsCountOnce) {
  const auto imported = import(whole());
  ASSERT_EQ(counters(imported).size(), 1U);
  EXPECT_EQ(counters(imported)[0].value, 6);
  EXPECT_EQ(imported.sink.text(counters(imported)[0].counter), "SQ_WAVES");
  EXPECT_EQ(kernels(imported).size(), 2U);
  const auto alone = import(document(process({kMetadata, kAgents, kCounters, kStrings, kSymbols, kCollection})));
  ASSERT_EQ(kernels(alone).size(), 1U);  // without a kernel trace they are the kernels
  EXPECT_EQ(kernels(alone)[0].lds_bytes, 512);
}

TEST(Rocprofv3Json, InstancesOfCountersInEarlyFilesAreAddedUp) {
  std::string early(kCollection);
  early.replace(
      early.find("\"records\": ["), std::string::npos,
      R"("records": [{"id": 1125899906842624, "counter_value": 2, "dispatch_id": 1}, {"id": 1125899906842625, "counter_value": 5}]}]})");
  const auto imported = import(document(
      process({kMetadata, kAgents, R"("counters": [{"id": {"handle": 4}, "name": "SQ_WAVES"}])", kStrings, kSymbols, early})));
  ASSERT_EQ(counters(imported).size(), 1U);
  EXPECT_EQ(counters(imported)[0].value, 7);
  EXPECT_EQ(imported.sink.text(counters(imported)[0].counter), "SQ_WAVES");
}

TEST(Rocprofv3Json, CollectivesAreKnownByTheirKernels) {
  const auto imported = import(whole());
  const auto& collectives = imported.sink.rows<trace::CollectiveRow>();
  ASSERT_EQ(collectives.size(), 1U);
  EXPECT_EQ(imported.sink.text(collectives[0].operation), "all_reduce");
}

TEST(Rocprofv3Json, SampledProgramCountersAreFacts) {
  const auto imported = import(whole());
  const core::Json& samples = imported.result->facts["program_counter_samples"];
  EXPECT_EQ(samples["samples"].as_i64(), 1);
  EXPECT_EQ(samples["instructions"].items()[0]["instruction"].text(), "v_add_f32 v1, v2");
  EXPECT_EQ(samples["instructions"].items()[0]["source"].text(), "a.cc:3");
}

TEST(Rocprofv3Json, RecordsBeforeTheirNamesGiveTheSameRows) {
  const auto usual = import(whole());
  const auto sorted = import(document(process({kRecords, kCollection, kAgents, kCounters, kSymbols, kMetadata, kStrings})));
  ASSERT_TRUE(sorted.result.has_value());
  ASSERT_EQ(kernels(sorted).size(), kernels(usual).size());
  for (std::size_t i = 0; i < kernels(usual).size(); ++i) {
    EXPECT_EQ(sorted.sink.text(kernels(sorted)[i].name), usual.sink.text(kernels(usual)[i].name));
    EXPECT_EQ(kernels(sorted)[i].device, kernels(usual)[i].device);
    EXPECT_EQ(kernels(sorted)[i].vgpr_count, kernels(usual)[i].vgpr_count);
  }
  ASSERT_EQ(calls(sorted).size(), calls(usual).size());
  for (std::size_t i = 0; i < calls(usual).size(); ++i) {
    EXPECT_EQ(sorted.sink.text(calls(sorted)[i].name), usual.sink.text(calls(usual)[i].name));
    EXPECT_EQ(calls(sorted)[i].process_id, 4711);
  }
  EXPECT_EQ(sorted.sink.text(copies(sorted)[0].kind), "h2d");
  EXPECT_EQ(counters(sorted).size(), 1U);
  EXPECT_EQ(sorted.result->account.kept, usual.result->account.kept);
}

TEST(Rocprofv3Json, ProcessesAreRanks) {
  const std::string one = process({kMetadata, kAgents, kStrings, kSymbols, kRecords});
  const auto imported = import(document(one + ",\n" + process({kMetadata, kAgents}) + ",\n" + one));
  ASSERT_EQ(kernels(imported).size(), 4U);
  EXPECT_EQ(kernels(imported)[0].rank, 0);
  EXPECT_EQ(kernels(imported)[3].rank, 1);
}

TEST(Rocprofv3Json, AProcessWithoutTheListAroundItIsReadToo) {
  const auto imported = import("{\"rocprofiler-sdk-tool\": " + process({kAgents, kStrings, kSymbols, kRecords}) + "}");
  EXPECT_EQ(kernels(imported).size(), 2U);
}

TEST(Rocprofv3Json, NamesUnnamedRecordsByNumber) {
  const auto imported = import(document(process({kRecords})));
  ASSERT_EQ(kernels(imported).size(), 2U);
  EXPECT_EQ(imported.sink.text(kernels(imported)[0].name), "kernel 7");
  EXPECT_EQ(kernels(imported)[0].device, 12);
  EXPECT_EQ(imported.sink.text(calls(imported)[0].name), "operation 1");
  EXPECT_EQ(imported.sink.text(copies(imported)[0].kind), "unknown");
  EXPECT_FALSE(imported.result->account.notes.empty());
}

TEST(Rocprofv3Json, EmptyListsAreNoError) {
  const auto imported = import(document(process({kMetadata, R"("buffer_records": {"kernel_dispatch": [], "hip_api": []})"})));
  ASSERT_TRUE(imported.result.has_value());
  EXPECT_EQ(imported.result->account.read, 0);
}

TEST(Rocprofv3Json, CountsDroppedRecordsByReason) {
  const auto imported =
      import(document(process({R"("buffer_records": {"kernel_dispatch": [7, {}, {"start_timestamp": 9, "end_timestamp": 5},
    {"start_timestamp": 99999999999999999999, "end_timestamp": 5}, {"start_timestamp": "x", "end_timestamp": null}, {"start_timestamp": 0, "end_timestamp": 0}]})"})));
  ASSERT_TRUE(imported.result.has_value());
  const trace::Account& account = imported.result->account;
  EXPECT_EQ(account.kept, 0);
  EXPECT_EQ(account.dropped.at("record that is not an object"), 1);
  EXPECT_EQ(account.dropped.at("ends before it starts"), 1);
  EXPECT_EQ(account.dropped.at("no valid timestamp"), 4);
  EXPECT_EQ(account.read, account.dropped_total());
}

TEST(Rocprofv3Json, RefusesOtherDocuments) {
  const std::string deep = "{\"rocprofiler-sdk-tool\": " + std::string(100'000, '[');
  for (const std::string& text :
       {std::string(), std::string("["), std::string("[]"), std::string("[] 1"), std::string("[[]]}"), std::string("{}"),
        std::string("nothing"), std::string("{\"traceEvents\": []}"), std::string("{\"rocprofiler-sdk-tool\":"), deep})
    EXPECT_FALSE(import(text).result.has_value()) << text.substr(0, 40);
  EXPECT_FALSE(make_json_importer()->sniff("{\"traceEvents\": []}", "x.json"));
  EXPECT_TRUE(make_json_importer()->sniff(whole(), "x.json"));
}

TEST(Rocprofv3Json, CutAnywhereKeepsWholeRecordsAndBalances) {
  const std::string text = whole();
  const std::size_t first = text.find("callback_records\": {\"counter") + 1400;
  for (std::size_t cut = 1; cut < text.size() - 2; ++cut) {
    const auto imported = import(text.substr(0, cut));
    if (!imported.result) {
      EXPECT_LT(cut, first) << cut;
      continue;
    }
    const trace::Account& account = imported.result->account;
    EXPECT_EQ(account.read, account.kept + account.dropped_total()) << cut;
    EXPECT_EQ(account.state, trace::Account::State::partial) << cut;
  }
  EXPECT_EQ(import(text, 7).result->account, import(text).result->account);
}

}  // namespace
}  // namespace aaco::importers::rocprofv3
