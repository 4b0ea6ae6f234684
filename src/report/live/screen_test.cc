#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "report/live.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

LiveView busy_machine() {
  LiveView view;
  view.machine.name = "node7";
  view.machine.time_ns = 75'000'000'000;
  view.machine.cpu_use_ratio = 0.43;
  view.machine.core_use_ratios = {0.9, 0.5, 0.1, std::nullopt};
  view.machine.cpu_wait_ratio = 0.125;
  view.machine.memory_available_bytes = 8.0 * (1 << 30);
  view.machine.memory_total_bytes = 16.0 * (1 << 30);
  view.machine.gpus.push_back({.device = 0,
                               .use_ratio = 0.97,
                               .memory_used_bytes = 40e9,
                               .memory_total_bytes = 192e9,
                               .power_watts = 640,
                               .power_cap_watts = 750,
                               .temperature_celsius = 91,
                               .clock_hz = 2.1e9,
                               .throttled = {"power"}});
  LiveSession session{.id = "20261121T081530Z-3f9a1c", .kind = "run", .what = "resnet50, cpu, batch 1", .phase = "measuring"};
  session.started_ns = 10'000'000'000;
  session.process_id = 4711;
  session.iterations = 1240;
  session.median_ns = 3.2e6;
  session.median_low_ns = 3.1e6;
  session.median_high_ns = 3.3e6;
  session.done_ratio = 0.62;
  session.left_s = 40;
  for (int i = 0; i < 5; ++i)
    session.buckets.push_back({.number = i, .count = 80, .min_ns = 3e6, .p50_ns = 3.2e6 + i * 1e4, .max_ns = 4e6});
  view.sessions.push_back(session);
  view.processes = {
      {.id = 4711, .depth = 0, .name = "aaco", .cpu_cores = 1.5, .resident_bytes = 1e8, .threads = 4},
      {.id = 4712, .parent = 4711, .depth = 1, .name = "worker", .cpu_cores = 2.5, .resident_bytes = 9e8, .threads = 2}};
  return view;
}

std::string text_of(const LiveView& view, const ScreenOptions& options) {
  const auto lines = live_screen(view, options);
  return std::accumulate(lines.begin(), lines.end(), std::string(),
                         [](std::string all, const std::string& line) { return std::move(all) + line + "\n"; });
}

TEST(LiveScreen, ShowsMachineGpuSessionAndProcesses) {
  const std::string text = text_of(busy_machine(), {});
  EXPECT_THAT(text, AllOf(HasSubstr("node7"), HasSubstr("CPU  43 %"), HasSubstr("Waits  CPU 12.5 %"),
                          HasSubstr("8.00 GiB available of 16.0 GiB")));
  EXPECT_THAT(text, AllOf(HasSubstr("640 W of 750"), HasSubstr("91 °C"), HasSubstr("2100 MHz"), HasSubstr("power")));
  EXPECT_THAT(text, AllOf(HasSubstr("run resnet50, cpu, batch 1"), HasSubstr("measuring  1:05"), HasSubstr("1,240 iterations"),
                          HasSubstr("median 3.20 ms ±3.12 %"), HasSubstr("62 %"), HasSubstr("0:40 left")));
  EXPECT_THAT(text, AllOf(HasSubstr("4711"), HasSubstr("  worker"), HasSubstr("2.50")));
}

TEST(LiveScreen, EveryLineFitsFrom60To200Columns) {
  for (int width = 60; width <= 200; ++width)
    for (const std::string& line : live_screen(busy_machine(), {.width = width})) EXPECT_LE(display_width(line), width) << line;
}

TEST(LiveScreen, NeverMoreLinesThanTheTerminalHas) {
  LiveView view = busy_machine();
  for (int i = 0; i < 100; ++i) view.processes.push_back(view.processes.back());
  view.machine.core_use_ratios.assign(512, 0.5);
  for (int height = 10; height <= 60; height += 5)
    EXPECT_LE(live_screen(view, {.height = height}).size(), static_cast<std::size_t>(height));
  EXPECT_THAT(text_of(view, {.height = 60}), AllOf(HasSubstr("more processes"), HasSubstr("more cores")));
}

TEST(LiveScreen, WithoutColourThereIsNoEscape) {
  EXPECT_THAT(text_of(busy_machine(), {.colour = false}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text_of(busy_machine(), {.colour = true}), HasSubstr("\x1b[31m"));
}

TEST(LiveScreen, WithoutUnicodeThereIsOnlyAscii) {
  const std::string text = text_of(busy_machine(), {.unicode = false});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << text;
}

TEST(LiveScreen, NamesCannotSteerTheTerminal) {
  LiveView view = busy_machine();
  view.sessions[0].what = "a\x1b[2Jb\n";
  view.processes[0].name = "\x1b]0;title\x07";
  EXPECT_THAT(text_of(view, {}), Not(HasSubstr("\x1b")));
}

TEST(LiveScreen, SortedProcessesLoseTheirTree) {
  const std::string text = text_of(busy_machine(), {.tree = false, .order = LiveOrder::memory});
  EXPECT_LT(text.find("4712"), text.find("  4711 "));
}

TEST(LiveScreen, AnIdleMachineNamesTheCommand) {
  EXPECT_THAT(text_of({}, {}), HasSubstr("No session is running. Start one: aaco run"));
}

TEST(LiveScreen, AMachineWithoutSensorsHasNoGpuTable) {
  EXPECT_THAT(text_of({}, {}), AllOf(HasSubstr("CPU   – %"), Not(HasSubstr("GPU"))));
}

TEST(LiveScreen, AReplayIsNamedOne) {
  LiveView view = busy_machine();
  view.title = "20261121T081530Z-3f9a1c";
  EXPECT_THAT(text_of(view, {}), HasSubstr("replay of 20261121T081530Z-3f9a1c"));
}

TEST(LiveScreen, AReplayWithoutTelemetrySaysSo) {
  LiveView view;
  view.title = "20261121T081530Z-3f9a1c";
  const std::string text = text_of(view, {});
  EXPECT_THAT(text, HasSubstr("no telemetry of the machine"));
  EXPECT_THAT(text, Not(HasSubstr("CPU")));
}

TEST(LiveJson, UnknownIsNull) {
  const core::Json json = to_json(LiveView{});
  EXPECT_TRUE(json["machine"]["cpu_use_ratio"].is_null());
  EXPECT_TRUE(json["replay"].is_null());
}

TEST(LiveJson, OnlyTheBucketsThatWereAskedFor) {
  const LiveSession session = busy_machine().sessions[0];
  EXPECT_EQ(to_json(session, 3)["buckets"].items().size(), 2U);
  EXPECT_EQ(to_json(session, 9)["buckets"].items().size(), 0U);
}

TEST(LiveScreen, ANoteIsAboveTheKeysAndTakesALine) {
  ScreenOptions options{.width = 80, .height = 14, .note = "recording process 4711, 0:05; r stops it"};
  const auto lines = live_screen(busy_machine(), options);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_LE(lines.size(), 14U);
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr("recording process 4711"));
  EXPECT_THAT(lines.back(), HasSubstr("r record"));
}

TEST(LiveViewFromJson, IsWhatWasWritten) {
  const LiveView view = busy_machine();
  const auto read = live_view_from_json(to_json(view));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_json(*read), to_json(view));
}

TEST(LiveViewFromJson, OtherDocumentsAreRefused) {
  for (const char* text :
       {"[]", "{}", "3", R"({"schema_version":1})", R"({"schema_version":2,"machine":{}})", R"({"machine":[]})"})
    EXPECT_FALSE(live_view_from_json(core::Json::parse(text).value())) << text;
}

TEST(LiveViewFromJson, WrongTypesAreEmptyAndListsEnd) {
  core::Json many = core::Json::array();
  for (int i = 0; i < 5000; ++i) many.push(core::Json::object({{"device", i}}));
  const core::Json document = core::Json::object(
      {{"schema_version", 1},
       {"machine", core::Json::object({{"cpu_use_ratio", "half"}, {"gpus", std::move(many)}, {"core_use_ratios", 3}})},
       {"processes", core::Json::object()},
       {"sessions", core::Json::array({core::Json(3)})}});
  const auto view = live_view_from_json(document);
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->machine.cpu_use_ratio);
  EXPECT_EQ(view->machine.gpus.size(), 1024U);
  EXPECT_TRUE(view->processes.empty());
  EXPECT_EQ(view->sessions.size(), 1U);
}

}  // namespace
}  // namespace aaco::report
