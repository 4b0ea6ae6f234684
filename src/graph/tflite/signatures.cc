#include "graph/tflite/signatures.h"

#include <algorithm>

#include "core/strings.h"
#include "graph/tflite/schema.h"

namespace aaco::graph::tflite {
namespace {

std::string names_of(const std::vector<Signature>& signatures) {
  std::vector<std::string> names;
  for (const Signature& signature : signatures) names.push_back(signature.name);
  return core::join(names, ", ");
}

}  // namespace

std::vector<Signature> signatures_of(const FlatTable& model) {
  using Field = schema::SignatureDef;
  std::vector<Signature> signatures;
  const auto held = model.vector(static_cast<int>(schema::Model::signatures), 4);
  constexpr std::uint64_t kMax = 4096;
  for (std::uint64_t number = 0; number < std::min(held.count, kMax); ++number) {
    const FlatTable item = model.element(held, number);
    if (!item.valid()) break;
    signatures.push_back(
        {item.text(static_cast<int>(Field::key)), item.unsigned_number(static_cast<int>(Field::subgraph), 4, 0)});
  }
  return signatures;
}

core::Result<Chosen> choose_signature(const std::vector<Signature>& signatures, const std::string& entry,
                                      const std::string& file) {
  if (!entry.empty()) {
    const auto found =
        std::find_if(signatures.begin(), signatures.end(), [&](const Signature& item) { return item.name == entry; });
    if (found != signatures.end()) return Chosen{found->subgraph, {}};
    return core::fail(core::ErrorCode::invalid_argument, file + " has no signature '" + entry + "'",
                      signatures.empty() ? "it has no signatures: remove the '#' and everything after it"
                                         : "its signatures: " + names_of(signatures));
  }
  const bool several = std::any_of(signatures.begin(), signatures.end(),
                                   [&](const Signature& item) { return item.subgraph != signatures.front().subgraph; });
  if (!several) return Chosen{};
  const auto first = std::find_if(signatures.begin(), signatures.end(), [](const Signature& item) { return item.subgraph == 0; });
  return Chosen{0, "the file has several signatures (" + names_of(signatures) + "): " +
                       (first == signatures.end() ? "its first graph, which has no signature," : "'" + first->name + "'") +
                       " was used; choose a different one with FILE#NAME"};
}

}  // namespace aaco::graph::tflite
