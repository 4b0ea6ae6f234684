#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

struct Context;

// Each adds one verb to the program; the verb runs when its subcommand was parsed, and leaves its exit code in the context.
void add_run(CLI::App& app, Context& context);
void add_record(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_sweep(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_ab(CLI::App& app, Context& context);
void add_ab_worker(CLI::App& app, Context& context);
void add_capsule(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_ls(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_history(CLI::App& app, Context& context);
void add_roofline(CLI::App& app, Context& context);
void add_baseline(CLI::App& app, Context& context);
void add_gate(CLI::App& app, Context& context);
void add_sla(CLI::App& app, Context& context);
void add_store(CLI::App& app, Context& context);  // verify, rm, pack, unpack, gc
void add_query(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_zoo(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_hardware(CLI::App& app, Context& context);
void add_analyze(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_benchmark(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_info(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

}  // namespace aaco::cli
