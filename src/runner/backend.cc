#include "runner/backend.h"

#include <array>

namespace aaco::runner {
namespace {

struct TypeFacts {
  ElementType type;
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<TypeFacts, 15> kTypes = {{{ElementType::float32, "float32", 4},
                                               {ElementType::float16, "float16", 2},
                                               {ElementType::bfloat16, "bfloat16", 2},
                                               {ElementType::float64, "float64", 8},
                                               {ElementType::int8, "int8", 1},
                                               {ElementType::uint8, "uint8", 1},
                                               {ElementType::int16, "int16", 2},
                                               {ElementType::uint16, "uint16", 2},
                                               {ElementType::int32, "int32", 4},
                                               {ElementType::uint32, "uint32", 4},
                                               {ElementType::int64, "int64", 8},
                                               {ElementType::uint64, "uint64", 8},
                                               {ElementType::boolean, "bool", 1},
                                               {ElementType::string, "string", 0},
                                               {ElementType::unknown, "unknown", 0}}};

}  // namespace

std::string_view to_string(ElementType type) {
  for (const TypeFacts& facts : kTypes)
    if (facts.type == type) return facts.name;
  return "unknown";
}

std::int64_t element_size(ElementType type) {
  for (const TypeFacts& facts : kTypes)
    if (facts.type == type) return facts.size;
  return 0;
}

}  // namespace aaco::runner
