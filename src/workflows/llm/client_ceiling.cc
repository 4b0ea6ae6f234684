#include "workflows/llm/client_ceiling.h"

#include "core/files.h"
#include "core/json.h"

namespace aaco::workflows {

std::string client_ceiling_path(const core::Paths& paths) { return core::join_path(paths.registry, "llm_client.json"); }

std::optional<double> stored_client_ceiling(const core::Paths& paths, const std::string& cpu_model) {
  const std::string path = client_ceiling_path(paths);
  if (!core::exists(path)) return std::nullopt;
  const auto document = core::read_json_file(path);
  if (!document || (*document)["cpu"].text() != cpu_model) return std::nullopt;
  const auto rate = (*document)["chunks_per_second"].as_f64();
  return rate && *rate > 0 ? rate : std::nullopt;
}

}  // namespace aaco::workflows
