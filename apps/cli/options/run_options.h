#pragma once

#include <memory>

#include "workflows/run.h"
#include "workflows/services.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// The options that say what to run and how to measure it, as `run`, `sweep` and the comparing verbs share them. They are texts
// until resolve() has checked them.
class RunOptions {
 public:
  explicit RunOptions(CLI::App& app);
  ~RunOptions();
  // Once parsed: whether a model was given, as an option or by itself.
  [[nodiscard]] bool names_model() const;
  // The request, or what is wrong with which option. Options that were not given are those of `base`; of another model without
  // its inputs and shapes.
  [[nodiscard]] core::Result<workflows::RunRequest> resolve(const workflows::RunRequest& base = {}) const;

 private:
  struct Texts;
  std::unique_ptr<Texts> texts_;
};

workflows::Services make_services(const Context& context);
// "500ms"; refused by the option's name where it is no time above zero.
core::Result<core::Nanoseconds> parse_time(const std::string& text, std::string_view option);

// Restarts the program under the loader of the request's ONNX Runtime build, if it has one; `request` then names its library.
core::Status enter_build(workflows::RunRequest& request, const Context& context);

}  // namespace aaco::cli
