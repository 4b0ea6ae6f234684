#include "runner/decoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/files.h"
#include "graph/onnx.h"
#include "runner/ort_runtime.h"
#include "runner/zoo.h"

// Decoders with a cache, in each layout, against the same weights without one: the logits of the last position must be equal
// however the tokens were fed.
namespace aaco::runner::llm {
namespace {

constexpr std::int64_t kPrompt = 6, kDecoded = 5;

std::shared_ptr<ort::Runtime> opened_runtime() {
  const core::Environment environment = core::Environment::of_process();
  const auto opened = ort::Runtime::open({"", environment, core::Paths::find(environment, core::executable_path())});
  return opened ? *opened : nullptr;
}

struct Model {
  graph::Graph graph;
  std::unique_ptr<Backend> backend;
};

class Decoders : public testing::TestWithParam<std::tuple<const char*, int, int>> {
 protected:
  void SetUp() override {
    runtime_ = opened_runtime();
    if (runtime_ == nullptr) GTEST_SKIP() << "skipped, no ONNX Runtime library here";
    folder_.emplace(*core::TemporaryDirectory::make(testing::TempDir()));
  }
  Model open(const std::string& text) {
    const auto request = zoo::parse_request(text);
    EXPECT_TRUE(request) << request.error().text();
    const auto path = zoo::make(*request->entry, request->config, 1, folder_->path());
    EXPECT_TRUE(path) << path.error().text();
    Model model{*graph::onnx::load(*path), nullptr};
    BackendOptions options;
    options.provider = "CPUExecutionProvider";
    auto backend = runtime_->open_model(*path, options);
    EXPECT_TRUE(backend) << backend.error().text();
    model.backend = *std::move(backend);
    return model;
  }
  std::shared_ptr<ort::Runtime> runtime_;
  std::optional<core::TemporaryDirectory> folder_;
};

// The last position's logits of one sequence, from a model without a cache.
std::vector<float> without_cache(Backend& backend, const std::vector<std::int64_t>& tokens) {
  DecoderLayout layout;  // the same inputs, and no pairs
  layout.ids = {"input_ids", ElementType::int64, {}, {}};
  layout.mask = {"attention_mask", ElementType::int64, {}, {}};
  layout.positions = {"position_ids", ElementType::int64, {}, {}};
  layout.logits = "logits";
  Decoder decoder(backend, layout, {});
  const auto step = decoder.feed(tokens);
  EXPECT_TRUE(step) << step.error().text();
  return decoder.last_logits(0).value_or(std::vector<float>());
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b, std::int64_t position) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  float largest = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  EXPECT_LE(largest, 2e-4F * std::max(1.0F, scale)) << "at position " << position;
}

TEST_P(Decoders, CachedLogitsAreThoseWithoutACache) {
  const auto [name, cache, batch] = GetParam();
  Model cached = open(std::string(name) + ",cache=" + std::to_string(cache));
  Model plain = open(std::string(name) + ",cache=0");
  const auto layout = find_decoder_layout(cached.graph);
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->family, cache == 3 ? DecoderLayout::Family::genai : DecoderLayout::Family::optimum);
  EXPECT_FALSE(find_decoder_layout(plain.graph));

  std::vector<std::int64_t> prompt;
  for (std::int64_t i = 0; i < batch * kPrompt; ++i) prompt.push_back((i * 37 + 11) % 500);
  Decoder decoder(*cached.backend, *layout, {batch, kPrompt + kDecoded, cache == 3, 1});
  for (int generation = 0; generation < 2; ++generation) {  // the second starts with what the first left
    decoder.restart();
    std::vector<std::vector<std::int64_t>> sequences;
    for (std::int64_t i = 0; i < batch; ++i)
      sequences.emplace_back(prompt.begin() + i * kPrompt, prompt.begin() + (i + 1) * kPrompt);
    std::vector<std::int64_t> tokens = prompt;
    for (std::int64_t step = 0; step <= kDecoded; ++step) {
      const auto fed = decoder.feed(tokens);
      ASSERT_TRUE(fed) << fed.error().text();
      EXPECT_EQ(decoder.past(), kPrompt + step);
      for (std::int64_t i = 0; i < batch; ++i) {
        auto& sequence = sequences[static_cast<std::size_t>(i)];
        const auto logits = decoder.last_logits(i);
        ASSERT_TRUE(logits) << logits.error().text();
        expect_near(*logits, without_cache(*plain.backend, sequence), decoder.past());
        sequence.push_back(decoder.next()[static_cast<std::size_t>(i)]);
      }
      tokens = decoder.next();
    }
    const std::int64_t held = cache == 3 ? kPrompt + kDecoded : decoder.past();
    EXPECT_EQ(decoder.cache_bytes().value_or(0), layout->cache_bytes(batch, held));
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Decoders,
                         testing::Values(std::tuple("llama-tiny", 1, 2), std::tuple("llama-tiny", 2, 2),
                                         std::tuple("llama-tiny,heads=4,kv_heads=2", 3, 2),
                                         std::tuple("llama-tiny,heads=4,kv_heads=2", 1, 1),
                                         std::tuple("gpt2,layers=1,heads=2", 1, 2), std::tuple("gpt2,layers=1,heads=2", 2, 1)));

TEST(DecoderLimits, PositionsOfTheModelsAreFound) {
  const auto positions = [](const char* text) {
    const auto request = zoo::parse_request(text);
    return find_decoder_layout(zoo::build_graph(*request->entry, request->config)->graph)->max_positions;
  };
  EXPECT_EQ(positions("gpt2,layers=1,heads=1"), 1024);
  EXPECT_EQ(positions("llama-tiny,heads=4,kv_heads=2,cache=3"), 4096);
  EXPECT_FALSE(positions("llama-tiny"));
}

}  // namespace
}  // namespace aaco::runner::llm
