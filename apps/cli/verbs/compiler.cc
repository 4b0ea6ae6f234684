#include "workflows/compiler.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "cli/output/compiler_output.h"
#include "core/environment.h"

namespace aaco::cli {

void add_compiler(CLI::App& app, Context& context) {
  struct Options {
    workflows::CompilerRequest request;
    bool this_level = false, json = false, no_store = false;
  };
  CLI::App* verb =
      app.add_subcommand("compiler", "Show what ONNX Runtime's graph optimiser does to a model, and what it does not fuse");
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<RunOptions>(*verb);
  for (const char* other :
       {"--warmup", "--iterations", "--duration", "--precision", "--isolate", "--isolate-set", "--drop-disturbed", "--telemetry",
        "--ebpf", "--telemetry-period", "--profile", "--profile-domains", "--counters"})
    if (CLI::Option* found = verb->get_option_no_throw(other)) verb->remove_option(found);
  verb->add_option(
          "--against", options->request.against,
          "Compare with another model (file or name), another level (disabled, basic, extended, all), another libonnxruntime.so "
          "or "
          "fetched build (1.20.1), or a provider: dnnl, xnnpack (run here), migraphx, tensorrt, edgetpu, hailo (by their lists)")
      ->type_name("MODEL|LEVEL|LIB|PROVIDER");
  verb->add_flag("--time", options->request.timed, "Also run the model with the profiler on: time per kernel");
  verb->add_flag("--this-level", options->this_level, "Optimise at --graph-level only");
  verb->add_option("-o,--out", options->request.folder,
                   "Folder for compiler.json, compiler_nodes.parquet and the optimised graphs")
      ->type_name("DIR");
  verb->add_flag("--no-store", options->no_store, "Do not store a session");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n"
      "  aaco compiler resnet50\n"
      "  aaco compiler net.onnx --against changed.onnx   (what fuses in one and not in the other, and why)\n"
      "  aaco compiler net.onnx --against basic\n"
      "  aaco compiler net.onnx --against libonnxruntime.so.1.17.3\n"
      "  aaco compiler net.onnx --against migraphx --json\n"
      "  aaco compiler net.onnx --time --against 1.20.1\n\n"
      "The model is loaded, and run only with --time. A fusion is reported as missed only if ONNX Runtime did leave the two "
      "nodes apart; the\n"
      "reason is an id in data/rules/compiler.yaml. --batch, --dim and --shape fix these sizes for the optimiser. 'aaco diff A "
      "B' "
      "compares two\nstored sessions of this verb.");
  verb->callback([&context, run, options] {
    auto request = run->resolve();
    if (!request) return context.fail(request.error());
    options->request.run = *request;
    if (const auto entered = enter_build(options->request.run, context); !entered) return context.fail(entered.error());
    options->request.every_level = !options->this_level;
    options->request.program = {core::executable_path(), "compiler"};
    const auto document = workflows::inspect_compiler(options->request, make_services(context));
    context.progress("");
    if (!document) return context.fail(document.error());
    options->json ? context.print_json(*document) : print_compiler(context, *document);
    if (options->no_store) return;
    const auto session = workflows::store_compiler(*document, options->request, make_services(context));
    if (!session) return context.note("warning: no session: " + session.error().message);
    context.note("session  " + session->path);
    if (!options->json) context.note("hint: 'aaco report latest --html compiler.html' draws the graph before and after");
  });
}

}  // namespace aaco::cli
