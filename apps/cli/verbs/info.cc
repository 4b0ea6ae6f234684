#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "workflows/doctor.h"

namespace aaco::cli {
namespace {

std::string scalar_text(const core::Json& value) {
  if (value.is_string()) return std::string(value.text());
  return value.dump(-1);
}

// A document as indented "key  value" lines.
void print_tree(const Context& context, const core::Json& document, int depth) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  for (const auto& [key, value] : document.members()) {
    const bool nested = value.is_object() || (value.is_array() && !value.items().empty() && value.items()[0].is_object());
    if (!nested) {
      context.print(fmt::format("{}{:<{}} {}\n", indent, key, std::max(4, 30 - depth * 2), scalar_text(value)));
      continue;
    }
    context.print(fmt::format("{}{}\n", indent, key));
    if (value.is_object()) print_tree(context, value, depth + 1);
    for (const auto& item : value.items()) {
      print_tree(context, item, depth + 1);
      if (&item != &value.items().back()) context.print("\n");
    }
  }
}

}  // namespace

void add_info(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("info", "Show this machine: CPU, GPUs, execution providers, available collectors");
  auto json = std::make_shared<bool>(false);
  auto library = std::make_shared<std::string>();
  verb->add_flag("--json", *json, "Print JSON");
  verb->add_option("--ort-lib", *library, "ONNX Runtime library to check");
  verb->callback([&context, json, library] {
    const auto document = workflows::describe_machine(make_services(context), *library);
    if (*json) return context.print_json(document);
    print_tree(context, document, 0);
  });
}

}  // namespace aaco::cli
