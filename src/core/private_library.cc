#include "core/private_library.h"

#include "core/files.h"

namespace aaco::core {

std::string private_library(const Paths& paths, std::string_view file) {
  return join_path(join_path(parent_path(parent_path(paths.share)), "lib/aaco"), std::string(file));
}

}  // namespace aaco::core
