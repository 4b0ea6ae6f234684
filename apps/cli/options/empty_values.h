#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

// Refuses empty values of all options of the program and its verbs: `--api-key-file ''`, mostly a variable of the shell without a
// value, would otherwise be as if the option were not there.
void refuse_empty_values(CLI::App& app);

}  // namespace aaco::cli
