#include "estimation/models.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/files.h"
#include "core/random.h"
#include "tests/support/source_dir.h"

namespace aaco::estimation {
namespace {

using testing::HasSubstr;

DeviceFacts device() {
  DeviceFacts facts;
  facts.id = "made";
  facts.vendor = "amd";
  facts.flops_per_s = {{"fp32", 40e12}};
  facts.memory_bytes_per_s = 1e12;
  facts.compute_units = 100;
  return facts;
}

// A machine of known coefficients, with 3 % of noise.
std::vector<ModelSample> samples(std::array<double, kTerms> truth, std::uint64_t seed = 1) {
  core::Random random(seed);
  std::vector<ModelSample> rows;
  for (int model = 0; model < 8; ++model)
    for (int batch = 1; batch <= 4; ++batch) {
      ModelSample one;
      one.model = "m" + std::to_string(model);
      one.device = "made";
      one.group = "inference fp32";
      for (const Term term : {Term::product, Term::wide, Term::moved}) one.terms[term] = (0.2 + random.uniform()) * batch;
      double seconds = 0;
      for (std::size_t i = 0; i < kTerms; ++i) seconds += truth[i] * one.terms.seconds[i];
      one.seconds = seconds * std::exp(0.03 * random.normal());
      rows.push_back(std::move(one));
    }
  return rows;
}

std::array<double, kTerms> coefficients(double product, double wide, double moved) {
  std::array<double, kTerms> values{};
  values.fill(1);
  values[static_cast<std::size_t>(Term::product)] = product;
  values[static_cast<std::size_t>(Term::wide)] = wide;
  values[static_cast<std::size_t>(Term::moved)] = moved;
  return values;
}
const std::array<double, kTerms> kUsual = coefficients(1.5, 3.5, 1.35);
const std::array<double, kTerms> kTruth = coefficients(2, 5, 1);

double coefficient(const ModelFit& fit, Term term) { return fit.coefficients[static_cast<std::size_t>(term)]; }

TEST(ModelFit, RecoversTrueCoefficients) {
  const auto fit = fit_models(samples(kTruth), kUsual);
  ASSERT_TRUE(fit) << fit.error().text();
  const double factor = fit->devices.at("made");
  EXPECT_NEAR(coefficient(*fit, Term::product) * factor, 2, 0.3);
  EXPECT_NEAR(coefficient(*fit, Term::wide) * factor, 5, 0.5);
  EXPECT_NEAR(coefficient(*fit, Term::moved) * factor, 1, 0.3);
  EXPECT_LT(fit->quality.mean_error, 0.05);
  EXPECT_EQ(fit->quality.sites, 8);
}

TEST(ModelFit, OneOddRowMovesLittle) {
  auto rows = samples(kTruth);
  const auto plain = fit_models(rows, kUsual);
  rows[3].seconds *= 3;
  const auto odd = fit_models(rows, kUsual);
  ASSERT_TRUE(plain && odd);
  EXPECT_NEAR(estimate_model(*odd, rows[8].terms, "made").seconds / estimate_model(*plain, rows[8].terms, "made").seconds, 1,
              0.05);
}

TEST(ModelFit, BoundsHoldMostModelsNotSeen) {
  int inside = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto rows = samples(kTruth, seed);
    std::vector<ModelSample> seen, held;
    for (const ModelSample& row : rows) (row.model == "m0" ? held : seen).push_back(row);
    const auto fit = fit_models(seen, kUsual);
    ASSERT_TRUE(fit);
    for (const ModelSample& row : held) {
      const auto made = estimate_model(*fit, row.terms, row.device);
      inside += made.lower <= row.seconds && row.seconds <= made.upper ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(inside, 0.8 * all);
}

TEST(ModelFit, UnseenDeviceHasNoFactor) {
  const auto rows = samples(kTruth);
  const auto fit = fit_models(rows, kUsual);
  ASSERT_TRUE(fit);
  const double ratio = estimate_model(*fit, rows[0].terms, "made").seconds / estimate_model(*fit, rows[0].terms, "other").seconds;
  EXPECT_NEAR(ratio, fit->devices.at("made"), 1e-12);
}

TEST(ModelFit, OneModelAloneHasWideBounds) {
  const auto rows = samples(kTruth);
  const auto fit = fit_models(std::span(rows).first(4), kUsual);
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->high, 0.5);
}

TEST(ModelFit, RefusesEmptyInputAndModelsWithoutWork) {
  EXPECT_EQ(fit_models({}, kUsual).error().code, core::ErrorCode::invalid_input);
  auto rows = samples(kTruth);
  rows[1].terms = {};
  EXPECT_THAT(fit_models(rows, kUsual).error().message, HasSubstr("no operations"));
  rows = samples(kTruth);
  rows[1].seconds = 0;
  EXPECT_FALSE(fit_models(rows, kUsual));
}

std::vector<Transformer> shipped() {
  auto loaded = load_transformers(AACO_SOURCE_DIR "/data/architectures/transformers.yaml");
  EXPECT_TRUE(loaded) << loaded.error().text();
  return loaded.value_or(std::vector<Transformer>{});
}

TEST(TransformerTerms, TotalsAreSumsOverLayers) {
  Transformer one;
  one.name = "one";
  one.layers = 2;
  one.hidden = 256;
  one.heads = 4;
  one.inner = 1024;
  one.vocabulary = 50'000;
  one.head = true;
  one.score_steps = 1;
  const auto terms = terms_of(one, 8, 512, false, "fp32", device());
  ASSERT_TRUE(terms) << terms.error().text();
  const double rows = 8 * 512;
  EXPECT_NEAR((*terms)[Term::wide], 2 * rows * 50'000 * 256 / 40e12, 0.5 * (*terms)[Term::wide]);
  const double dense = 2 * (2 * rows * 256 * (4 * 256 + 2 * 1024)) / 40e12;
  EXPECT_GT((*terms)[Term::product], dense);
  const double scores = 8.0 * 4 * 512 * 512, across = rows * 256, inner = rows * 1024;
  EXPECT_NEAR((*terms)[Term::moved], 2 * 4 * (scores * 4 + across * 12 + inner * 2) / 1e12, 1e-12);
  EXPECT_EQ((*terms)[Term::update], 0);
}

TEST(TransformerTerms, TrainingIsThreePassesAndAnUpdate) {
  const auto known = shipped();
  ASSERT_FALSE(known.empty());
  const auto forward = terms_of(known[1], 8, 512, false, "fp32", device());
  const auto both = terms_of(known[1], 8, 512, true, "fp32", device());
  ASSERT_TRUE(forward && both);
  EXPECT_NEAR((*both)[Term::product] / (*forward)[Term::product], 3, 1e-9);
  EXPECT_NEAR((*both)[Term::update], known[1].parameters() * 4 / 1e12, 1e-12);
  EXPECT_TRUE(both->training);
}

// Published parameter counts in millions, embeddings of positions and biases aside.
TEST(TransformerTerms, SizesGiveThePublishedParameters) {
  const std::map<std::string, double> published = {{"bert_large", 335}, {"gpt2", 124},     {"gpt2_large", 774}, {"gpt2_xl", 1558},
                                                   {"opt_13", 1316},    {"gpt3_27", 2650}, {"gpt3_13", 12850}};
  for (const Transformer& one : shipped()) {
    const auto found = published.find(one.name);
    if (found == published.end()) continue;
    EXPECT_NEAR(one.parameters() / 1e6 / found->second, 1, 0.02) << one.name;
  }
}

TEST(TransformerTerms, RefuseTypesWithoutAPeakAndEmptyBatches) {
  const auto known = shipped();
  ASSERT_FALSE(known.empty());
  EXPECT_EQ(terms_of(known[0], 1, 128, false, "fp16", device()).error().code, core::ErrorCode::unsupported);
  EXPECT_EQ(terms_of(known[0], 0, 128, false, "fp32", device()).error().code, core::ErrorCode::invalid_argument);
}

double part(const ModelTerms& terms, MemoryTerm term) { return terms.seconds[static_cast<std::size_t>(term)]; }

TEST(MemoryTerms, WeightsByWhatReadsThemAndEachOnce) {
  graph::Graph graph;
  graph.nodes.resize(3);
  graph::GraphCost cost;
  for (const graph::OperatorClass kind :
       {graph::OperatorClass::convolution, graph::OperatorClass::gemm, graph::OperatorClass::gemm}) {
    graph::CostedNode node;
    node.node = &graph.nodes[cost.nodes.size()];
    node.cost.kind = kind;
    node.cost.weight_bytes = 100;
    cost.nodes.push_back(node);
  }
  cost.weight_bytes = 250;  // the products share 50
  MemoryEstimate memory;
  memory.activation_bytes = 70;
  memory.kv_cache_bytes = 30;
  const ModelTerms terms = memory_terms_of(cost, memory, 3);
  EXPECT_EQ(part(terms, MemoryTerm::convolution_weights), 100);
  EXPECT_EQ(part(terms, MemoryTerm::product_weights), 150);
  EXPECT_EQ(part(terms, MemoryTerm::other_weights), 0);
  EXPECT_EQ(part(terms, MemoryTerm::activations), 40);
  EXPECT_EQ(part(terms, MemoryTerm::cache), 30);
  EXPECT_EQ(part(terms, MemoryTerm::nodes), 3000);
}

std::string refusal(const std::string& text) {
  const auto folder = core::TemporaryDirectory::make("/tmp");
  const std::string path = core::join_path(folder->path(), "made.yaml");
  EXPECT_TRUE(core::write_file_atomic(path, text));
  const auto loaded = load_transformers(path);
  return loaded ? "" : loaded.error().message;
}

constexpr const char* kHead = "schema_version: 1\nsource: made\ntransformers:\n";

TEST(Transformers, RefuseInvalidInputWithLineNumber) {
  const std::string rest = "vocabulary: 10, score_steps: 1, activation_steps: 1}\n";
  EXPECT_THAT(refusal(std::string(kHead) + "  - {name: a, layers: 0, hidden: 8, heads: 2, inner: 8, " + rest),
              HasSubstr("made.yaml:4: layers"));
  EXPECT_THAT(refusal(std::string(kHead) + "  - {name: a, layers: 1, hidden: 8, heads: 3, inner: 8, " + rest),
              HasSubstr("not a multiple"));
  EXPECT_THAT(refusal(std::string(kHead) + "  - {name: a, layer: 1, " + rest), HasSubstr("layer"));
  EXPECT_THAT(refusal("schema_version: 2\nsource: a\ntransformers: []\n"), HasSubstr("schema_version 2"));
  EXPECT_THAT(refusal("schema_version: 1\nsource: a\n"), HasSubstr("transformers"));
}

}  // namespace
}  // namespace aaco::estimation
