#pragma once

#include <string>

#include "cli/context.h"

namespace aaco::cli {

struct CorpusOptions {
  std::string folder;  // of the cases; empty: not asked for
  std::string data;
  bool show_held = false;
};
void score_against_corpus(Context& context, const CorpusOptions& options, bool json);

}  // namespace aaco::cli
