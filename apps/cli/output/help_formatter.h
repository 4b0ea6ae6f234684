#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aaco::cli {

// Help that fits the terminal: descriptions wrap in their column, and on a narrow terminal stand below the names. Indented lines
// of texts (examples) stay as they are written, so that they can be copied.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(int width);

  std::string make_option_name(const CLI::Option* option, bool positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_usage(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  int width_;
};

}  // namespace aaco::cli
