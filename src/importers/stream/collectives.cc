#include "importers/stream/collectives.h"

#include <array>
#include <string>

namespace aaco::importers {
namespace {

struct Operation {
  std::string_view word;  // in lower case without separators
  std::string_view name;
};
constexpr std::array<Operation, 9> kOperations = {{
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"alltoall", "all_to_all"},
    {"broadcast", "broadcast"},
    {"barrier", "barrier"},
    {"sendrecv", "send_recv"},
    {"reduce", "reduce"},
    {"gather", "gather"},
}};

}  // namespace

bool is_collective(std::string_view kernel_name) {
  return kernel_name.find("nccl") != std::string_view::npos || kernel_name.find("rccl") != std::string_view::npos ||
         kernel_name.find("mscclpp") != std::string_view::npos || kernel_name.find("mscclKernel") != std::string_view::npos;
}

std::string_view collective_operation(std::string_view name) {
  std::string letters;
  for (char c : name.substr(0, 200)) {
    if (c >= 'A' && c <= 'Z')
      letters += static_cast<char>(c + ('a' - 'A'));
    else if (c != '_' && c != '-' && c != ' ')
      letters += c;
  }
  for (const auto& [word, operation] : kOperations)
    if (letters.find(word) != std::string::npos) return operation;
  if (letters == "send" || letters == "recv") return letters == "send" ? "send" : "recv";
  return {};
}

}  // namespace aaco::importers
