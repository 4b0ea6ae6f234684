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

aaco::core::Status make(const std::string& page_path, const std::string& folder) {
  AACO_ASSIGN(const std::string page, aaco::core::read_file(page_path));
  AACO_TRY(aaco::core::make_directories(folder));
  std::vector<std::pair<std::string, aaco::report::ReportModel>> samples;
  samples.emplace_back("cpu", aaco::sample::cpu_run());
  samples.emplace_back("gpu", aaco::sample::gpu_run());
  samples.emplace_back("full", aaco::sample::full());
  samples.emplace_back("sweep", aaco::sample::sweep());
  samples.emplace_back("imported", imported());
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
