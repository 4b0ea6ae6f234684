#include "stats/boosted_trees/xgboost.h"

#ifdef AACO_HAS_XGBOOST

#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stats/boosted_trees/relative_loss.h"

namespace aaco::stats {
namespace {

using Node = BoostedTrees::Node;
using core::ErrorCode;

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

core::Status ok(int code) {
  if (code == 0) return {};
  return core::fail(ErrorCode::invalid_input, "XGBoost failed: " + std::string(XGBGetLastError()));
}

core::Result<Matrix> matrix_of(const FeatureTable& features, std::span<const float> targets, std::span<const float> weights) {
  DMatrixHandle handle = nullptr;
  AACO_TRY(ok(XGDMatrixCreateFromMat(features.values.data(), features.rows(), features.columns,
                                     std::numeric_limits<float>::quiet_NaN(), &handle)));
  Matrix matrix(handle);
  AACO_TRY(ok(XGDMatrixSetFloatInfo(handle, "label", targets.data(), targets.size())));
  if (!weights.empty()) AACO_TRY(ok(XGDMatrixSetFloatInfo(handle, "weight", weights.data(), weights.size())));
  return matrix;
}

// The score before the first tree: the library's own start would be 0.5 for everything.
double base_of(std::span<const float> targets, std::span<const float> weights, TreeLoss loss) {
  if (loss == TreeLoss::logistic || loss == TreeLoss::softmax) return 0;
  if (loss == TreeLoss::relative) {
    std::vector<float> sorted(targets.begin(), targets.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    sum += weight * targets[i];
    total += weight;
  }
  return sum / total;
}

// Below this many values a thread has so little to do that waiting for the other costs more.
constexpr std::size_t kValuesOfAThread = 200'000;

int threads_for(const FeatureTable& features, int most) {
  const std::size_t useful = 1 + features.values.size() / kValuesOfAThread;
  return useful < static_cast<std::size_t>(most) ? static_cast<int>(useful) : most;
}

core::Status set_all(BoosterHandle booster, const TreeSettings& s, int threads) {
  // The relative loss is ours: the library is told its gradients, and adds up answers as for squares.
  constexpr std::array<const char*, 5> kObjectives{"reg:squarederror", "reg:absoluteerror", "binary:logitraw", "multi:softprob",
                                                   "reg:squarederror"};
  std::vector<std::pair<const char*, std::string>> parameters{{"objective", kObjectives[static_cast<std::size_t>(s.loss)]},
                                                              {"tree_method", "hist"},
                                                              {"base_score", "0"},
                                                              {"verbosity", "0"},
                                                              {"max_depth", std::to_string(s.depth)},
                                                              {"eta", std::to_string(s.learning_rate)},
                                                              {"subsample", std::to_string(s.row_ratio)},
                                                              {"colsample_bytree", std::to_string(s.column_ratio)},
                                                              {"min_child_weight", std::to_string(s.least_weight)},
                                                              {"lambda", std::to_string(s.leaf_penalty)},
                                                              {"max_bin", std::to_string(s.bins)},
                                                              {"nthread", std::to_string(threads)},
                                                              {"seed", std::to_string(s.seed & 0x7fffffff)}};
  if (s.loss == TreeLoss::softmax) parameters.emplace_back("num_class", std::to_string(s.classes));
  if (!s.monotone.empty()) {
    std::string directions = "(";
    for (const int direction : s.monotone) directions += std::to_string(direction) + ",";
    directions.back() = ')';
    parameters.emplace_back("monotone_constraints", directions);
  }
  for (const auto& [name, value] : parameters) AACO_TRY(ok(XGBoosterSetParam(booster, name, value.c_str())));
  return {};
}

// One tree of the library's document, its nodes put in the order of a walk that goes left first.
class TreeReader {
 public:
  explicit TreeReader(const core::Json& tree)
      : left_(tree["left_children"]),
        right_(tree["right_children"]),
        feature_(tree["split_indices"]),
        value_(tree["split_conditions"]),
        missing_(tree["default_left"]) {}

  core::Status append(std::vector<Node>& nodes, std::int64_t at = 0) const {
    const auto left = integer(left_, at), right = integer(right_, at);
    const auto value = item(value_, at).as_f64();
    if (!left || !right || !value)
      return core::fail(ErrorCode::invalid_input, "XGBoost returned a tree in an unsupported format");
    const std::size_t mine = nodes.size();
    nodes.push_back({-1, static_cast<float>(*value), 0, false});
    if (*left < 0) return {};
    nodes[mine].feature = static_cast<std::int32_t>(integer(feature_, at).value_or(0));
    nodes[mine].missing_left = truth(at);
    AACO_TRY(append(nodes, *left));
    nodes[mine].right = static_cast<std::int32_t>(nodes.size());
    return append(nodes, *right);
  }

 private:
  static const core::Json& item(const core::Json& array, std::int64_t at) {
    static const core::Json kNothing;
    const auto& items = array.items();
    return at >= 0 && static_cast<std::size_t>(at) < items.size() ? items[static_cast<std::size_t>(at)] : kNothing;
  }
  static std::optional<std::int64_t> integer(const core::Json& array, std::int64_t at) { return item(array, at).as_i64(); }
  // Releases differ: true or 1.
  [[nodiscard]] bool truth(std::int64_t at) const {
    const core::Json& value = item(missing_, at);
    return value.as_bool().value_or(value.as_i64().value_or(0) != 0);
  }
  const core::Json &left_, &right_, &feature_, &value_, &missing_;
};

core::Result<BoostedTrees> trees_of(BoosterHandle booster, std::size_t columns, std::vector<double> bases) {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  AACO_TRY(ok(XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &length, &bytes)));
  AACO_ASSIGN(const core::Json document, core::Json::parse(std::string_view(bytes, length)));
  std::vector<Node> nodes;
  std::vector<std::int32_t> roots;
  for (const core::Json& tree : document["learner"]["gradient_booster"]["model"]["trees"].items()) {
    roots.push_back(static_cast<std::int32_t>(nodes.size()));
    AACO_TRY(TreeReader(tree).append(nodes));
  }
  return BoostedTrees::of(columns, std::move(bases), std::move(nodes), std::move(roots));
}

// One round of the relative loss.
core::Status pull_once(BoosterHandle booster, DMatrixHandle matrix, std::span<const float> targets,
                       std::span<const float> weights, Pull& pull) {
  constexpr const char* kAnswers =
      R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* answers = nullptr;
  AACO_TRY(ok(XGBoosterPredictFromDMatrix(booster, matrix, kAnswers, &shape, &dimensions, &answers)));
  if (dimensions < 1 || shape[0] != targets.size())
    return core::fail(ErrorCode::invalid_input, "XGBoost returned predictions for a different number of rows");
  pull_of({answers, targets.size()}, targets, weights, pull);
  return ok(XGBoosterBoostOneIter(booster, matrix, pull.gradients.data(), pull.curvatures.data(), targets.size()));
}

}  // namespace

core::Result<BoostedTrees> fit_by_library(const FeatureTable& features, std::span<const float> targets,
                                          const TreeSettings& settings, std::span<const float> weights) {
  const double base = base_of(targets, weights, settings.loss);
  std::vector<float> centred(targets.begin(), targets.end());
  for (float& target : centred) target -= static_cast<float>(base);
  AACO_ASSIGN(const Matrix matrix, matrix_of(features, centred, weights));
  DMatrixHandle handles[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  AACO_TRY(ok(XGBoosterCreate(handles, 1, &handle)));
  const Booster booster(handle);
  AACO_TRY(set_all(handle, settings, threads_for(features, settings.threads)));
  Pull pull;
  for (int round = 0; round < settings.rounds; ++round)
    AACO_TRY(settings.loss == TreeLoss::relative ? pull_once(handle, matrix.get(), centred, weights, pull)
                                                 : ok(XGBoosterUpdateOneIter(handle, round, matrix.get())));
  return trees_of(handle, features.columns, std::vector<double>(static_cast<std::size_t>(settings.classes), base));
}

}  // namespace aaco::stats

#else

namespace aaco::stats {

core::Result<BoostedTrees> fit_by_library(const FeatureTable& /*features*/, std::span<const float> /*targets*/,
                                          const TreeSettings& /*settings*/, std::span<const float> /*weights*/) {
  return core::fail(core::ErrorCode::unsupported, "this program was built without XGBoost and cannot fit boosted trees",
                    "rebuild with libxgboost-dev installed; calibrations fitted elsewhere can still be used");
}

}  // namespace aaco::stats

#endif
