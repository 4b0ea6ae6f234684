#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "graph/tflite/flat_table.h"

namespace aaco::graph::tflite {

// A program of the file by the name that its users call it by.
struct Signature {
  std::string name;
  std::uint64_t subgraph = 0;
};
std::vector<Signature> signatures_of(const FlatTable& model);

struct Chosen {
  std::uint64_t subgraph = 0;
  std::string assumption;  // where the file has several and none was asked for
};
// `entry`: the signature asked for; empty: the first graph, which the interpreter runs unless told otherwise. Fails with
// invalid_argument for a signature that the file does not have, naming those it has.
core::Result<Chosen> choose_signature(const std::vector<Signature>& signatures, const std::string& entry,
                                      const std::string& file);

}  // namespace aaco::graph::tflite
