#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::importers::migraphx {

// One line of a printed program: NAME = OPERATOR[attributes](arguments) -> shape: 0.2ms, 52%. Texts point into the line.
struct Instruction {
  std::string_view name;        // "@5", "main:@5", "x"
  std::string_view op;          // "gpu::gemm", "@param:x", "@literal"
  std::string_view attributes;  // what stands in the brackets
  std::vector<std::string_view> arguments;
  std::string_view data_type;               // "float_type"; "tuple" of several shapes; empty where there is none ("@return")
  std::string_view lengths;                 // "1, 128"
  std::string_view symbols;                 // debug symbols: names of the model's nodes, or empty
  std::optional<std::int64_t> duration_ns;  // average of a perf report
};

// Empty where the line is none.
std::optional<Instruction> parse_instruction(std::string_view line);

// The value of an attribute ("symbol_name"), or empty.
std::string_view attribute(std::string_view attributes, std::string_view key);

// "1, 128" as numbers; empty for dimensions that are no numbers ("[1..4]").
std::optional<std::vector<std::int64_t>> parse_lengths(std::string_view lengths);

// "0.212592ms" in ns.
std::optional<std::int64_t> parse_milliseconds(std::string_view text);

}  // namespace aaco::importers::migraphx
