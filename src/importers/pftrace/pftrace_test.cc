#include "importers/pftrace.h"

#include <gtest/gtest.h>

#include "formats/protobuf_testing.h"
#include "importers/stream/source_testing.h"

namespace aaco::importers::pftrace {
namespace {

using formats::protobuf::bytes;
using formats::protobuf::number;
using formats::protobuf::real;

std::string packet(const std::string& members) { return bytes(1, members); }
std::string track(std::uint64_t uuid, std::string_view name, const std::string& more = {}) {
  return packet(number(10, 1) + bytes(60, number(1, uuid) + bytes(2, name) + more));
}
std::string interned(std::uint32_t kind, std::uint64_t iid, std::string_view name) {
  return bytes(kind, number(1, iid) + bytes(2, name));
}
std::string argument(std::uint64_t name, std::uint64_t value) { return bytes(4, number(1, name) + number(3, value)); }
std::string argument(std::uint64_t name, std::string_view value) { return bytes(4, number(1, name) + bytes(6, value)); }
std::string event(std::uint64_t time, const std::string& members, const std::string& more = {}) {
  return packet(number(8, time) + number(10, 1) + more + bytes(11, members));
}
std::string begin(std::uint64_t time, std::uint64_t on, std::uint64_t category, std::uint64_t name,
                  const std::string& arguments = {}) {
  return event(time, number(9, 1) + number(11, on) + number(3, category) + number(10, name) + arguments);
}
std::string end(std::uint64_t time, std::uint64_t on) { return event(time, number(9, 2) + number(11, on)); }

// What rocprofv3 writes of a kernel, a copy, the call that launched the kernel, and a counter.
std::string example() {
  const std::string names = interned(1, 1, "kernel_dispatch") + interned(1, 2, "memory_copy") + interned(1, 3, "hip_api") +
                            interned(2, 1, "vector_add(float*)") + interned(2, 2, "MEMORY_COPY_HOST_TO_DEVICE") +
                            interned(2, 3, "hipLaunchKernel") + interned(3, 1, "corr_id") + interned(3, 2, "agent") +
                            interned(3, 3, "queue") + interned(3, 4, "copy_bytes") + interned(3, 5, "tid") +
                            interned(3, 6, "begin_ns") + interned(3, 7, "end_ns") + interned(3, 8, "group_segment_size") +
                            interned(3, 9, "dst_agent");
  return packet(number(10, 1) + number(13, 1) + bytes(12, names)) + track(100, "COMPUTE AGENT [4] STREAM [2] (GPU)") +
         track(101, "COPY to AGENT [4] STREAM [0] (GPU)") +
         track(102, "THREAD 1 (4711)", bytes(4, number(1, 4700) + number(2, 4711))) +
         track(103, "COPY BYTES to AGENT [4] (GPU)", bytes(8, "")) + begin(1'000, 102, 3, 3, argument(1, 7) + argument(5, 4711)) +
         end(1'500, 102) + begin(2'000, 100, 1, 1, argument(1, 7) + argument(2, "Agent-4") + argument(3, 3) + argument(8, 1024)) +
         end(5'000, 100) + begin(6'000, 101, 2, 2, argument(1, 8) + argument(4, 4096) + argument(9, "4")) + end(6'500, 101) +
         event(6'000, number(9, 4) + number(11, 103) + real(44, 4));
}

TEST(Pftrace, KernelsCopiesCallsAndCounters) {
  const auto imported = import_text(make_importer(), example());
  ASSERT_TRUE(imported.result) << imported.result.error().text();
  const auto& kernels = imported.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(imported.sink.text(kernels[0].name), "vector_add(float*)");
  EXPECT_EQ(kernels[0].device, 4);
  EXPECT_EQ(kernels[0].queue, 3);
  EXPECT_EQ(kernels[0].stream, 2);
  EXPECT_EQ(kernels[0].start_ns, 2'000);
  EXPECT_EQ(kernels[0].end_ns, 5'000);
  EXPECT_EQ(kernels[0].correlation_id, 7U);
  EXPECT_EQ(kernels[0].lds_bytes, 1024);
  EXPECT_FALSE(kernels[0].grid_x);  // only the product is written
  const auto& copies = imported.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].bytes, 4096);
  EXPECT_EQ(copies[0].device, 4);
  EXPECT_EQ(imported.sink.text(copies[0].kind), "h2d");
  const auto& calls = imported.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(imported.sink.text(calls[0].domain), "hip");
  EXPECT_EQ(calls[0].thread_id, 4711);
  EXPECT_EQ(calls[0].process_id, 4700);
  EXPECT_EQ(calls[0].correlation_id, 7U);
  EXPECT_EQ(imported.sink.rows<trace::SystemEventRow>().size(), 1U);
  EXPECT_EQ(imported.result->account.read, imported.result->account.kept + imported.result->account.dropped_total());
}
// As aaco export writes a session of two ranks: kernels and copies keep their place, derived slices are left out.
TEST(Pftrace, ExportsOfSessionsAreReadBack) {
  const std::string names =
      packet(number(10, 1) + number(13, 1) +
             bytes(12, interned(1, 1, "kernel") + interned(1, 2, "copy") + interned(1, 3, "idle") + interned(1, 4, "cpu_op") +
                           interned(2, 1, "gemm") + interned(2, 2, "h2d") + interned(2, 3, "late launch") +
                           interned(3, 1, "device") + interned(3, 2, "stream") + interned(3, 3, "correlation") +
                           interned(3, 4, "grid_y") + interned(3, 5, "block_x")));
  const std::string place = argument(1, 2) + argument(2, 7) + argument(3, 11);
  const auto imported = import_text(make_importer(), names + track(1, "GPU 2 (rank 1)") + track(2, "stream 7", number(5, 1)) +
                                                         track(3, "thread 8", bytes(4, number(1, 5) + number(2, 8))) +
                                                         begin(10, 2, 1, 1, place + argument(4, 3) + argument(5, 256)) +
                                                         end(20, 2) + begin(30, 2, 2, 2, place) + end(35, 2) +
                                                         begin(40, 2, 3, 3) + end(50, 2) + begin(60, 3, 4, 1) + end(70, 3));
  ASSERT_TRUE(imported.result) << imported.result.error().text();
  const auto& kernels = imported.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].rank, 1);
  EXPECT_EQ(kernels[0].device, 2);
  EXPECT_EQ(kernels[0].stream, 7);
  EXPECT_EQ(kernels[0].correlation_id, 11U);
  EXPECT_EQ(kernels[0].grid_y, 3);
  EXPECT_EQ(kernels[0].block_x, 256);
  const auto& copies = imported.sink.rows<trace::CopyRow>();
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(imported.sink.text(copies[0].kind), "h2d");
  EXPECT_EQ(copies[0].rank, 1);
  const auto& calls = imported.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(imported.sink.text(calls[0].domain), "cpu_op");
  EXPECT_EQ(calls[0].rank, 0);
  EXPECT_EQ(imported.result->account.dropped_total(), 1);
}
TEST(Pftrace, StatedTimesWinOverCutSlices) {
  const std::string names = packet(number(10, 1) + bytes(12, interned(1, 1, "kernel_dispatch") + interned(2, 1, "k") +
                                                                 interned(3, 6, "begin_ns") + interned(3, 7, "end_ns")));
  const auto imported = import_text(make_importer(), names + begin(20, 1, 1, 1, argument(6, 10) + argument(7, 40)) + end(30, 1));
  ASSERT_TRUE(imported.result);
  const auto& kernels = imported.sink.rows<trace::KernelRow>();
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].start_ns, 10);
  EXPECT_EQ(kernels[0].end_ns, 40);
}
// Clock 64 counts from its last time, 65 in units of 1000 ns; both were read when the boot clock stood at 5,000,000.
TEST(Pftrace, ClocksOfTheWriter) {
  const std::string snapshot =
      bytes(6, bytes(1, number(1, 6) + number(2, 5'000'000)) + bytes(1, number(1, 64) + number(2, 100) + number(3, 1)) +
                   bytes(1, number(1, 65) + number(2, 4) + number(4, 1000)));
  const std::string defaults = bytes(59, number(58, 64) + bytes(11, number(11, 9)));
  const auto slice = [](int type, const char* name) { return number(9, static_cast<std::uint64_t>(type)) + bytes(23, name); };
  const auto imported = import_text(make_importer(), packet(number(10, 1) + number(41, 1) + snapshot + defaults) +
                                                         event(10, slice(1, "outer")) + event(5, slice(1, "inner")) +
                                                         event(20, slice(2, "")) + event(6, slice(2, ""), number(58, 65)));
  ASSERT_TRUE(imported.result);
  const auto& calls = imported.sink.rows<trace::ApiCallRow>();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(imported.sink.text(calls[0].name), "inner");
  EXPECT_EQ(calls[0].start_ns, 5'000'015);
  EXPECT_EQ(calls[0].end_ns, 5'000'035);
  EXPECT_EQ(calls[1].start_ns, 5'000'010);
  EXPECT_EQ(calls[1].end_ns, 5'002'000);
}
TEST(Pftrace, InternedNamesEndWithTheState) {
  const std::string names = packet(number(10, 1) + bytes(12, interned(2, 1, "f")));
  const std::string cleared = packet(number(10, 1) + number(13, 1));
  const auto imported = import_text(make_importer(), names + cleared + begin(1, 1, 0, 1) + end(2, 1));
  ASSERT_TRUE(imported.result);
  EXPECT_EQ(imported.result->account.dropped.at("events without a name"), 1);
}
TEST(Pftrace, TracksInACircleEnd) {
  const std::string circle = track(1, "a", number(5, 2)) + track(2, "b", number(5, 1));
  const auto imported =
      import_text(make_importer(), circle + event(1, number(9, 1) + number(11, 1) + bytes(23, "f")) + end(2, 1));
  ASSERT_TRUE(imported.result);
  EXPECT_EQ(imported.sink.rows<trace::ApiCallRow>().size(), 1U);
}
TEST(Pftrace, IsRecognisedByItsPackets) {
  const auto importer = make_importer();
  EXPECT_TRUE(importer->sniff(example(), "x"));
  for (const std::string& other :
       {std::string(), std::string("\n"), std::string("\n\x05"), std::string("\n{\"traceEvents\": []}"),
        bytes(1, number(1, 1) + bytes(2, "/host:CPU")), bytes(2, number(8, 1)), std::string(100, '\n')})
    EXPECT_FALSE(importer->sniff(other, "x.pftrace")) << other;
}
TEST(Pftrace, EventsThatCannotBeUsedAreCounted) {
  const auto dropped = [](const std::string& text) {
    const auto imported = import_text(make_importer(), text);
    EXPECT_TRUE(imported.result);
    return imported.result ? imported.result->account.dropped.begin()->first : std::string();
  };
  EXPECT_EQ(dropped(end(5, 1)), "end event without begin event");
  EXPECT_EQ(dropped(begin(5, 1, 0, 0)), "unterminated begin event");
  EXPECT_EQ(dropped(event(9, number(9, 1) + bytes(23, "f")) + event(5, number(9, 2))), "negative duration");
  EXPECT_EQ(dropped(packet(number(10, 1) + bytes(11, number(9, 1)))), "no valid timestamp");
  EXPECT_EQ(dropped(event(5, number(9, 3))), "instant events");
  EXPECT_EQ(dropped(event(5, "\x4A\x7F")), "malformed event");
}
TEST(Pftrace, EveryTruncationIsReadOrRefused) {
  const std::string text = example();
  for (std::size_t size = 0; size < text.size(); size += 3)
    (void)import_either_way([](trace::ByteSource& source, trace::Sink& sink) { return make_importer()->import(source, sink); },
                            text.substr(0, size));
}
TEST(Pftrace, HugeLengthsAndNothingAreRefused) {
  EXPECT_FALSE(import_text(make_importer(), "").result);
  EXPECT_FALSE(import_text(make_importer(), "\x0A" + formats::protobuf::varint(UINT64_MAX) + "abc").result);
  EXPECT_FALSE(import_text(make_importer(),
                           "\x0A\x7F"
                           "abc")
                   .result);
}

}  // namespace
}  // namespace aaco::importers::pftrace
