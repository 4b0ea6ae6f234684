#include "importers/stream/gpu_names.h"

#include <array>
#include <string>

namespace aaco::importers {
namespace {

struct Word {
  std::string_view word;  // in lower case without separators
  std::string_view name;
};

constexpr std::array<Word, 13> kDirections = {{
    {"htod", "h2d"},
    {"dtoh", "d2h"},
    {"dtod", "d2d"},
    {"ptop", "p2p"},
    {"htoh", "h2h"},
    {"htoa", "h2d"},
    {"atoh", "d2h"},
    {"hosttodevice", "h2d"},
    {"devicetohost", "d2h"},
    {"devicetodevice", "d2d"},
    {"hosttohost", "h2h"},
    {"peertopeer", "p2p"},
    {"p2p", "p2p"},
}};

constexpr std::array<Word, 9> kOperations = {{
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

std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name.substr(0, 200)) {
    if (c >= 'A' && c <= 'Z')
      letters += static_cast<char>(c + ('a' - 'A'));
    else if (c != '_' && c != '-' && c != ' ')
      letters += c;
  }
  return letters;
}

}  // namespace

std::string_view copy_direction_of(std::string_view name) {
  const std::string letters = letters_of(name);
  for (const auto& [word, kind] : kDirections)
    if (letters.find(word) != std::string::npos) return kind;
  return "unknown";
}

std::string_view call_without_version(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits < 1 || name.size() - digits < 5) return name;
  return name[digits] == 'v' && name[digits - 1] == '_' ? name.substr(0, digits - 1) : name;
}

std::string_view collective_operation_of(std::string_view name) {
  const std::string letters = letters_of(name);
  for (const auto& [word, operation] : kOperations)
    if (letters.find(word) != std::string::npos) return operation;
  for (const auto& [word, operation] :
       {Word{"send", "send"}, Word{"recv", "recv"}, Word{"ncclsend", "send"}, Word{"ncclrecv", "recv"}})
    if (letters == word) return operation;
  return {};
}

bool is_collective_kernel(std::string_view name) {
  return name.find("nccl") != std::string_view::npos || name.find("rccl") != std::string_view::npos ||
         name.find("mscclpp") != std::string_view::npos || name.find("mscclKernel") != std::string_view::npos;
}

trace::CollectiveRow collective_of(const trace::KernelRow& kernel, trace::NameId operation) {
  trace::CollectiveRow row;
  row.rank = kernel.rank;
  row.device = kernel.device;
  row.stream = kernel.stream;
  row.operation = operation;
  row.start_ns = kernel.start_ns;
  row.end_ns = kernel.end_ns;
  row.correlation_id = kernel.correlation_id;
  return row;
}

}  // namespace aaco::importers
