// aaco_web_samples PAGE FOLDER: writes the sample reports as HTML (and JSON) into FOLDER for the browser test.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/files.h"
#include "report/render.h"
#include "support/sample_reports.h"

namespace {

// A trace that a profiler wrote: its counters in one long list, its times since 1970, kernels in the part of the trace they fill.
aaco::report::ReportModel imported() {
  using aaco::core::Json;
  aaco::report::ReportModel model = aaco::sample::empty();
  Json counters = Json::array();
  for (int i = 0; i < 200; ++i) counters.push("COUNTER_" + std::to_string(i));
  model.environment = Json::object(
      {{"files", Json::array({Json::object({{"counters", std::move(counters)}, {"profiler_start_ns", 1758927466581000000}})})}});
  model.time_whole = aaco::report::TimeWhole::trace;
  const auto add = [](std::vector<aaco::report::TimeShare>& list, const char* name, double ns, const char* parent) {
    auto& share = list.emplace_back();
    share.name = name, share.parent = parent;
    share.total_ns = ns, share.share_ratio = ns / 10e6;
  };
  add(model.parts, "GPU compute", 6e6, "");
  add(model.parts, "idle: late launch", 4e6, "");
  add(model.kernels, "gemm", 4e6, "GPU compute");
  add(model.kernels, "relu", 2e6, "GPU compute");
  return model;
}

// An imported trace with its own timeline: 40 steps of an operator, a launch and a kernel, merged in the overview, and a stretch
// around the longest gap with every event.
aaco::report::ReportModel traced() {
  using Timeline = aaco::report::TraceTimeline;
  aaco::report::ReportModel model = imported();
  model.session.phases = {{"trace", 1'000, 41'001'000}};
  Timeline trace{1'000, 41'000'000, 123, {}, {}, {"", "grid 4 x 1 x 1, block 256 x 1 x 1", R"({"Input Dims":[[2,3],[3,4]]})"},
                 {}};
  trace.tracks = {
      {0, "python", 7, 8, 0}, {0, "operator", 7, 8, 0}, {0, "launch", 7, 8, 0}, {0, "kernel", 0, 3, 0}, {0, "python", 7, 8, 1}};
  const std::string gemm = "void gemm_kernel<float, 128, 64, (Layout)1>(Params<float>)";
  trace.names = {{"train.py(12): step", "", ""},
                 {"aten::mm", "", ""},
                 {"hipLaunchKernel", "", ""},
                 {gemm, "gemm_kernel 128x64", "gemm"},
                 {"DataLoader.__next__", "", ""}};
  Timeline::Layer whole{0, 41'000'000, 1'000'000, {{0, 0, 0, 0, 0, 41'000'000, 1, 41'000'000, 41'000'000}}};
  Timeline::Layer near{20'000'000, 25'000'000, 0, {}};
  near.rows = {{0, 0, 0, 0, 0, 41'000'000, 1, 41'000'000, 41'000'000}};
  for (const std::uint32_t track : {1U, 2U, 3U})
    for (std::int64_t step = 0; step < 40; ++step) {
      const std::int64_t start = step * 1'000'000 + (track == 1 ? 0 : track == 2 ? 50'000 : 200'000);
      const std::int64_t length = track == 1 ? 150'000 : track == 2 ? 20'000 : 100'000;
      whole.rows.push_back({track, track, 0, 0, start, length, 2, length / 2, length / 2});
      if (start < near.from_ns || start >= near.to_ns || step == 22 || step == 23) continue;
      near.rows.push_back({track, track,
                           track == 3   ? 1U
                           : track == 1 ? 2U
                                        : 0U,
                           track == 1 ? 0U : static_cast<std::uint32_t>(step) + 1, start, length, 1, length, length});
    }
  near.rows.push_back({4, 4, 0, 0, 21'400'000, 2'400'000, 1, 2'400'000, 2'400'000});
  trace.layers = {whole, near};
  model.sections.trace = std::move(trace);
  aaco::report::Gaps gaps;
  gaps.causes = {{"host_late", 1, 2'900'000}};
  gaps.longest = {
      {0, 0, 21'301'000, 2'900'000, "host_late", 0.9, "gemm", "gemm", "DataLoader.__next__", {}, {}, "data-loading", 2'400'000}};
  model.sections.gaps = std::move(gaps);
  return model;
}

aaco::core::Status make(const std::string& page_path, const std::string& folder) {
  AACO_ASSIGN(const std::string page, aaco::core::read_file(page_path));
  AACO_TRY(aaco::core::make_directories(folder));
  std::vector<std::pair<std::string, aaco::report::ReportModel>> samples;
  samples.emplace_back("cpu", aaco::sample::cpu_run());
  samples.emplace_back("gpu", aaco::sample::gpu_run());
  samples.emplace_back("full", aaco::sample::full());
  samples.emplace_back("sweep", aaco::sample::sweep());
  samples.emplace_back("imported", imported());
  samples.emplace_back("traced", traced());
  samples.emplace_back("empty", aaco::sample::empty());
  samples.emplace_back("hostile", aaco::sample::hostile());
  samples.emplace_back("large", aaco::sample::large(5'000, 100'000));
  for (const auto& [name, model] : samples) {
    AACO_ASSIGN(const std::string html, aaco::report::render_html(model, page));
    AACO_TRY(aaco::core::write_file_atomic(folder + "/" + name + ".html", html));
    AACO_TRY(aaco::core::write_file_atomic(folder + "/" + name + ".json", aaco::report::render_json(model).dump(2)));
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: aaco_web_samples PAGE FOLDER\n");
    return 2;
  }
  const auto made = make(arguments[1], arguments[2]);
  if (made) return 0;
  std::fprintf(stderr, "%s\n", made.error().text().c_str());
  return 3;
}
