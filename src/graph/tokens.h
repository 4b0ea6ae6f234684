#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "graph/graph.h"

namespace aaco::graph {

// An input of token ids of a bound graph.
struct Tokens {
  std::string input;
  std::vector<std::int64_t> shape;  // [batch, new tokens of each], or one sequence
  std::int64_t vocabulary = 0;      // rows of the table that the ids pick from
  std::int64_t count = 0;           // in one run, padding among them; tokens of the past are not in it
  bool operator==(const Tokens&) const = default;
};

// Integer inputs of one or two dimensions whose values pick rows of a constant table, where that they are tokens is known: by the
// name that exporters give them (input_ids, token_ids, tokens ...), else because an output has as many columns as the largest
// such table has rows (the scores of the next token). None: no language model, or one whose tokens come in as vectors; several:
// what a token of it is (a word read or a word written) this does not tell.
std::vector<Tokens> token_inputs(const Graph& bound);

core::Json to_json(const Tokens& tokens);

}  // namespace aaco::graph
