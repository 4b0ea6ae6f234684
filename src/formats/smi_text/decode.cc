#include "core/strings.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

constexpr std::size_t kLargestBytes = std::size_t{512} << 20;

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// The first line that says something: logs in scripts begin with a command, a blank or a banner.
std::string_view first_line(std::string_view text) {
  for (const std::string_view line : core::split_lines(text.substr(0, 4096)))
    if (const auto words = core::trim(line);
        !words.empty() && words[0] != '$' && !words.starts_with("amd-smi ") && !words.starts_with("rocm-smi "))
      return words;
  return {};
}

enum class Layout : std::uint8_t { none, json, sections, lines, boxes, table, csv };

Layout layout_of(std::string_view head) {
  const std::string_view line = first_line(head);
  if (line.empty()) return Layout::none;
  if (line[0] == '[' || line[0] == '{') {
    const bool amd = has(head, "\"gpu\"") && (has(head, "\"unit\"") || has(head, "\"usage\"") || has(head, "\"power"));
    const bool rocm = has(head, "\"card") && (has(head, "(%)") || has(head, "(W)") || has(head, "(C)") || has(head, "(B)"));
    return amd || rocm ? Layout::json : Layout::none;
  }
  if (has(head, "NVSMI LOG")) return Layout::sections;
  if (has(head, "NVIDIA-SMI") && has(head, "|")) return Layout::boxes;
  if (line.starts_with("GPU: ") || line.starts_with("CPU: ") || line.starts_with("TIMESTAMP: ")) return Layout::sections;
  if (has(head, "GPU[") && (has(head, "ROCm System Management Interface") || line.starts_with("GPU["))) return Layout::lines;
  if (has(head, "ROCm System Management Interface") || has(head, "Concise Info"))
    return has(head, "SCLK") ? Layout::table : Layout::none;
  if ((line[0] == '#' && (has(line, "gpu") || has(line, "GPU")))) return Layout::table;
  const auto words = core::split_words(line);
  if (!has(line, ",") && words.size() > 1 && (words[0] == "GPU" || (words[0] == "TIMESTAMP" && words[1] == "GPU")))
    return Layout::table;
  if (has(line, ",")) {
    const std::string lower = core::to_lower(line);
    const bool nvidia = has(lower, "utilization.") || has(lower, "power.draw") || has(lower, "memory.used") ||
                        has(lower, "temperature.gpu") || has(lower, "clocks.");
    const bool rocm =
        lower.starts_with("device,") && (has(lower, "(%)") || has(lower, "(w)") || has(lower, "(c)") || has(lower, "(b)"));
    const bool amd = (lower.starts_with("gpu,") || lower.starts_with("timestamp,gpu,")) &&
                     (has(lower, "power") || has(lower, "gfx") || has(lower, "temperature") || has(lower, "vram"));
    if (nvidia || rocm || amd) return Layout::csv;
  }
  return Layout::none;
}

}  // namespace

std::string_view to_string(Tool tool) {
  return tool == Tool::amd_smi ? "amd-smi" : tool == Tool::rocm_smi ? "rocm-smi" : "nvidia-smi";
}

bool is_smi_text(std::string_view head) { return layout_of(head) != Layout::none; }

core::Result<Log> decode(std::string_view text) {
  if (text.size() > kLargestBytes)
    return core::fail(core::ErrorCode::exhausted, "the log is larger than 512 MiB", "split it into smaller files");
  Log log;
  bool read = false;
  const Layout layout = layout_of(text.substr(0, std::size_t{64} << 10));
  switch (layout) {
    case Layout::none: break;
    case Layout::json: read = read_json(text, log); break;
    case Layout::sections: read = read_sections(text, log); break;
    case Layout::lines: read = read_lines(text, log); break;
    case Layout::boxes: read = read_boxes(text, log); break;
    case Layout::table: read = read_tables(text, log); break;
    case Layout::csv: read = read_csv(text, log); break;
  }
  if (read) return log;
  return core::fail(
      core::ErrorCode::invalid_input,
      layout == Layout::none ? "not a supported amd-smi, rocm-smi or nvidia-smi output"
                             : "the output has no readable GPU row or section",
      "supported: amd-smi metric and monitor, rocm-smi, nvidia-smi (also -q, dmon and --query-gpu), as text, JSON or CSV");
}

}  // namespace aaco::formats::smi_text
