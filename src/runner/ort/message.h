#pragma once

#include <string>
#include <string_view>

namespace aaco::runner::ort {

struct ShortMessage {
  std::string text;
  std::string remedy;  // empty: none is known
};

// What an error of ONNX Runtime says, without the places and signatures of its source, the model's path where `doing` has it, and
// what it says of its own releases; with a remedy for errors that are known.
ShortMessage shorten(std::string_view message, std::string_view doing);

// A line that a build with two copies of ONNX's operators writes for each of them as it is loaded.
bool is_schema_noise(std::string_view line);

}  // namespace aaco::runner::ort
