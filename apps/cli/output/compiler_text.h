#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/json.h"

// What the tables of `aaco compiler` are made of.
namespace aaco::cli {

struct Context;

inline constexpr std::size_t kMaxShown = 20;  // rows of a table

// The text with '*' for each number: names of one place in many layers become one.
std::string without_numbers(std::string_view text);
// Both texts are equal but for numbers: those that differ become '*'. `known`: the text of earlier ones, empty at first.
std::string merged(const std::string& known, const std::string& text);

std::string shown(const core::Json& text);
// The name under `key`, with the body that it is in.
std::string place_of(const core::Json& one, std::string_view key);
std::int64_t whole(const core::Json& number);
std::string counted(std::size_t count, std::string_view noun);

// Fused kernels that only one side has, and why: `against` of a level, a library or a model.
void print_fused_differences(const Context& context, const core::Json& against);

}  // namespace aaco::cli
