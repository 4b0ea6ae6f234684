#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/serve.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

// --serve of the verbs that predict, and what comes with it.
class ServeOptions {
 public:
  explicit ServeOptions(CLI::App& app);
  ~ServeOptions();
  [[nodiscard]] bool asked() const;
  // The request for these models and devices. `batch`, `weights`: of --batch and --dtype; empty: not given.
  [[nodiscard]] core::Result<workflows::ServeRequest> resolve(std::vector<std::string> models, std::vector<std::string> hardware,
                                                              std::optional<std::int64_t> batch,
                                                              const std::string& weights) const;
  // Fails where an option of --serve was given without it.
  [[nodiscard]] core::Status refuse_without_serve() const;
  // Fails where an option was given that an estimate of a served model does not know.
  [[nodiscard]] core::Status refuse_with_serve() const;

 private:
  struct Texts;
  std::unique_ptr<Texts> texts_;
  CLI::App* app_;
};

// The points as --format has it: text (lines of at most `width` columns), json, csv, md, html.
std::string serving_text(const std::vector<workflows::ServedPoint>& points, const workflows::ServeRequest& request,
                         const std::string& format, int width);

}  // namespace aaco::cli
