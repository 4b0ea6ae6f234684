#include "importers/nsys_stats.h"

#include <gtest/gtest.h>

#include "importers/stream/source_testing.h"

namespace aaco::importers::nsys_stats {
namespace {

using Imported = TextImport;

constexpr const char* kWorkHeader =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";
constexpr const char* kCallHeader = "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n";
constexpr const char* kRangeHeader =
    "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,"
    "NameTree\n";
constexpr const char* kSumHeader = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";
constexpr const char* kKernel =
    R"csv(1000,500,7,4,2,1,128,1,1,32,0.000,0.049,,,,,NVIDIA A10G (1),1,,7,"void f<int, 2>(float *)")csv";
constexpr const char* kCopy =
    "2000,100,8,,,,,,,,,,4.096,2048.000,Pinned,Device,NVIDIA A10G (1),1,,7,[CUDA memcpy Host-to-Device]";
constexpr const char* kMemset = "2200,10,9,,,,,,,,,,0.000,,Device,,NVIDIA A10G (1),1,,7,[CUDA memset]";

Imported import(const std::string& text) { return import_text(make_importer(), text); }
std::string work(std::initializer_list<const char*> lines) {
  std::string text(kWorkHeader);
  for (const char* line : lines) text.append(line).append("\n");
  return text;
}
const auto& kernels(const Imported& imported) { return imported.sink.rows<trace::KernelRow>(); }
const auto& copies(const Imported& imported) { return imported.sink.rows<trace::CopyRow>(); }
const auto& calls(const Imported& imported) { return imported.sink.rows<trace::ApiCallRow>(); }
bool notes(const Imported& imported, std::string_view what) {
  for (const auto& note : imported.result->account.notes)
    if (note.find(what) != std::string::npos) return true;
  return false;
}

TEST(NsysStats, KernelsOfTheGpuTrace) {
  const auto imported = import(work({kKernel}));
  ASSERT_TRUE(imported.result.has_value()) << imported.result.error().text();
  ASSERT_EQ(kernels(imported).size(), 1U);
  const trace::KernelRow& row = kernels(imported)[0];
  EXPECT_EQ(imported.sink.text(row.name), "void f<int, 2>(float *)");
  EXPECT_EQ(row.start_ns, 1000);
  EXPECT_EQ(row.end_ns, 1500);
  EXPECT_EQ(row.device, 1);
  EXPECT_EQ(row.stream, 7);
  EXPECT_EQ(row.correlation_id, 7U);
  EXPECT_EQ(row.grid_y, 2);
  EXPECT_EQ(row.block_x, 128);
  EXPECT_EQ(row.vgpr_count, 32);
  EXPECT_FALSE(row.lds_bytes.has_value());  // 0.049 MB is no size of shared memory
  EXPECT_EQ(imported.result->facts["devices"].items().at(0)["name"].text(), "NVIDIA A10G");
}

TEST(NsysStats, CopyAndMemsetSizesAreRoundedByTheReport) {
  const auto imported = import(work({kCopy, kMemset}));
  ASSERT_EQ(copies(imported).size(), 2U);
  EXPECT_EQ(imported.sink.text(copies(imported)[0].kind), "h2d");
  EXPECT_EQ(copies(imported)[0].bytes, 4096000);
  EXPECT_EQ(imported.sink.text(copies(imported)[1].kind), "memset");
  EXPECT_FALSE(copies(imported)[1].bytes.has_value());  // rounded to 0: not known
  EXPECT_TRUE(notes(imported, "2 sizes are rounded"));
  EXPECT_TRUE(kernels(imported).empty());
}

TEST(NsysStats, ReadsUnitsFromHeadings) {
  const auto in_us = import(
      "Start (us),Duration (us),CorrId,StcSMem (B),DymSMem (B),Bytes (KiB),Device,Strm,Name\n"
      "1.5,0.125,7,16,32,,GPU,3,k\n2,1,8,,,2,GPU,3,[CUDA memcpy DtoH]\n");
  ASSERT_EQ(kernels(in_us).size(), 1U);
  EXPECT_EQ(kernels(in_us)[0].start_ns, 1500);
  EXPECT_EQ(kernels(in_us)[0].end_ns, 1625);
  EXPECT_EQ(kernels(in_us)[0].lds_bytes, 48);
  EXPECT_EQ(copies(in_us)[0].bytes, 2048);
  EXPECT_TRUE(notes(in_us, "1 durations are rounded by the report to coarser than 1 ns"));
  const auto in_s = import("Start(sec),Duration(nsec),CorrId,Device,Strm,Name\n1.000000001,5,7,GPU,3,k\n");
  EXPECT_EQ(kernels(in_s).at(0).start_ns, 1000000001);
  EXPECT_EQ(kernels(in_s).at(0).end_ns, 1000000006);
}

TEST(NsysStats, CallsAndRanges) {
  const auto imported =
      import(std::string(kCallHeader) +
             "100,10,cudaLaunchKernel_v7000,0,7,42,43,20,main\n200,10,cuMemFree_v2,0,8,42,43,20,main\n" + kRangeHeader +
             "50,300,250,0,250,:step,42,43,0,0,1,,:1,:step\n" + "60,70,10,0,10,\":aten::mm, seq = 3\",42,43,0,0,2,,:2,x\n");
  ASSERT_TRUE(imported.result.has_value()) << imported.result.error().text();
  ASSERT_EQ(calls(imported).size(), 4U);
  EXPECT_EQ(imported.sink.text(calls(imported)[0].name), "cudaLaunchKernel");
  EXPECT_EQ(imported.sink.text(calls(imported)[0].domain), "cuda_runtime");
  EXPECT_EQ(calls(imported)[0].correlation_id, 7U);
  EXPECT_EQ(calls(imported)[0].thread_id, 43);
  EXPECT_EQ(imported.sink.text(calls(imported)[1].domain), "cuda_driver");
  EXPECT_EQ(imported.sink.text(calls(imported)[2].domain), "marker");
  EXPECT_EQ(imported.sink.text(calls(imported)[2].name), "step");
  EXPECT_EQ(calls(imported)[2].end_ns, 300);
  EXPECT_EQ(imported.sink.text(calls(imported)[3].domain), "cpu_op");
  EXPECT_EQ(imported.sink.text(calls(imported)[3].name), "aten::mm");
}

TEST(NsysStats, SkipsNsysMessages) {
  const std::string text =
      "\nNOTICE: Existing SQLite export found: x.sqlite\n        Consider, if needed, using --force-export=true\n\n"
      "Processing [x.sqlite] with [cuda_gpu_trace.py]... \n" +
      work({kKernel}) + "\nProcessing [x.sqlite] with [cuda_gpu_kern_sum.py]... \n" + kSumHeader +
      "100.0,500,1,500.0,500.0,500,500,0.0,f\n";
  EXPECT_TRUE(make_importer()->sniff(text, "x.txt"));
  const auto imported = import(text);
  ASSERT_EQ(kernels(imported).size(), 1U);
  EXPECT_EQ(imported.result->account.kept, 1);
  EXPECT_EQ(imported.result->account.dropped_total(), 1);  // the line of sums
  EXPECT_TRUE(notes(imported, "4 lines are nsys messages"));
}

TEST(NsysStats, NumbersDevicesByAppearance) {
  const auto imported =
      import("Start (ns),Duration (ns),CorrId,Device,Name\n1,1,1,NVIDIA H100,a\n2,1,2,NVIDIA T4,b\n3,1,3,NVIDIA H100,c\n");
  ASSERT_EQ(kernels(imported).size(), 3U);
  EXPECT_EQ(kernels(imported)[0].device, 0);
  EXPECT_EQ(kernels(imported)[1].device, 1);
  EXPECT_EQ(kernels(imported)[2].device, 0);
}

TEST(NsysStats, LinesWithoutTimesAreDroppedByReason) {
  const auto imported =
      import("Start (ns),Duration (ns),CorrId,Device,Name\n1,-5,1,G,a\n2,x,2,G,b\n9223372036854775807,9,3,G,c\n4,5\n6,7,4,G,d\n");
  ASSERT_EQ(kernels(imported).size(), 1U);
  const trace::Account& account = imported.result->account;
  EXPECT_EQ(account.read, 5);
  EXPECT_EQ(account.dropped.at("ends before it starts"), 1);
  EXPECT_EQ(account.dropped.at("no valid timestamp"), 1);
  EXPECT_EQ(account.dropped.at("end time exceeds 64 bits"), 1);
  EXPECT_EQ(account.dropped.at("fewer fields than the header"), 1);
}

TEST(NsysStats, ReportsTruncatedLine) {
  const auto imported = import(work({kKernel}) + "3000,10,9");
  EXPECT_EQ(kernels(imported).size(), 1U);
  EXPECT_EQ(imported.result->account.state, trace::Account::State::partial);
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.truncated");
}

TEST(NsysStats, WarnsAboutMixedProcesses) {
  const auto imported =
      import(std::string(kCallHeader) + "100,10,cudaLaunchKernel,0,7,42,42,20,a\n100,10,cudaLaunchKernel,0,7,43,43,20,b\n");
  ASSERT_EQ(imported.result->warnings.size(), 1U);
  EXPECT_EQ(imported.result->warnings[0].id, "import.processes_mixed");
}

TEST(NsysStats, RefusesReportsWithoutTimes) {
  for (const char* text :
       {"Time (%),Total Time (ns),Instances,Avg (ns),Name\n1,2,3,4,k\n", "Total (MB),Count,Avg (MB),Operation\n1,2,3,x\n",
        "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),NumGPUOps,RangeId\nr,1,2,3,4,5\n",
        "API Start (ns),API Dur (ns),Kernel Start (ns),Kernel Dur (ns),Kernel Name\n1,2,3,4,k\n"}) {
    EXPECT_EQ(report_of(text), Report::unusable) << text;
    const auto imported = import(text);
    ASSERT_FALSE(imported.result.has_value()) << text;
    EXPECT_EQ(imported.result.error().code, core::ErrorCode::invalid_input);
    EXPECT_NE(imported.result.error().remedy.find("cuda_gpu_trace"), std::string::npos);
  }
}

TEST(NsysStats, Refusals) {
  EXPECT_FALSE(import("Start,Duration,CorrId,Name\n1,2,3,k\n").result.has_value());  // of which unit?
  for (const char* text : {"", "a,b,c\n1,2,3\n", "Name,Calls,TotalDurationNs,AverageNs,Percentage\nk,1,2,2,100\n",
                           "{\"Start (ns)\":1,\"Duration (ns)\":2}\n", "Start (ns),Duration (ns),Text\n1,2,x\n"})
    EXPECT_FALSE(report_of(text).has_value()) << text;
}

TEST(NsysStats, WindowsLineEndsAndAByteOrderMark) {
  std::string text = "\xef\xbb\xbf" + work({kKernel, kCopy});
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
  EXPECT_TRUE(make_importer()->sniff(text, "x.csv"));
  const auto imported = import(text);
  EXPECT_EQ(kernels(imported).size() + copies(imported).size(), 2U);
  EXPECT_TRUE(imported.result->account.notes.size() == 1U && notes(imported, "1 sizes"));
}

}  // namespace
}  // namespace aaco::importers::nsys_stats
