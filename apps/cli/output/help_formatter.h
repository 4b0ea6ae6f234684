#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace aaco::cli {

// Help that fits the terminal: descriptions wrap in their column, and on a narrow terminal stand below the names. Indented lines
// of texts (examples) stay as they are written, so that they can be copied. All of the layout is decided here, since versions of
// CLI11 differ in theirs.
class HelpFormatter final : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(int width);

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  [[nodiscard]] std::string row(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string option_row(const CLI::Option* option, bool positional) const;
  [[nodiscard]] std::string options(const CLI::App* app) const;
  [[nodiscard]] std::string commands(const CLI::App* app) const;

  int width_;
};

}  // namespace aaco::cli
