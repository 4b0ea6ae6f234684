#include <algorithm>

#include "core/yaml.h"
#include "estimation/models.h"
#include "estimation/roofline.h"

namespace aaco::estimation {
namespace {

// Backwards a product is two products of its size, and an elementwise step reads the gradient beside what it read forwards.
constexpr double kBackwardProducts = 2;

struct Sum {
  const DeviceFacts& device;
  const std::string& type;
  bool training = false;
  double element = 4;
  ModelTerms terms;

  core::Status product(Term term, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, double times) {
    AACO_ASSIGN(const Roofline roof, roofline(Kernel{GemmShape{batch, m, n, k}, type}, device));
    terms[term] += roof.seconds() * times * (training ? 1 + kBackwardProducts : 1);
    return {};
  }
  // `operands`: elements read and written for each of `count`.
  void step(double count, double operands, double times) {
    const double passes = training ? operands + operands + 1 : operands;
    terms[Term::moved] += count * passes * element / device.memory_bytes_per_s * times;
  }
};

core::Result<Transformer> read_one(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"name", "aliases", "layers", "hidden", "heads", "inner", "vocabulary", "joint_projection", "head",
                           "score_steps", "activation_steps"}));
  Transformer model;
  AACO_ASSIGN(model.name, node.require_string("name"));
  if (const core::YamlNode* aliases = node.find("aliases")) {
    AACO_ASSIGN(model.aliases, aliases->as_strings());
  }
  const auto size = [&](const char* key) -> core::Result<std::int64_t> {
    AACO_ASSIGN(const std::int64_t value, node.require_i64(key));
    if (value < 1) return node.error(std::string(key) + " is below 1");
    return value;
  };
  AACO_ASSIGN(model.layers, size("layers"));
  AACO_ASSIGN(model.hidden, size("hidden"));
  AACO_ASSIGN(model.heads, size("heads"));
  AACO_ASSIGN(model.inner, size("inner"));
  AACO_ASSIGN(model.vocabulary, size("vocabulary"));
  AACO_ASSIGN(model.score_steps, size("score_steps"));
  AACO_ASSIGN(model.activation_steps, size("activation_steps"));
  AACO_ASSIGN(const auto joint, node.optional_bool("joint_projection"));
  AACO_ASSIGN(const auto head, node.optional_bool("head"));
  model.joint_projection = joint.value_or(false);
  model.head = head.value_or(false);
  if (model.hidden % model.heads != 0) return node.error("the hidden size is not a multiple of the number of heads");
  return model;
}

}  // namespace

double Transformer::parameters() const {
  const auto width = static_cast<double>(hidden);
  const double layer = 4 * width * width + 2 * width * static_cast<double>(inner);
  return static_cast<double>(layers) * layer + static_cast<double>(vocabulary) * width;
}

core::Result<std::vector<Transformer>> load_transformers(const std::string& path) {
  AACO_ASSIGN(const core::YamlNode root, core::YamlNode::load(path));
  AACO_TRY(root.only_keys({"schema_version", "source", "transformers"}));
  AACO_ASSIGN(const auto version, root.require_i64("schema_version"));
  if (version != 1) return root.error("unsupported schema_version " + std::to_string(version), "use a newer version of AACO");
  AACO_TRY(root.require_string("source"));
  AACO_ASSIGN(const core::YamlNode* list, root.require("transformers"));
  std::vector<Transformer> models;
  for (const core::YamlNode& item : list->items()) {
    AACO_ASSIGN(Transformer model, read_one(item));
    models.push_back(std::move(model));
  }
  return models;
}

core::Result<ModelTerms> terms_of(const Transformer& model, std::int64_t batch, std::int64_t tokens, bool training,
                                  const std::string& type, const DeviceFacts& device) {
  if (batch < 1 || tokens < 1)
    return core::fail(core::ErrorCode::invalid_argument,
                      model.name + " requires a batch size and a sequence length of at least 1");
  const auto layers = static_cast<double>(model.layers);
  const std::int64_t rows = batch * tokens;
  Sum sum{device, type, training, element_bytes(element_of(type).value_or("")).value_or(4), {}};
  sum.terms.training = training;
  const std::int64_t size = model.hidden / model.heads;
  AACO_TRY(model.joint_projection ? sum.product(Term::product, 1, rows, 3 * model.hidden, model.hidden, layers)
                                  : sum.product(Term::product, 1, rows, model.hidden, model.hidden, 3 * layers));
  AACO_TRY(sum.product(Term::product, batch * model.heads, tokens, tokens, size, layers));
  AACO_TRY(sum.product(Term::product, batch * model.heads, tokens, size, tokens, layers));
  AACO_TRY(sum.product(Term::product, 1, rows, model.hidden, model.hidden, layers));
  AACO_TRY(sum.product(Term::product, 1, rows, model.inner, model.hidden, layers));
  AACO_TRY(sum.product(Term::product, 1, rows, model.hidden, model.inner, layers));
  if (model.head) {
    const Term term = model.vocabulary >= kWideColumns ? Term::wide : Term::product;
    AACO_TRY(sum.product(term, 1, rows, model.vocabulary, model.hidden, 1));
  }
  const double across = static_cast<double>(rows) * static_cast<double>(model.hidden);
  const double scores = static_cast<double>(batch * model.heads) * static_cast<double>(tokens) * static_cast<double>(tokens);
  sum.step(across, 2, 3 * layers);  // two normalisations, and the heads brought together
  sum.step(across, 3, 2 * layers);  // two sums with the residual stream
  sum.step(scores, 2, static_cast<double>(1 + model.score_steps) * layers);
  sum.step(static_cast<double>(rows) * static_cast<double>(model.inner), 2, static_cast<double>(model.activation_steps) * layers);
  if (training) sum.terms[Term::update] = model.parameters() * sum.element / device.memory_bytes_per_s;
  return sum.terms;
}

}  // namespace aaco::estimation
