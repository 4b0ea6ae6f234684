#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/yaml.h"

namespace {

// Every node knows its line, and asking for any kind of value answers or refuses.
void visit(const aaco::core::YamlNode& node) {
  if (node.where().empty()) std::abort();
  (void)node.as_i64();
  (void)node.as_f64();
  (void)node.as_bool();
  (void)node.as_strings();
  (void)node.only_keys({"path", "input_shapes"});
  for (const auto& item : node.items()) visit(item);
  for (const auto& [key, value] : node.entries()) visit(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto node = aaco::core::YamlNode::parse({reinterpret_cast<const char*>(data), size}, "fuzz.yaml")) visit(*node);
  return 0;
}
