#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

// The same requests under the definitions of other load generators, so that a figure can be laid beside theirs. All of them count
// from the send, and quantiles are linear between neighbours whatever the number of values.
namespace aaco::analytics::llm {

enum class Tool { vllm, guidellm, aiperf };
// "vllm,guidellm". Fails with invalid_argument on another name.
core::Result<std::vector<Tool>> parse_tools(std::string_view text);
std::string_view to_string(Tool tool);

struct ToolFigure {
  std::string name;        // TTFT, TPOT, ITL, E2EL
  std::string definition;  // as the tool has it
  std::optional<double> mean_ns, p50_ns, p99_ns;
};
// Of the complete requests of a level in phase measure. Figures whose tokens are unknown are empty.
std::vector<ToolFigure> figures_as(Tool tool, std::span<const trace::LlmRequestRow> requests,
                                   std::span<const trace::LlmChunkRow> chunks, const trace::NameTable& names,
                                   std::string_view load);
core::Json to_json(const std::vector<ToolFigure>& figures);

}  // namespace aaco::analytics::llm
