#include "tracelake/store/manifest_seal.h"

#include "core/hash.h"

namespace aaco::tracelake::store {
namespace {

// As Json::dump() indents the last member of a document, and closes it.
constexpr std::string_view kBefore = ",\n  \"seal\": \"", kBehind = "\"\n}\n", kClosing = "\n}";

}  // namespace

std::string sealed(const core::Json& manifest) {
  std::string text = manifest.dump();
  text.resize(text.size() - kClosing.size());
  const std::string hash = core::sha256_hex(text);
  return text.append(kBefore).append(hash).append(kBehind);
}

Seal seal_of(std::string_view text) {
  const auto at = text.rfind(kBefore);
  if (at == std::string_view::npos) {
    const auto document = core::Json::parse(text);
    return document && document->contains("seal") ? Seal::broken : Seal::missing;
  }
  const std::string expected = core::sha256_hex(text.substr(0, at)) + std::string(kBehind);
  return text.substr(at + kBefore.size()) == expected ? Seal::whole : Seal::broken;
}

}  // namespace aaco::tracelake::store
