#include "tracelake/export.h"

#include "core/environment.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "tests/support/source_dir.h"
#include "tracelake/perfetto/decoded_trace_testing.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;
using perfetto::DecodedTrace;
using perfetto::TraceDecoder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExportTest : public SessionTest {
 protected:
  [[nodiscard]] std::string file() const { return join_path(folder(), "timeline"); }

  // Two iterations, of which the second was profiled; a launch, its kernel and a copy; telemetry; faults.
  [[nodiscard]] std::string make_timeline() const {
    auto about = manifest();
    about.outcome = trace::outcome_from_json(core::Json::object({{"model", "resnet50"}}));
    about.clocks.add({{core::ClockId::realtime, 1'000'000}, {core::ClockId::monotonic, 1000}, 10});
    auto writer = create(about);
    trace::Sink& sink = writer->sink();
    sink.add(trace::IterationRow{0, 0, sink.name("measure"), 0, 1000, 900, {}});
    sink.add(trace::IterationRow{0, 0, sink.name("profile"), 0, 2000, 900, {}});
    for (int i = 0; i < 3; ++i) {
      trace::NodeExecutionRow node;
      node.node_name = sink.name("conv" + std::to_string(i));
      node.op_type = sink.name("Conv");
      node.start_ns = 2010 + 200 * i;
      node.duration_ns = 200;
      sink.add(node);
    }
    trace::ApiCallRow call{0, sink.name("hip"), sink.name("hipLaunchKernel"), 500, 501, 2100, 2150, 99, 0, {}};
    sink.add(call);
    trace::KernelRow kernel;
    kernel.name = sink.name("gemm");
    kernel.stream = 3;
    kernel.start_ns = 2200;
    kernel.end_ns = 2300;
    kernel.correlation_id = 99;
    kernel.grid_x = 8;
    sink.add(kernel);
    kernel.start_ns = 2250;  // on the same stream while the first runs
    kernel.end_ns = 2400;
    sink.add(kernel);
    kernel.end_ns = 2000;  // ends before it begins
    sink.add(kernel);
    sink.add(trace::CopyRow{0, 0, 3, sink.name("h2d"), 2160, 2170, 4096, {}, {}, 0});
    sink.add(trace::SystemEventRow{0, 2000, sink.name("process.rss_bytes"), {}, 1e6});
    sink.add(trace::SystemEventRow{0, 2500, sink.name("process.rss_bytes"), {}, 2e6});
    sink.add(trace::SystemEventRow{0, -5, sink.name("process.rss_bytes"), {}, 3e6});
    sink.add(trace::GpuEventRow{0, 2000, 0, sink.name("gpu.power_watts"), sink.name("hwmon"), 300});
    return close(*writer, about);
  }
  DecodedTrace decode() const { return TraceDecoder::decode(*core::read_file(file())); }
};

TEST_F(ExportTest, CounterHasUnitOfItsMetric) {
  const auto about = manifest();
  auto writer = create(about);
  trace::Sink& sink = writer->sink();
  const std::map<std::string, std::string> units = {
      {"system.interrupts_per_second", "1/s"}, {"process.cpu_time_seconds", "s"}, {"system.load_1min", ""}};
  for (const auto& [metric, unit] : units) sink.add(trace::SystemEventRow{0, 1, sink.name(metric), {}, 1});
  ASSERT_TRUE(export_timeline(close(*writer, about), TimelineFormat::perfetto, file()));
  const DecodedTrace trace = decode();
  ASSERT_EQ(trace.values.size(), units.size());
  for (const auto& value : trace.values) {
    const auto& track = trace.tracks.at(value.track);
    EXPECT_EQ(track.unit_name, units.at(track.name)) << track.name;
  }
}

TEST_F(ExportTest, PerfettoPlacesEveryTrack) {
  const auto account = export_timeline(make_timeline(), TimelineFormat::perfetto, file());
  ASSERT_TRUE(account) << account.error().text();
  EXPECT_EQ(account->kept, 12);
  EXPECT_EQ(account->dropped, (std::map<std::string, std::int64_t>{{"before time zero", 1}, {"ends before it starts", 1}}));
  const DecodedTrace trace = decode();
  EXPECT_THAT(trace.problems, IsEmpty());
  EXPECT_EQ(trace.timestamp_clock, perfetto::field::kClockMonotonic);
  EXPECT_EQ(trace.clocks.at(0).at(perfetto::field::kClockRealtime), 1'000'000u);

  const auto* node = trace.find("conv1");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->parent, "profile");
  EXPECT_EQ(node->arguments.at("op_type"), "Conv");
  const auto& thread = trace.tracks.at(node->track);
  EXPECT_GE(thread.thread_id, 0);
  EXPECT_EQ(trace.tracks.at(thread.parent).name, "run: resnet50");
  EXPECT_GE(trace.tracks.at(thread.parent).process_id, 0);

  const auto* launch = trace.find("hipLaunchKernel");
  const auto* kernel = trace.find("gemm");
  ASSERT_TRUE(launch != nullptr && kernel != nullptr);
  EXPECT_EQ(trace.tracks.at(launch->track).thread_id, 501);
  EXPECT_EQ(trace.track_of(*kernel), "stream 3");
  EXPECT_EQ(trace.tracks.at(trace.tracks.at(kernel->track).parent).name, "GPU 0");
  EXPECT_EQ(kernel->flows, launch->flows);
  EXPECT_FALSE(kernel->flows.empty());
  EXPECT_EQ(kernel->arguments,
            (std::map<std::string, std::string>{{"correlation", "99"}, {"device", "0"}, {"grid_x", "8"}, {"stream", "3"}}));
  EXPECT_EQ(trace.track_of(*trace.find("h2d")), "stream 3: copies");

  ASSERT_EQ(trace.values.size(), 3u);
  EXPECT_EQ(trace.tracks.at(trace.values[1].track).name, "process.rss_bytes");
  EXPECT_EQ(trace.tracks.at(trace.values[1].track).unit_name, "3");  // UNIT_SIZE_BYTES
  EXPECT_EQ(trace.values[1].value, 2e6);
  EXPECT_EQ(trace.tracks.at(trace.values[2].track).unit_name, "W");
}

TEST_F(ExportTest, RequestsAreTracksWithTheirParts) {
  auto about = manifest();
  about.kind = "llm";
  auto writer = create(about);
  trace::Sink& sink = writer->sink();
  for (const std::int64_t start : {1000, 1500, 3000}) {
    trace::LlmRequestRow row;
    row.request = start / 500;
    row.outcome = sink.name(start == 1500 ? "timeout" : "ok");
    row.scheduled_ns = start;
    row.sent_ns = start + 100;
    row.first_token_ns = start + 400;
    row.last_token_ns = start + 800;
    row.end_ns = start + 900;
    sink.add(row);
  }
  sink.add(trace::IterationRow{0, 0, sink.name("measure"), 0, 1000, 900, {}});
  ASSERT_TRUE(export_timeline(close(*writer, about), TimelineFormat::perfetto, file()));
  const DecodedTrace trace = decode();
  EXPECT_THAT(trace.problems, IsEmpty());
  const auto *first = trace.find("request 2"), *overlapping = trace.find("request 3: timeout"), *later = trace.find("request 6");
  ASSERT_TRUE(first != nullptr && overlapping != nullptr && later != nullptr);
  EXPECT_EQ(trace.track_of(*first), "open request 1");
  EXPECT_EQ(trace.track_of(*overlapping), "open request 2");
  EXPECT_EQ(trace.track_of(*later), "open request 1");
  EXPECT_EQ(trace.find("to first token")->parent, "request 2");
  EXPECT_EQ(trace.find("client queue")->parent, "request 2");
  EXPECT_EQ(trace.find("measure"), nullptr);
}

TEST_F(ExportTest, ProtocDecodesEveryFieldByTheSchema) {
  const auto protoc = core::find_program("protoc", core::Environment::of_process().get("PATH").value_or(""));
  if (!protoc) GTEST_SKIP() << "skipped, protoc is not installed";
  ASSERT_TRUE(export_timeline(make_timeline(), TimelineFormat::perfetto, file()));
  const std::string schema = std::string(AACO_SOURCE_DIR) + "/tests/fixtures/perfetto";
  core::Command command;
  command.arguments = {"/bin/sh", "-c",   "\"$0\" -I \"$1\" --decode perfetto.protos.Trace trace.proto < \"$2\"",
                       *protoc,   schema, file()};
  const auto result = core::run_command(command);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->exit_code, 0) << result->error_output;
  for (const std::string_view line : core::split_lines(result->output)) {
    const std::string_view text = core::trim(line);
    ASSERT_FALSE(!text.empty() && text.front() >= '0' && text.front() <= '9') << "a field the schema does not know: " << line;
  }
  EXPECT_THAT(result->output, HasSubstr("type: TYPE_SLICE_BEGIN"));
  EXPECT_THAT(result->output, HasSubstr("process_name: \"run: resnet50\""));
  EXPECT_THAT(result->output, HasSubstr("primary_trace_clock: BUILTIN_CLOCK_MONOTONIC"));
}

TEST_F(ExportTest, ChromeHasTheSameSlices) {
  ASSERT_TRUE(export_timeline(make_timeline(), TimelineFormat::chrome, file()));
  const auto document = core::Json::parse(*core::read_file(file()));
  ASSERT_TRUE(document) << document.error().text();
  std::map<std::string, int> phases;
  for (const core::Json& event : (*document)["traceEvents"].items()) ++phases[std::string(event["ph"].text())];
  EXPECT_EQ(phases["X"], 9);
  EXPECT_EQ(phases["C"], 3);
  EXPECT_EQ(phases["s"], 1);
  EXPECT_EQ(phases["f"], 2);
}

TEST_F(ExportTest, ManyRowsStayConsistent) {
  auto writer = create(manifest());
  trace::Sink& sink = writer->sink();
  for (int i = 0; i < 150'000; ++i) {
    trace::ApiCallRow call;
    call.rank = i % 2;
    call.domain = sink.name("cpu_op");
    call.name = sink.name("op" + std::to_string(i % 50));
    call.process_id = 7;
    call.thread_id = i % 3;
    call.start_ns = i / 4 * 10;
    call.end_ns = call.start_ns + (i % 7) * 20;
    call.arguments = sink.name("{\"i\":" + std::to_string(i) + "}");
    sink.add(call);
  }
  const std::string path = close(*writer, manifest());
  const auto account = export_timeline(path, TimelineFormat::perfetto, file());
  ASSERT_TRUE(account) << account.error().text();
  EXPECT_EQ(account->read, 150'000);
  const DecodedTrace trace = decode();
  EXPECT_THAT(trace.problems, IsEmpty());
  EXPECT_EQ(static_cast<std::int64_t>(trace.slices.size()), account->kept);
}

TEST_F(ExportTest, CsvOfEveryTable) {
  const auto files = export_csv(make_timeline(), join_path(folder(), "csv"));
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ(files->size(), 7u);
  const auto kernels = core::read_file(join_path(folder(), "csv/rocprof_kernels.csv"));
  ASSERT_TRUE(kernels);
  EXPECT_THAT(*kernels, ::testing::StartsWith("rank,device,queue,stream,kernel_name,start_ns"));
  EXPECT_EQ(core::split_lines(*kernels).size(), 4u);
}

TEST_F(ExportTest, RefusesMissingOrDamagedSessions) {
  EXPECT_EQ(export_timeline(join_path(folder(), "none"), TimelineFormat::perfetto, file()).error().code, ErrorCode::not_found);
  EXPECT_EQ(export_csv(join_path(folder(), "none"), folder()).error().code, ErrorCode::not_found);
  const std::string path = make_timeline();
  EXPECT_EQ(export_timeline(path, TimelineFormat::chrome, "/nowhere/x").error().code, ErrorCode::not_found);
  ASSERT_TRUE(core::write_file_atomic(join_path(path, "profiler/rocprof_kernels.parquet"), "no table"));
  EXPECT_FALSE(export_timeline(path, TimelineFormat::perfetto, file()));
  EXPECT_FALSE(core::exists(file()));
}

}  // namespace
}  // namespace aaco::tracelake
