#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/analyze.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

// The options of the verbs that predict: sizes of the model and conditions on the device. Texts until resolve() has checked them.
class PredictOptions {
 public:
  explicit PredictOptions(CLI::App& app);
  ~PredictOptions();
  // Everything but the model's name and the device.
  [[nodiscard]] core::Result<workflows::AnalyzeRequest> resolve() const;

 private:
  struct Texts;
  std::unique_ptr<Texts> texts_;
};

// Texts with commas between them as a list. Fails where one of them is empty: a name that was forgotten is not passed over.
core::Result<std::vector<std::string>> split_list(const std::vector<std::string>& texts, const std::string& option);

}  // namespace aaco::cli
