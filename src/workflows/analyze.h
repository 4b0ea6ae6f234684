#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "report/analysis.h"
#include "workflows/model_source.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What a model would take on a device.
struct AnalyzeRequest {
  ModelRequest model;
  std::string hardware;               // id, alias, ID@STATE, "this"
  estimation::Conditions conditions;  // its dtype as people write it
  std::string fallback;               // the device that runs what the first one does not take; empty: it takes everything
  std::string provider;               // with a fallback: whose list of operators decides; empty: the device's own
};

core::Result<report::AnalysisReport> analyze(const AnalyzeRequest& request, const Services& services);

// What the page of an analysis shows: the paper, and what is in memory over the graph.
report::Paper analysis_page(const report::AnalysisReport& report, std::size_t nodes);

enum class AnalysisFormat { text, json, csv, markdown, html };
// "text", "json", "csv", "md", "html".
std::optional<AnalysisFormat> analysis_format(std::string_view name);
// `nodes`: how many of the slowest are listed in text, Markdown and HTML; 0: all.
std::string render_analysis(const report::AnalysisReport& report, AnalysisFormat format, std::size_t nodes,
                            int width = report::kTextWidth);

}  // namespace aaco::workflows
