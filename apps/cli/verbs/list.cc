#include "cli/verbs/list.h"

namespace aaco::cli {

#define AACO_VERB(name) void add_##name(CLI::App& app, Context& context);
#include "cli/verbs/list.inc"
#undef AACO_VERB

void add_verbs(CLI::App& app, Context& context) {
#define AACO_VERB(name) add_##name(app, context);
#include "cli/verbs/list.inc"
#undef AACO_VERB
}

}  // namespace aaco::cli
