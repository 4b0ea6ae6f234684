#include "workflows/run/run_again.h"

#include "core/files.h"

namespace aaco::workflows {

std::vector<std::string> configuration_words(const RunRequest& request) {
  std::vector<std::string> words{"--model", request.model, "--backend", request.backend};
  const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
  if (request.batch) add("--batch", std::to_string(*request.batch));
  for (const auto& [name, size] : request.dimensions) add("--dim", name + "=" + std::to_string(size));
  for (const auto& [name, shape] : request.shapes) {
    std::string text;
    for (const std::int64_t size : shape) text.append(text.empty() ? "" : "x").append(std::to_string(size));
    add("--shape", name + "=" + text);
  }
  for (const auto& [name, file] : request.inputs) add("--input", name + "=" + file);
  for (const auto& [key, value] : request.provider_options) add("--provider-option", key + "=" + value);
  for (const auto& [key, value] : request.session_options) add("--session-option", key + "=" + value);
  if (request.threads) add("--threads", std::to_string(*request.threads));
  add("--graph-level", request.graph_level);
  add("--seed", std::to_string(request.seed));
  if (!request.ort_library.empty()) add("--ort-lib", request.ort_library);
  if (!request.run_file.empty()) add("--run-file", request.run_file);
  if (!request.optimized_file.empty()) add("--optimized-file", request.optimized_file);
  if (request.allow_fallback) words.emplace_back("--allow-fallback");
  return words;
}

std::vector<std::string> run_again(const std::string& program, const RunRequest& request, std::int64_t iterations,
                                   const std::string& sessions) {
  std::vector<std::string> words{program, "run"};
  const auto same = configuration_words(request);
  words.insert(words.end(), same.begin(), same.end());
  const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
  add("--warmup", "3");
  add("--iterations", std::to_string(iterations));
  add("--out", sessions);
  words.insert(words.end(), {"--no-report", "--json"});
  return words;
}

bool is_rocm_provider(const std::string& provider) {
  return provider.find("ROCM") != std::string::npos || provider.find("ROCm") != std::string::npos ||
         provider.find("MIGraphX") != std::string::npos;
}

}  // namespace aaco::workflows
