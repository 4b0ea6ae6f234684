#include "importers/xplane.h"

#include <gtest/gtest.h>

#include "formats/protobuf_testing.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers::xplane {
namespace {

using formats::protobuf::bytes;
using formats::protobuf::number;

std::string metadata(std::uint32_t field, std::int64_t id, std::string_view name) {
  const auto key = static_cast<std::uint64_t>(id);
  return bytes(field, number(1, key) + bytes(2, number(1, key) + bytes(2, name)));
}
std::string statistic(std::int64_t id, std::uint64_t value) {
  return bytes(4, number(1, static_cast<std::uint64_t>(id)) + number(3, value));
}
std::string text_statistic(std::int64_t id, std::string_view value) {
  return bytes(4, number(1, static_cast<std::uint64_t>(id)) + bytes(5, value));
}
std::string event(std::int64_t id, std::uint64_t offset_ps, std::uint64_t duration_ps, const std::string& statistics = {}) {
  return bytes(4, number(1, static_cast<std::uint64_t>(id)) + number(2, offset_ps) + number(3, duration_ps) + statistics);
}
std::string line(std::uint64_t id, std::string_view name, std::uint64_t start_ns, const std::string& events) {
  return bytes(3, number(1, id) + bytes(2, name) + number(3, start_ns) + events);
}
std::string plane(std::string_view name, const std::string& members) { return bytes(1, number(1, 1) + bytes(2, name) + members); }

// Two kernels and a copy on a stream, their launches on the host in a step, and a derived line.
std::string example() {
  const std::string statistics = metadata(5, 1, "correlation_id") + metadata(5, 2, "kernel_details") +
                                 metadata(5, 3, "memcpy_details") + metadata(5, 4, "step_num") + metadata(5, 9, "from a table");
  const std::string gpu =
      line(14, "Stream #14(Compute)", 1'000,
           event(1, 5'000'999, 2'000'000, statistic(1, 77) + text_statistic(2, "regs:32 grid:64,2,1 block:256,1,1 occ_pct:50")) +
               event(2, 9'000'000, 1'000'000, statistic(1, 78)) +
               event(3, 11'000'000, 500'000, text_statistic(3, "kind_src:pinned size:4096 dest:0 async:1"))) +
      line(1, "XLA Ops", 1'000, event(1, 0, 1'000));
  const std::string host = line(42, "python", 1'000, event(5, 0, 20'000'000, statistic(4, 3)) + event(6, 1'000'000, 10'000));
  const std::string runtime = line(43, "4711", 1'000, event(4, 2'000'000, 1'000'000, statistic(1, 77)));
  const std::string names = metadata(4, 1, "fusion_7") + metadata(4, 2, "ncclDevKernel_AllReduce_Sum_f32") +
                            metadata(4, 3, "MemcpyH2D") + metadata(4, 4, "cuLaunchKernel") + metadata(4, 5, "train") +
                            metadata(4, 6, "PjitFunction(f)");
  return plane("/device:GPU:1", gpu + names + statistics) + plane("/host:CPU", host + names + statistics) +
         plane("/host:CUPTI", runtime + names + statistics) + bytes(4, "node7");
}

TEST(Xplane, KernelsCopiesCallsAndSteps) {
  const auto imported = import_text(make_importer(), example());
  ASSERT_TRUE(imported.result) << imported.result.error().text();
  const auto& kernels = imported.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(imported.sink.text(kernels[0].name), "fusion_7");
  EXPECT_EQ(kernels[0].device, 1);
  EXPECT_EQ(kernels[0].stream, 14);
  EXPECT_EQ(kernels[0].start_ns, 6'000);  // 1000 ns + 5000.999 ns
  EXPECT_EQ(kernels[0].end_ns, 8'000);
  EXPECT_EQ(kernels[0].correlation_id, 77U);
  EXPECT_EQ(kernels[0].grid_x, 64);
  EXPECT_EQ(kernels[0].grid_y, 2);
  EXPECT_EQ(kernels[0].block_x, 256);
  EXPECT_EQ(kernels[0].vgpr_count, 32);
  const auto& copies = imported.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].bytes, 4096);
  EXPECT_EQ(imported.sink.text(copies[0].kind), "h2d");
  ASSERT_EQ(imported.sink.rows<trace::CollectiveRow>().size(), 1U);
  const auto& calls = imported.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(imported.sink.text(calls[2].domain), "cuda_driver");
  EXPECT_EQ(calls[2].correlation_id, 77U);
  const auto& steps = imported.sink.rows<trace::IterationRow>();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].duration_ns, 20'000);
  EXPECT_EQ(imported.result->host, "node7");
  EXPECT_EQ(imported.result->account.dropped.at("derived lines (their kernels are kept)"), 1);
  EXPECT_EQ(imported.result->account.read, imported.result->account.kept + imported.result->account.dropped_total());
}
TEST(Xplane, TpuOperationsAreKernels) {
  const auto imported = import_text(
      make_importer(), plane("/device:TPU:0", line(1, "XLA Ops", 0, event(1, 0, 5'000)) +
                                                  line(2, "Steps", 0, event(1, 0, 5'000)) + metadata(4, 1, "convolution.3")));
  ASSERT_TRUE(imported.result);
  EXPECT_EQ(imported.sink.rows<trace::KernelRow>().size(), 1U);
}
TEST(Xplane, IsRecognisedByItsPlanes) {
  const auto importer = make_importer();
  EXPECT_TRUE(importer->sniff(example(), "x"));
  EXPECT_TRUE(importer->sniff(example().substr(0, 30), "x"));
  for (const std::string& other :
       {std::string(), std::string("\n"), std::string("{\"traceEvents\": []}"), bytes(1, number(8, 7)), plane("weights", "")})
    EXPECT_FALSE(importer->sniff(other, "x.xplane.pb")) << other;
}
TEST(Xplane, TruncationKeepsWhatCameBefore) {
  const std::string text = example();
  const auto imported = import_text(make_importer(), text.substr(0, text.size() - 20));
  ASSERT_TRUE(imported.result);
  EXPECT_EQ(imported.result->account.state, trace::Account::State::partial);
  EXPECT_EQ(imported.sink.rows<trace::KernelRow>().size(), 2U);
}
TEST(Xplane, EveryTruncationIsReadOrRefused) {
  const std::string text = example();
  for (std::size_t size = 0; size < text.size(); ++size)
    (void)import_either_way([](trace::ByteSource& source, trace::Sink& sink) { return make_importer()->import(source, sink); },
                            text.substr(0, size));
}
TEST(Xplane, EventsThatCannotBeUsedAreCounted) {
  const auto dropped = [](const std::string& one_event) {
    const auto imported = import_text(make_importer(), plane("/host:CPU", line(1, "t", 5, one_event) + metadata(4, 1, "f")));
    EXPECT_TRUE(imported.result);
    EXPECT_TRUE(imported.sink.rows<trace::ApiCallRow>().empty());
    return imported.result ? imported.result->account.dropped.begin()->first : std::string();
  };
  EXPECT_EQ(dropped(event(2, 0, 5)), "events without a name");
  EXPECT_EQ(dropped(event(1, 0, static_cast<std::uint64_t>(std::int64_t{-9'000}))), "negative duration");
  EXPECT_EQ(dropped(event(1, INT64_MAX, INT64_MAX)), "timestamp out of range");
  EXPECT_EQ(dropped(bytes(4, number(1, 1) + number(5, 12))), "aggregated events (counts without times)");
  EXPECT_EQ(dropped(bytes(4, number(1, 1) + "\x12\x7F")), "malformed event");
}
TEST(Xplane, HugeLengthsAreRefused) {
  EXPECT_FALSE(import_text(make_importer(), "\x0A" + formats::protobuf::varint(UINT64_MAX) + "abc").result);
  EXPECT_FALSE(import_text(make_importer(), "\x0A" + formats::protobuf::varint(1U << 30U) + "abc").result);
}
TEST(Xplane, NoPlaneIsRefused) {
  EXPECT_FALSE(import_text(make_importer(), "").result);
  EXPECT_FALSE(import_text(make_importer(), bytes(2, "an error")).result);
}
TEST(Xplane, MetadataMayReferToItself) {
  const std::string self = bytes(4, number(1, 1) + bytes(2, number(1, 1) + bytes(2, "f") + number(6, 1)));
  EXPECT_TRUE(import_text(make_importer(), plane("/host:CPU", line(1, "t", 5, event(1, 0, 5)) + self)).result);
}

}  // namespace
}  // namespace aaco::importers::xplane
