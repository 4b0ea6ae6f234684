#include "workflows/analyze.h"

#include "workflows/hardware.h"
#include "workflows/predict.h"
#include "workflows/predict/partitioned_analysis.h"

namespace aaco::workflows {

core::Result<report::AnalysisReport> analyze(const AnalyzeRequest& request, const Services& services) {
  AACO_ASSIGN(const hardware::Device device, find_device(request.hardware, services));
  AACO_ASSIGN(const graph::Model model, open_model(request.model, services));
  if (request.fallback.empty()) {
    if (!request.provider.empty())
      return core::fail(core::ErrorCode::invalid_argument, "--provider requires --fallback to run the unsupported operators",
                        "pass a device with --fallback");
    return predict(model, request.model.name, device, request.conditions, services.paths);
  }
  AACO_ASSIGN(const Fallback fallback, find_fallback(request.fallback, request.provider, device, services));
  return predict(model, request.model.name, device, request.conditions, services.paths, &fallback);
}

std::optional<AnalysisFormat> analysis_format(std::string_view name) {
  if (name == "text") return AnalysisFormat::text;
  if (name == "json") return AnalysisFormat::json;
  if (name == "csv") return AnalysisFormat::csv;
  if (name == "md") return AnalysisFormat::markdown;
  if (name == "html") return AnalysisFormat::html;
  return std::nullopt;
}

report::Paper analysis_page(const report::AnalysisReport& report, std::size_t nodes) {
  report::Paper paper = report::analysis_paper(report, nodes);
  if (auto memory = report::memory_timeline(report); !memory.title.empty()) paper.sections.push_back(std::move(memory));
  return paper;
}

std::string render_analysis(const report::AnalysisReport& report, AnalysisFormat format, std::size_t nodes, int width) {
  switch (format) {
    case AnalysisFormat::json: return report::analysis_json(report).dump() + "\n";
    case AnalysisFormat::csv: return report::table_csv(report::analysis_table(report));
    case AnalysisFormat::markdown: return report::paper_markdown(report::analysis_paper(report, nodes));
    case AnalysisFormat::html: return report::paper_html(analysis_page(report, nodes));
    case AnalysisFormat::text: break;
  }
  return report::paper_text(report::analysis_paper(report, nodes), width);
}

}  // namespace aaco::workflows
