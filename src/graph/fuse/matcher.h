#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/fuse.h"
#include "graph/near_miss.h"

namespace aaco::graph {

// Whether the node's first two operands may be in either order.
bool commutes(const Node& node);

// Who makes and who reads each tensor. With known shapes the Shape and Size of a tensor of fixed size is a constant: providers
// evaluate them before they decide.
struct Links {
  enum class Shapes : std::uint8_t { computed, known };
  std::vector<std::int32_t> producer;             // by tensor: node, -1 for none
  std::vector<std::vector<std::size_t>> readers;  // by tensor: nodes
  std::vector<bool> constant;                     // by tensor: a weight that is not overridable, or computed from such alone
  std::vector<bool> kept;                         // by tensor: an output of the graph, or read inside a body
  std::vector<bool> output;                       // by tensor: an output of the graph
  // By name of a tensor that bodies read: the node with the body, and who reads it there: "'tanh' in then_branch".
  struct Inside {
    std::size_t owner = 0;
    std::string reader;
  };
  std::map<std::string, Inside, std::less<>> inside;
  explicit Links(const Graph& graph, Shapes shapes = Shapes::computed);
};

// A result inside a group that is needed outside of it.
struct Leak {
  std::size_t node = 0;
  std::optional<std::size_t> reader;  // empty: it is an output of the graph
  std::string inside;                 // of a reader in a body: who it is, "'tanh' in then_branch"; `reader` has the body
};
// The first of `nodes` but `last` that has one.
std::optional<Leak> find_leak(const Graph& graph, const Links& links, const std::set<std::size_t>& nodes, std::size_t last);

// The nodes that fit a pattern whose last step is `anchor`, by step; a step that is left out has none.
using Match = std::map<std::string, std::size_t>;
std::optional<Match> match_pattern(const Graph& graph, const Links& links, const FusionPattern& pattern, std::size_t anchor);

// What keeps nodes from fitting a pattern.
struct Deviation {
  std::string reason;                   // node_between, operand_not_constant, operator_not_covered
  std::optional<std::size_t> producer;  // of the operand that does not fit
  std::size_t consumer = 0;
  std::optional<std::size_t> cause;  // the node in between
  TensorId operand;                  // that does not fit
  std::vector<std::string> wanted;   // operators that the pattern has there
};
struct LooseMatch {
  Match steps;
  std::optional<Deviation> deviation;  // empty: they fit, as seen through the transparent operators
};
// The same with at most one deviation.
std::optional<LooseMatch> match_loosely(const Graph& graph, const Links& links, const FusionPattern& pattern, std::size_t anchor,
                                        const FusionSlack& slack);

}  // namespace aaco::graph
