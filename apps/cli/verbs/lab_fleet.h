#pragma once

namespace CLI {
class App;
}

namespace aaco::cli {

struct Context;
void add_lab_fleet(CLI::App& lab, Context& context);

}  // namespace aaco::cli
