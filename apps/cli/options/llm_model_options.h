#pragma once

#include "core/result.h"
#include "workflows/llm.h"
#include "workflows/llm_model.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

// The options of `llm` that only a model in this process has. Those it shares with a server's load are in the LlmRequest.
struct LlmModelOptions {
  workflows::LlmModelRequest request;
  std::vector<std::string> provider_options;
  bool no_curve = false;
};
void add_llm_model_options(CLI::App& verb, LlmModelOptions& options);

// The request, or what is wrong with which option. Options of the other mode are refused. `shared`: as the verb parsed it.
core::Result<workflows::LlmModelRequest> resolve_llm_model(const CLI::App& verb, const LlmModelOptions& options,
                                                           const workflows::LlmRequest& shared);
// With --url: that no option of a model in this process is given.
core::Status refuse_llm_model_options(const CLI::App& verb);

}  // namespace aaco::cli
