#include <gtest/gtest.h>

#include "importers/rocm/table_reader.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers::rocm {
namespace {

using Imported = TextImport;

Imported import(const std::string& text, std::size_t step = SIZE_MAX) {
  return import_text([](trace::ByteSource& source, trace::Sink& sink) { return import_table(source, sink, "test"); }, text, step);
}

const auto& kernels(const Imported& imported) { return imported.sink.rows<trace::KernelRow>(); }
const auto& counters(const Imported& imported) { return imported.sink.rows<trace::KernelCounterRow>(); }
const auto& calls(const Imported& imported) { return imported.sink.rows<trace::ApiCallRow>(); }
const auto& copies(const Imported& imported) { return imported.sink.rows<trace::CopyRow>(); }

constexpr std::string_view kKernelHeader =
    R"("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")";

std::string kernel_table(const std::string& lines) { return std::string(kKernelHeader) + "\n" + lines; }

TEST(RocmTables, KernelTraceOf2025) {
  const auto imported = import(kernel_table(
      R"csv("KERNEL_DISPATCH","Agent 4",2,3,77,9,11,"void add<float>(float*, ""x"", int)",18446744073709551613,1550151853029637,1550151853042437,512,16,8,4,32,64,2,1,1000,4,1)csv"));
  ASSERT_TRUE(imported.result.has_value());
  ASSERT_EQ(kernels(imported).size(), 1U);
  const trace::KernelRow& row = kernels(imported)[0];
  EXPECT_EQ(imported.sink.text(row.name), R"csv(void add<float>(float*, "x", int))csv");
  EXPECT_EQ(row.device, 4);
  EXPECT_EQ(row.queue, 2);
  EXPECT_EQ(row.stream, 3);
  EXPECT_EQ(row.dispatch_id, 9U);
  EXPECT_EQ(row.correlation_id, 18446744073709551613U);
  EXPECT_EQ(row.start_ns, 1550151853029637);
  EXPECT_EQ(row.end_ns, 1550151853042437);
  EXPECT_EQ(row.grid_x, 16);  // groups that cover 1000 items
  EXPECT_EQ(row.grid_y, 2);
  EXPECT_EQ(row.block_x, 64);
  EXPECT_EQ(row.lds_bytes, 512);
  EXPECT_EQ(row.scratch_bytes, 16);
  EXPECT_EQ(row.vgpr_count, 8);
  EXPECT_EQ(row.sgpr_count, 32);
}

TEST(RocmTables, KernelTraceOf2024) {
  const auto imported = import(
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
      "\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\","
      "\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\r\n"
      "\"KERNEL_DISPATCH\",1,140069,17,\"k\",5,100,250,0,64,64,1,1,128,1,1\r\n");
  ASSERT_EQ(kernels(imported).size(), 1U);
  EXPECT_EQ(kernels(imported)[0].device, 1);
  EXPECT_EQ(kernels(imported)[0].stream, 140069);
  EXPECT_EQ(kernels(imported)[0].lds_bytes, 64);
}

TEST(RocmTables, RocprofWithCountersInColumns) {
  const auto imported = import(
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"pid\",\"tid\",\"grd\",\"wgr\",\"lds\",\"scr\",\"arch_vgpr\",\"sgpr\","
      "\"sig\",\"obj\","
      "\"SQ_WAVES\",\"L2CacheHit\",\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n"
      "0,\"f(int, int) [clone .kd]\",8,0,1,1,1000,256,0,0,16,32,\"0x0\",\"0x7f28c7c85580\",16384,53.2500000000,1,10,35,40,25\n"
      "1,\"f(int, int) [clone .kd]\",8,0,1,1,1000,256,0,0,16,32,\"0x0\",\"0x7f28c7c85580\",,52,1,40,60,70,20\n");
  ASSERT_EQ(kernels(imported).size(), 2U);
  EXPECT_EQ(kernels(imported)[0].grid_x, 4);
  ASSERT_EQ(counters(imported).size(), 3U);  // the empty value is none
  EXPECT_EQ(imported.sink.text(counters(imported)[1].counter), "L2CacheHit");
  EXPECT_EQ(counters(imported)[1].value, 53.25);
  EXPECT_EQ(counters(imported)[2].dispatch_id, 1U);
}

TEST(RocmTables, CountersInLinesAreOneDispatch) {
  const auto imported = import(
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\","
      "\"Kernel_Name\","
      "\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\","
      "\"Start_Timestamp\","
      "\"End_Timestamp\"\n"
      "1,1,\"Agent 1\",1,5,5,128,17,\"k\",64,0,0,8,16,\"SQ_WAVES\",2.5,100,200\n"
      "1,1,\"Agent 1\",1,5,5,128,17,\"k\",64,0,0,8,16,\"SQ_WAVES\",3.5,100,200\n"
      "1,1,\"Agent 1\",1,5,5,128,17,\"k\",64,0,0,8,16,\"GRBM_COUNT\",7,100,200\n"
      "2,2,\"Agent 1\",1,5,5,128,17,\"k\",64,0,0,8,16,\"SQ_WAVES\",1,300,350\n"
      "1,1,\"Agent 1\",1,5,5,128,17,\"k\",64,0,0,8,16,\"TCC_HIT\",9,100,200\n");
  EXPECT_EQ(kernels(imported).size(), 2U);
  ASSERT_EQ(counters(imported).size(), 4U);
  EXPECT_EQ(counters(imported)[0].value, 6);
  EXPECT_EQ(imported.result->account.kept, 5);
}

TEST(RocmTables, CallsAndRangesKnowTheirDomain) {
  const auto imported = import(
      "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",717,718,3,100,200\n"
      "\"HSA_CORE_API\",\"hsa_queue_create\",717,718,4,110,120\n"
      "\"MARKER_CORE_API\",\"step, \"\"one\"\"\",717,0,1,90,300\n"
      "\"RCCL_API\",\"ncclAllReduce\",717,718,8,150,160\n");
  ASSERT_EQ(calls(imported).size(), 4U);
  const auto domain = [&](std::size_t i) { return imported.sink.text(calls(imported)[i].domain); };
  EXPECT_EQ(domain(0), "hip");
  EXPECT_EQ(domain(1), "hsa");
  EXPECT_EQ(domain(2), "marker");
  EXPECT_EQ(domain(3), "rccl");
  EXPECT_EQ(imported.sink.text(calls(imported)[2].name), "step, \"one\"");
  EXPECT_EQ(calls(imported)[0].correlation_id, 3U);
  EXPECT_EQ(calls(imported)[0].thread_id, 718);
}

TEST(RocmTables, CopiesKnowTheDevice) {
  const auto imported = import(
      "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","
      "\"End_Timestamp\"\n"
      "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",1,\"Agent 0\",\"Agent 4\",1,10,30\n"
      "\"MEMORY_COPY\",\"DEVICE_TO_HOST\",1,\"Agent 5\",\"Agent 0\",2,40,50\n");
  ASSERT_EQ(copies(imported).size(), 2U);
  EXPECT_EQ(copies(imported)[0].device, 4);
  EXPECT_EQ(copies(imported)[0].source_device, std::nullopt);
  EXPECT_EQ(imported.sink.text(copies(imported)[1].kind), "d2h");
  EXPECT_EQ(copies(imported)[1].device, 5);
}

TEST(RocmTables, AllocationsAndScratchAreCalls) {
  const auto allocations = import(
      "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\",\"Start_Timestamp\",\"End_"
      "Timestamp\"\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 0\",1024,\"0x00007ffb26354000\",1,10,20\n");
  ASSERT_EQ(calls(allocations).size(), 1U);
  EXPECT_EQ(allocations.sink.text(calls(allocations)[0].arguments), R"({"agent":0,"bytes":1024})");
  const auto scratch = import(
      "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_ALLOC\",\"Agent 4\",1,113,0,10,20\n");
  ASSERT_EQ(calls(scratch).size(), 1U);
  EXPECT_EQ(scratch.sink.text(calls(scratch)[0].domain), "scratch_memory");
}

TEST(RocmTables, AgentsStatisticsAndSamplesAreFacts) {
  const auto agents = import(
      "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Name\",\"Product_Name\"\n"
      "0,0,\"CPU\",128,\"AMD EPYC\",\"AMD EPYC\"\n2,1,\"GPU\",304,\"gfx942\",\"AMD Instinct MI300X\"\n");
  ASSERT_EQ(agents.result->facts["devices"].items().size(), 1U);
  EXPECT_EQ(agents.result->facts["devices"].items()[0]["id"].as_i64(), 1);
  EXPECT_EQ(agents.result->facts["devices"].items()[0]["name"].text(), "AMD Instinct MI300X");
  const auto odd = import("\"Node_Id\",\"Agent_Type\",\"Name\"\n0,\"CPU\",\"nan\"\n1,\"CPU\",\"inf\"\n");
  EXPECT_EQ(odd.result->facts["agents"].items()[0]["name"].text(), "nan");
  EXPECT_EQ(odd.result->facts["agents"].items()[1]["name"].text(), "inf");
  const auto statistics =
      import("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"a, b\",2,30,15.0,60.0\n\"c\",1,20,20,40\n");
  EXPECT_EQ(statistics.result->facts["statistics"]["calls"].as_i64(), 3);
  EXPECT_EQ(statistics.result->facts["statistics"]["total_ns"].as_i64(), 50);
  const auto top =
      import("Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\nmain_l18.kd,2,30.0,15.0,15.0,60\nfill.kd,1,20,20,20,40\n");
  EXPECT_EQ(top.result->facts["statistics"]["total_ns"].as_i64(), 50);
  EXPECT_EQ(top.result->facts["statistics"]["entries"].items()[0]["name"].text(), "main_l18.kd");
  const auto samples = import(
      "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\"\n"
      "10,18446744073709551615,1,\"s_endpgm\",\"\",1\n11,1,1,\"s_endpgm\",\"\",1\n12,1,1,\"v_add\",\"a.cc:3\",1\n");
  const core::Json& summary = samples.result->facts["program_counter_samples"];
  EXPECT_EQ(summary["samples"].as_i64(), 3);
  EXPECT_EQ(summary["instructions"].items()[0]["samples"].as_i64(), 2);
  EXPECT_EQ(summary["instructions"].items()[1]["source"].text(), "a.cc:3");
  ASSERT_EQ(summary["dispatches"].items().size(), 1U);
  EXPECT_EQ(summary["dispatches"].items()[0]["dispatch_id"].as_i64(), 1);
  EXPECT_EQ(summary["dispatches"].items()[0]["samples"].as_i64(), 3);
}

TEST(RocmTables, HeaderOnlyIsEmptyAndNoError) {
  const auto imported = import(kernel_table(""));
  ASSERT_TRUE(imported.result.has_value());
  EXPECT_EQ(imported.result->account.read, 0);
  EXPECT_TRUE(kernels(imported).empty());
}

TEST(RocmTables, AByteOrderMarkIsPassedOver) {
  EXPECT_EQ(kernels(import("\xEF\xBB\xBF" + kernel_table("\"K\",1,1,1,1,1,1,\"k\",1,5,9,0,0,0,0,0,1,1,1,1,1,1\n"))).size(), 1U);
}

TEST(RocmTables, RefusesNonTables) {
  for (const char* text : {"", "\n\n", "hello", "a,b,c\n1,2,3\n", "{\"a\":1}", "Name,Calls\nx,1\n"})
    EXPECT_FALSE(import(text).result.has_value()) << text;
}

TEST(RocmTables, CountsDroppedRecordsByReason) {
  const auto line = [](const std::string& start, const std::string& end) {
    return "\"K\",1,1,1,1,1,1,\"k\",1," + start + "," + end + ",0,0,0,0,0,1,1,1,1,1,1\n";
  };
  const auto imported =
      import(kernel_table(line("5", "9") + line("9", "5") + line("x", "9") + line("0", "0") + line("8.1E+14", "8.2E+14") +
                          line("-5", "9") + line("99999999999999999999", "99999999999999999999") + "\"K\",1\n"));
  EXPECT_EQ(kernels(imported).size(), 1U);
  const trace::Account& account = imported.result->account;
  EXPECT_EQ(account.read, 8);
  EXPECT_EQ(account.kept, 1);
  EXPECT_EQ(account.dropped.at("ends before it starts"), 1);
  EXPECT_EQ(account.dropped.at("no valid timestamp"), 5);
  EXPECT_EQ(account.dropped.at("fewer fields than the header"), 1);
}

TEST(RocmTables, CutAnywhereKeepsWholeLinesAndBalances) {
  const std::string whole = kernel_table(
      "\"K\",1,1,1,1,1,1,\"a, "
      "\"\"b\"\"\",1,1000,2000,0,0,0,0,0,1,1,1,1,1,1\n\"K\",1,1,1,1,2,1,\"c\",1,3000,4000,0,0,0,0,0,1,1,1,1,1,1\n");
  for (std::size_t cut = kKernelHeader.size() + 1; cut < whole.size(); ++cut) {
    const auto imported = import(whole.substr(0, cut));
    ASSERT_TRUE(imported.result.has_value()) << cut;
    const trace::Account& account = imported.result->account;
    EXPECT_EQ(account.read, account.kept + account.dropped_total()) << cut;
    EXPECT_LE(kernels(imported).size(), 2U);
    const auto pieces = import(whole.substr(0, cut), 7);
    EXPECT_EQ(pieces.result->account, account) << cut;
  }
}

TEST(RocmTables, WarnsAboutTruncatedLine) {
  const std::string whole = kernel_table("\"K\",1,1,1,1,1,1,\"a\",1,1000,2000,0,0,0,0,0,1,1,1,1,1,1\n\"K\",1,1,1");
  const auto imported = import(whole);
  EXPECT_EQ(kernels(imported).size(), 1U);
  EXPECT_EQ(imported.result->account.state, trace::Account::State::partial);
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.truncated");
}

TEST(RocmTables, RoundedTimesKeepCounters) {
  const auto imported = import(
      "Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES,Correlation_ID_1\n"
      "0,2,k,8.1097E+14,8.1097E+14,0,512,7\n");
  EXPECT_TRUE(kernels(imported).empty());
  ASSERT_EQ(counters(imported).size(), 1U);
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.times_lost");
}

TEST(RocmTables, SeveralProcessesOfOneTableAreRanks) {
  const auto imported = import(
      "Index,KernelName,gpu-id,pid,BeginNs,EndNs\n"
      "0,a,0,900,10,20\n1,a,0,800,12,22\n2,b,0,900,30,40\n");
  ASSERT_EQ(kernels(imported).size(), 3U);
  EXPECT_EQ(kernels(imported)[0].rank, 0);
  EXPECT_EQ(kernels(imported)[1].rank, 1);
  EXPECT_EQ(kernels(imported)[2].rank, 0);
  EXPECT_EQ(imported.result->facts["ranks"].items().size(), 2U);
  ASSERT_EQ(imported.result->account.notes.size(), 1U);
  EXPECT_NE(imported.result->account.notes[0].find("2 processes"), std::string::npos);
}

TEST(RocmTables, SeparatesCountersByProcess) {
  const auto imported = import(
      "Dispatch_Id,Agent_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
      "1,4,900,a,SQ_WAVES,8,10,20\n1,4,800,a,SQ_WAVES,16,10,20\n");
  ASSERT_EQ(kernels(imported).size(), 2U);
  ASSERT_EQ(counters(imported).size(), 2U);
  EXPECT_EQ(counters(imported)[1].rank, 1);
  EXPECT_EQ(counters(imported)[1].value, 16);
}

TEST(RocmTables, WarnsAboutMixedProcesses) {
  const std::string header = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n";
  const auto one = import(header + "HIP_API,f,1,1,5,10,20\nHIP_API,f,1,2,6,10,20\n");
  EXPECT_TRUE(one.result->warnings.empty());
  const auto two = import(header + "HIP_API,f,1,1,5,10,20\nHIP_API,f,2,2,5,10,20\n");
  ASSERT_EQ(two.result->warnings.size(), 1U);
  EXPECT_EQ(two.result->warnings[0].id, "import.processes_mixed");
}

TEST(RocmTables, WarnsAboutConcatenatedTables) {
  const std::string table = "Index,KernelName,gpu-id,BeginNs,EndNs\n0,a,0,10,20\n";
  const auto imported = import(table + table);
  EXPECT_EQ(kernels(imported).size(), 2U);
  EXPECT_EQ(imported.result->account.dropped.at("repeated header"), 1);
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.tables_joined");
}

}  // namespace
}  // namespace aaco::importers::rocm
