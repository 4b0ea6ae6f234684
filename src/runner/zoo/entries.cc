#include "runner/zoo/cache.h"
#include "runner/zoo/families.h"

// The list of the zoo. Published parameter counts: torchvision's model tables, the models' own cards (Hugging Face), and the
// papers.
namespace aaco::runner::zoo {
namespace {

Parameter classes() { return {"classes", 1000, 1, 1'000'000, "number of classes"}; }
Parameter image_size(std::int64_t value = 224) { return {"size", value, 64, 4096, "image height and width"}; }
Parameter layers(std::int64_t value) { return {"layers", value, 1, 1000, "transformer layers"}; }

void add_convolutional(std::vector<Entry>& all) {
  const std::vector<Parameter> any_size = {classes(), image_size()};
  const auto add = [&](const char* name, const char* title, std::vector<std::string> aliases, std::int64_t parameters,
                       std::vector<Parameter> adjustable, core::Result<Blueprint> (*build)(const Entry&, const Config&)) {
    all.push_back({name, "cnn", std::string(title) + " (torchvision variant)", std::move(aliases), parameters,
                   std::move(adjustable), build});
  };
  add("resnet18", "ResNet-18", {"resnet-18"}, 11'689'512, any_size, build_resnet18);
  add("resnet34", "ResNet-34", {"resnet-34"}, 21'797'672, any_size, build_resnet34);
  add("resnet50", "ResNet-50 v1.5", {"resnet-50"}, 25'557'032, any_size, build_resnet50);
  add("resnet101", "ResNet-101 v1.5", {"resnet-101"}, 44'549'160, any_size, build_resnet101);
  add("resnet152", "ResNet-152 v1.5", {"resnet-152"}, 60'192'808, any_size, build_resnet152);
  add("mobilenetv2", "MobileNetV2 1.0", {"mobilenet-v2", "mobilenet_v2"}, 3'504'872, any_size, build_mobilenetv2);
  add("mobilenetv3-large", "MobileNetV3 large", {"mobilenet-v3-large", "mobilenet_v3_large"}, 5'483'032, any_size,
      build_mobilenetv3_large);
  add("mobilenetv3-small", "MobileNetV3 small", {"mobilenet-v3-small", "mobilenet_v3_small"}, 2'542'856, any_size,
      build_mobilenetv3_small);
  add("efficientnet-b0", "EfficientNet-B0", {"efficientnet_b0", "efficientnetb0"}, 5'288'548, any_size, build_efficientnet_b0);
  add("efficientnet-b1", "EfficientNet-B1", {"efficientnet_b1", "efficientnetb1"}, 7'794'184, {classes(), image_size(240)},
      build_efficientnet_b1);
  add("vgg11", "VGG-11", {"vgg-11"}, 132'863'336, {classes()}, build_vgg11);
  add("vgg13", "VGG-13", {"vgg-13"}, 133'047'848, {classes()}, build_vgg13);
  add("vgg16", "VGG-16", {"vgg-16"}, 138'357'544, {classes()}, build_vgg16);
  add("vgg19", "VGG-19", {"vgg-19"}, 143'667'240, {classes()}, build_vgg19);
  add("squeezenet1.0", "SqueezeNet 1.0", {"squeezenet-1.0", "squeezenet1_0"}, 1'248'424, any_size, build_squeezenet10);
  add("squeezenet1.1", "SqueezeNet 1.1", {"squeezenet", "squeezenet-1.1", "squeezenet1_1"}, 1'235'496, any_size,
      build_squeezenet11);
  add("densenet121", "DenseNet-121", {"densenet", "densenet-121"}, 7'978'856, any_size, build_densenet121);
}

void add_transformers(std::vector<Entry>& all) {
  const auto vision = [&](const char* name, const char* title, std::vector<std::string> aliases, std::int64_t parameters,
                          core::Result<Blueprint> (*build)(const Entry&, const Config&)) {
    all.push_back(
        {name, "transformer", std::string(title) + " (torchvision variant)", std::move(aliases), parameters, {classes()}, build});
  };
  vision("vit-b-16", "ViT-B/16", {"vit", "vit_b_16", "vit-b16"}, 86'567'656, build_vit_b16);
  vision("vit-b-32", "ViT-B/32", {"vit_b_32", "vit-b32"}, 88'224'232, build_vit_b32);
  vision("vit-l-16", "ViT-L/16", {"vit_l_16", "vit-l16"}, 304'326'632, build_vit_l16);
  vision("vit-l-32", "ViT-L/32", {"vit_l_32", "vit-l32"}, 306'535'400, build_vit_l32);
  all.push_back({"bert-base",
                 "transformer",
                 "BERT base, uncased: encoder and pooler",
                 {"bert", "bert-base-uncased"},
                 109'482'240,
                 {layers(12)},
                 build_bert});
  all.push_back({"distilbert",
                 "transformer",
                 "DistilBERT base, uncased: encoder",
                 {"distilbert-base", "distilbert-base-uncased"},
                 66'362'880,
                 {layers(6)},
                 build_distilbert});
}

// Later parameters of decoders: their default does not enter the name of a generated file (make.cc).
Parameter cache_parameter(std::int64_t maximum) {
  return {std::string(kCacheParameter), 1, 0, maximum,
          maximum < 3 ? "key/value cache: 0 none, 1 Optimum, 2 Optimum merged (use_cache_branch)"
                      : "key/value cache: 0 none, 1 Optimum, 2 Optimum merged, 3 ONNX Runtime GenAI (GroupQueryAttention)"};
}

void add_gpt2(std::vector<Entry>& all) {
  struct Size {
    const char* name;
    const char* title;
    std::int64_t layers, heads, parameters;
  };
  for (const Size& size : {Size{"gpt2", "GPT-2 124M with KV cache", 12, 12, 124'439'808},
                           Size{"gpt2-medium", "GPT-2 355M with KV cache", 24, 16, 354'823'168},
                           Size{"gpt2-large", "GPT-2 774M with KV cache", 36, 20, 774'030'080},
                           Size{"gpt2-xl", "GPT-2 1.6B with KV cache", 48, 25, 1'557'611'200}})
    all.push_back({size.name,
                   "decoder",
                   size.title,
                   {},
                   size.parameters,
                   {layers(size.layers), {"heads", size.heads, 1, 256, "attention heads (of size 64)"}, cache_parameter(2)},
                   build_gpt2});
}

void add_llama(std::vector<Entry>& all) {
  struct Size {
    const char* name;
    const char* title;
    std::vector<std::string> aliases;
    std::int64_t layers, hidden, heads, kv_heads, ffn, vocabulary, theta, tied, parameters;
  };
  const std::vector<Size> sizes = {
      {"llama-tiny",
       "Llama-style decoder with 260 thousand parameters",
       {"llama", "tiny-llama"},
       5,
       64,
       8,
       4,
       172,
       512,
       10000,
       1,
       0},
      {"llama-15m", "Llama-style decoder, same shape as stories15M", {}, 6, 288, 6, 6, 768, 32000, 10000, 1, 15'191'712},
      {"llama-110m", "Llama-style decoder, same shape as stories110M", {}, 12, 768, 12, 12, 2048, 32000, 10000, 1, 109'529'856},
      {"tinyllama-1.1b", "TinyLlama 1.1B", {"llama-1b"}, 22, 2048, 32, 4, 5632, 32000, 10000, 0, 1'100'048'384},
      {"llama3.2-1b", "Llama 3.2 1B (without RoPE scaling)", {}, 16, 2048, 32, 8, 8192, 128256, 500000, 1, 1'235'814'400},
      {"mistral-7b", "Mistral 7B (without sliding window)", {}, 32, 4096, 32, 8, 14336, 32000, 10000, 0, 7'241'732'096},
      {"llama2-7b", "Llama 2 7B", {"llama-7b"}, 32, 4096, 32, 32, 11008, 32000, 10000, 0, 6'738'415'616},
      {"llama3-8b", "Llama 3 8B", {"llama-8b"}, 32, 4096, 32, 8, 14336, 128256, 500000, 0, 8'030'261'248},
      {"llama2-13b", "Llama 2 13B", {}, 40, 5120, 40, 40, 13824, 32000, 10000, 0, 13'015'864'320},
      {"llama2-70b", "Llama 2 70B", {}, 80, 8192, 64, 8, 28672, 32000, 10000, 0, 68'976'648'192},
  };
  for (const Size& size : sizes)
    all.push_back({size.name,
                   "decoder",
                   std::string(size.title) + " with KV cache",
                   size.aliases,
                   size.parameters,
                   {layers(size.layers),
                    {"hidden", size.hidden, 2, 65536, "width of the residual stream"},
                    {"heads", size.heads, 1, 1024, "query heads"},
                    {"kv_heads", size.kv_heads, 1, 1024, "key and value heads"},
                    {"ffn", size.ffn, 1, 262144, "width of the feed-forward layers"},
                    {"vocab", size.vocabulary, 1, 1'000'000, "tokens"},
                    {"rope_theta", size.theta, 1, 100'000'000, "base of the rotary embedding (RoPE theta)"},
                    {"tied", size.tied, 0, 1, "1: the output head shares the embedding weights"},
                    cache_parameter(3)},
                   build_llama});
}

void add_synthetic(std::vector<Entry>& all) {
  all.push_back({"mlp",
                 "synthetic",
                 "three fully connected layers, 784-512-512-10",
                 {},
                 0,
                 {{"inputs", 784, 1, 1 << 20, "width of the input"},
                  {"width", 512, 1, 1 << 16, "hidden layer width"},
                  {"layers", 2, 1, 1000, "hidden layers"},
                  {"classes", 10, 1, 1 << 20, "number of classes"}},
                 build_mlp});
  all.push_back({"launch-bound",
                 "synthetic",
                 "chain of thousands of tiny operators (launch-bound)",
                 {"launch_bound"},
                 0,
                 {{"nodes", 4000, 1, 100'000, "operators"}, {"width", 64, 1, 1 << 20, "elements per row"}},
                 build_launch_bound});
  all.push_back({"memory-bound",
                 "synthetic",
                 "element-wise operators on large tensors (memory-bound)",
                 {"memory_bound"},
                 0,
                 {{"rows", 4096, 1, 1 << 20, "tensor rows"},
                  {"columns", 4096, 1, 1 << 20, "tensor columns"},
                  {"layers", 4, 1, 1000, "repetitions of multiply, add and clip"}},
                 build_memory_bound});
}

}  // namespace

const std::vector<Entry>& list() {
  static const std::vector<Entry> kEntries = [] {
    std::vector<Entry> all;
    add_convolutional(all);
    add_transformers(all);
    add_gpt2(all);
    add_llama(all);
    add_synthetic(all);
    return all;
  }();
  return kEntries;
}

}  // namespace aaco::runner::zoo
