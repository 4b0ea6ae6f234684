#include <bit>
#include <string>
#include <utility>

#include "stats/boosted_trees.h"
#include "stats/boosted_trees/base64.h"

// Nodes as bytes, little endian: the feature in one byte (255: a leaf), the value in four (float), and of a split the distance to
// its right node in two, the top bit of which says that missing values go left. Trees follow each other; a tree ends where its
// last open split has both sides.
namespace aaco::stats {
namespace {

using Node = BoostedTrees::Node;
using core::ErrorCode;

constexpr unsigned kLeaf = 255, kMostColumns = 254, kMissingLeft = 0x8000, kMostDistance = 0x7fff;

void put(std::string& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 255U);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  core::Result<std::uint32_t> take(std::size_t count) {
    if (bytes_.size() - at_ < count) return core::fail(ErrorCode::invalid_input, "packed trees end inside a node");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
    at_ += count;
    return value;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

core::Result<Node> take_node(Reader& reader, std::int32_t at) {
  AACO_ASSIGN(const std::uint32_t feature, reader.take(1));
  AACO_ASSIGN(const std::uint32_t value, reader.take(4));
  Node node{feature == kLeaf ? -1 : static_cast<std::int32_t>(feature), std::bit_cast<float>(value), 0, false};
  if (feature == kLeaf) return node;
  AACO_ASSIGN(const std::uint32_t right, reader.take(2));
  node.missing_left = (right & kMissingLeft) != 0;
  node.right = at + static_cast<std::int32_t>(right & kMostDistance);
  return node;
}

}  // namespace

core::Json BoostedTrees::to_json() const {
  std::string bytes;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    put(bytes, node.feature < 0 ? kLeaf : static_cast<std::uint32_t>(node.feature), 1);
    put(bytes, std::bit_cast<std::uint32_t>(node.value), 4);
    if (node.feature < 0) continue;
    put(bytes, (static_cast<std::uint32_t>(node.right) - static_cast<std::uint32_t>(i)) | (node.missing_left ? kMissingLeft : 0),
        2);
  }
  core::Json document = core::Json::object({{"columns", columns_}, {"trees", roots_.size()}});
  core::Json bases = core::Json::array();
  for (const double base : bases_) bases.push(base);
  document.set("bases", std::move(bases));
  document.set("nodes", to_base64(bytes));
  return document;
}

core::Result<BoostedTrees> BoostedTrees::from_json(const core::Json& document) {
  const auto columns = document["columns"].as_i64();
  const auto trees = document["trees"].as_i64();
  if (!columns || !trees || !document["nodes"].is_string() || !document["bases"].is_array() || *columns < 1 ||
      *columns > kMostColumns)
    return core::fail(ErrorCode::invalid_input, "trees need columns (1 to 254), trees, bases and nodes");
  std::vector<double> bases;
  for (const core::Json& base : document["bases"].items()) {
    const auto value = base.as_f64();
    if (!value) return core::fail(ErrorCode::invalid_input, "the base score of trees is no number");
    bases.push_back(*value);
  }
  AACO_ASSIGN(const std::string bytes, from_base64(document["nodes"].text()));
  Reader reader(bytes);
  std::vector<Node> nodes;
  std::vector<std::int32_t> roots;
  while (!reader.done()) {
    roots.push_back(static_cast<std::int32_t>(nodes.size()));
    for (std::int64_t open = 1; open > 0;) {
      AACO_ASSIGN(const Node node, take_node(reader, static_cast<std::int32_t>(nodes.size())));
      nodes.push_back(node);
      open += node.feature < 0 ? -1 : 1;
    }
  }
  if (static_cast<std::int64_t>(roots.size()) != *trees)
    return core::fail(ErrorCode::invalid_input,
                      std::to_string(roots.size()) + " trees are packed where " + std::to_string(*trees) + " should be");
  return of(static_cast<std::size_t>(*columns), std::move(bases), std::move(nodes), std::move(roots));
}

}  // namespace aaco::stats
