#include "workflows/compiler/compare_documents.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analytics/compiler_diff.h"
#include "core/strings.h"
#include "workflows/compiler/kernel_times.h"

namespace aaco::workflows {
namespace {

using analytics::compiler::NamedNode;
using core::Json;

// A node's name and the body that it is in.
using Key = std::pair<std::string, std::string>;
using Keys = std::set<Key>;

Key key_of(const Json& name, const Json& row) { return {std::string(name.text()), std::string(row["within"].text())}; }

Keys keys_of(const Json& fused) {
  Keys keys;
  for (const Json& node : fused["nodes"].items()) keys.insert(key_of(node, fused));
  return keys;
}

// Nodes of one side by those of the other.
class Pairs {
 public:
  Pairs(const Json& here, const Json& there) {
    const auto a = named(here), b = named(there);
    const auto pairs = analytics::compiler::pair_nodes(a, b);
    by_place_ = pairs.by_place;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (const auto& other = pairs.node[i]) {
        to_[key(a[i])] = key(b[*other]);
        from_[key(b[*other])] = key(a[i]);
      }
  }
  // Whether nodes without a name were paired, too.
  [[nodiscard]] bool by_place() const { return by_place_; }
  [[nodiscard]] const std::map<Key, Key>& way(bool back) const { return back ? from_ : to_; }

 private:
  static Key key(const NamedNode& node) { return {node.name, node.within}; }
  static std::vector<NamedNode> named(const Json& rows) {
    std::vector<NamedNode> out;
    for (const Json& row : rows.items())
      if (!row["node"].is_null())
        out.push_back({std::string(row["node"].text()), std::string(row["op_type"].text()), std::string(row["within"].text())});
    return out;
  }
  std::map<Key, Key> to_, from_;
  bool by_place_ = true;
};

// Of the nodes of a kernel, those that the other side has.
Keys over(const Keys& keys, const std::map<Key, Key>& way) {
  Keys out;
  for (const Key& key : keys)
    if (const auto found = way.find(key); found != way.end()) out.insert(found->second);
  return out;
}

// What the other side left apart that has most nodes of the kernel: the two nodes, or at least one of them and another of the
// match.
const Json* reason_among(const Keys& keys, const Json& not_fused) {
  const Json* best = nullptr;
  int most = 0;
  for (const Json& miss : not_fused.items()) {
    int of_match = 0;
    for (const Json& node : miss["nodes"].items()) of_match += keys.contains(key_of(node, miss)) ? 1 : 0;
    const int ends = (keys.contains(key_of(miss["first"], miss)) ? 1 : 0) + (keys.contains(key_of(miss["second"], miss)) ? 1 : 0);
    const int score = ends * 100 + of_match - (miss["reason"].text() == "unexplained" ? 50 : 0);
    if (ends > 0 && of_match > 1 && score > most) {
      most = score;
      best = &miss;
    }
  }
  return best;
}

// The kernels of these nodes, each with all of its nodes: "BatchNormalization+Relu"; and what became of those that have none.
// `wider`: one kernel computes all of them, and others.
Json kernels_of(const Keys& keys, const Json& rows, bool& wider) {
  std::set<std::string> kernels;
  std::size_t all = 0;
  for (const Json& row : rows.items())
    if (!row["node"].is_null() && !row["kernel"].is_null() && keys.contains(key_of(row["node"], row)))
      kernels.insert(std::string(row["kernel"].text()));
  for (const Json& row : rows.items())
    all += !row["node"].is_null() && !row["kernel"].is_null() && kernels.contains(std::string(row["kernel"].text())) ? 1 : 0;
  wider = kernels.size() == 1 && all > keys.size();
  std::map<std::string, std::vector<std::string>> operators;
  std::vector<std::string> order;
  for (const Json& row : rows.items()) {
    const bool is_of_kernel = !row["kernel"].is_null() && kernels.contains(std::string(row["kernel"].text()));
    if (row["node"].is_null() || (!is_of_kernel && !keys.contains(key_of(row["node"], row)))) continue;
    const std::string kernel = row["kernel"].is_null() ? "" : std::string(row["kernel"].text());
    const std::string label =
        kernel.empty() ? std::string(row["op_type"].text()) + " " + std::string(row["fate"].text()) : kernel;
    if (!operators.contains(label)) order.push_back(label);
    operators[label].emplace_back(kernel.empty() ? label : std::string(row["op_type"].text()));
  }
  Json out = Json::array();
  for (const std::string& one : order) out.push(operators[one].front() == one ? one : core::join(operators[one], "+"));
  return out;
}

Json explained(Json fused, const std::map<Key, Key>& way, const FusedSide& there) {
  const Keys keys = keys_of(fused), others = over(keys, way);
  Json absent = Json::array();
  for (const Key& key : keys)
    if (!way.contains(key)) absent.push(key.first);
  bool wider = false;
  fused.set("there", kernels_of(others, there.nodes, wider));
  if (wider) fused.set("wider_there", true);
  if (const Json* miss = reason_among(others, there.not_fused)) {
    for (const char* key : {"reason", "first", "second", "condition", "cause", "title", "remedy"})
      fused.set_if(key, (*miss)[key].is_null() ? Json() : (*miss)[key]);
  }
  if (!absent.items().empty()) fused.set("absent", std::move(absent));
  return fused;
}

Json only_in(const FusedSide& mine, const FusedSide& theirs, const std::map<Key, Key>& way) {
  std::set<Keys> known;
  for (const Json& one : theirs.fused.items()) known.insert(keys_of(one));
  Json out = Json::array();
  for (const Json& one : mine.fused.items()) {
    const Keys keys = keys_of(one), others = over(keys, way);
    if (others.size() != keys.size() || !known.contains(others)) out.push(explained(one, way, theirs));
  }
  return out;
}

Json compare_sides(const FusedSide& here, const FusedSide& there, const Pairs& pairs) {
  Json only_here = only_in(here, there, pairs.way(false)), only_there = only_in(there, here, pairs.way(true));
  set_changes(only_here, there.nodes);
  set_changes(only_there, here.nodes);
  return Json::object({{"kind", there.kind},
                       {"here", here.name},
                       {"there", there.name},
                       {"fused_here", here.fused.items().size()},
                       {"fused_there", there.fused.items().size()},
                       {"only_here", std::move(only_here)},
                       {"only_there", std::move(only_there)}})
      .set_if("call_here_ns", here.call_ns)
      .set_if("call_there_ns", there.call_ns);
}

const Json& row_of(const std::map<Key, const Json*>& rows, const Key& key) {
  static const Json kNone;
  const auto found = rows.find(key);
  return found == rows.end() ? kNone : *found->second;
}

std::map<Key, const Json*> rows_by_key(const Json& nodes) {
  std::map<Key, const Json*> rows;
  for (const Json& row : nodes.items())
    if (!row["node"].is_null()) rows[key_of(row["node"], row)] = &row;
  return rows;
}

// Nodes that one model has alone, and nodes of both whose operator or fate changed.
void set_nodes(Json& out, const Json& here, const Json& there, const Pairs& pairs) {
  const auto rows = rows_by_key(there);
  Json alone_here = Json::array(), alone_there = Json::array(), changed = Json::array();
  const auto node = [](const Json& row) {
    return Json::object({{"node", row["node"]}, {"op_type", row["op_type"]}, {"fate", row["fate"]}})
        .set_if("within", row["within"].is_null() ? Json() : row["within"]);
  };
  for (const Json& row : here.items()) {
    if (row["node"].is_null()) continue;
    const auto found = pairs.way(false).find(key_of(row["node"], row));
    if (found == pairs.way(false).end()) {
      alone_here.push(node(row));
      continue;
    }
    const Json& other = row_of(rows, found->second);
    const bool same = row["op_type"].text() == other["op_type"].text() && row["fate"].text() == other["fate"].text();
    if (same) continue;
    Json one = node(row);
    one.set("fate_there", other["fate"]);
    if (row["op_type"].text() != other["op_type"].text()) one.set("op_type_there", other["op_type"]);
    changed.push(std::move(one));
  }
  for (const Json& row : there.items())
    if (!row["node"].is_null() && !pairs.way(true).contains(key_of(row["node"], row))) alone_there.push(node(row));
  out.set("nodes_here", std::move(alone_here)).set("nodes_there", std::move(alone_there)).set("changed", std::move(changed));
}

// Where a document says which nodes a provider took; null: it does not.
const Json& placement_of_document(const Json& document) {
  static const Json kNone;
  if (document["placement"].is_object()) return document["placement"];
  const auto kind = document["against"]["kind"].text();
  return kind == "backend" || kind == "provider" ? document["against"] : kNone;
}

std::map<Key, const Json*> refused_by_key(const Json& placement) {
  std::map<Key, const Json*> out;
  for (const Json& one : placement["refused"].items()) out[key_of(one["node"], one)] = &one;
  return out;
}

// Nodes that a provider takes in one model and not in the other, with the reason.
void set_moved(Json& out, const Json& here, const Json& there, const Pairs& pairs) {
  const Json &a = placement_of_document(here), &b = placement_of_document(there);
  if (!a.is_object() || !b.is_object() || a["there"].text() != b["there"].text()) return;
  const auto left_here = refused_by_key(a), left_there = refused_by_key(b);
  Json moved = Json::array();
  const auto push = [&](const Json& row, bool away) {
    Json one = row;
    moved.push(
        one.set("from", away ? a["there"] : Json("another provider")).set("to", away ? Json("another provider") : a["there"]));
  };
  for (const auto& [key, row] : left_there)
    if (const auto found = pairs.way(true).find(key); found != pairs.way(true).end() && !left_here.contains(found->second))
      push(*row, true);
  for (const auto& [key, row] : left_here)
    if (const auto found = pairs.way(false).find(key); found != pairs.way(false).end() && !left_there.contains(found->second))
      push(*row, false);
  out.set("provider", a["there"]).set("moved", std::move(moved));
  if (a["nodes_by_provider"].is_object()) out.set("providers_here", a["nodes_by_provider"]);
  if (b["nodes_by_provider"].is_object()) out.set("providers_there", b["nodes_by_provider"]);
}

// The counts of the level that a document is about.
const Json& counts_of(const Json& document) {
  static const Json kNone;
  for (const Json& level : document["levels"].items())
    if (level["level"].text() == document["level"].text()) return level;
  return kNone;
}

std::string runtime_of(const Json& document) {
  return "ONNX Runtime " + std::string(document["runtime"]["version"].text()) + ", " +
         std::string(document["runtime"]["provider"].text()) + ", level " + std::string(document["level"].text());
}

}  // namespace

FusedSide library_side(const Json& document) {
  return {"library",
          "ONNX Runtime " + std::string(document["runtime"]["version"].text()),
          document["fused"],
          document["compiler_nodes"],
          document["not_fused"],
          document["timed"]["call_ns"].as_f64()};
}

Json compare_fused(const FusedSide& here, const FusedSide& there) {
  return compare_sides(here, there, Pairs(here.nodes, there.nodes));
}

Json compare_documents(const Json& here, const Json& there) {
  FusedSide a = library_side(here), b = library_side(there);
  a.name = here["model"].text();
  b.name = there["model"].text();
  b.kind = "model";
  const Pairs pairs(a.nodes, b.nodes);
  Json out = compare_sides(a, b, pairs);
  out.set("runtime_here", runtime_of(here)).set("runtime_there", runtime_of(there));
  out.set("counts_here", counts_of(here)).set("counts_there", counts_of(there));
  set_nodes(out, a.nodes, b.nodes, pairs);
  if (!pairs.by_place()) out.set("paired_by_name_only", true);
  set_moved(out, here, there, pairs);
  return out;
}

}  // namespace aaco::workflows
