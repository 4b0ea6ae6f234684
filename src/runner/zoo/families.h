#pragma once

#include "runner/zoo/builder.h"

// The networks of the zoo, one function a structure. Parameters are within the ranges their Entry declares.
namespace aaco::runner::zoo {

core::Result<Blueprint> build_resnet18(const Entry& entry, const Config& config);
core::Result<Blueprint> build_resnet34(const Entry& entry, const Config& config);
core::Result<Blueprint> build_resnet50(const Entry& entry, const Config& config);
core::Result<Blueprint> build_resnet101(const Entry& entry, const Config& config);
core::Result<Blueprint> build_resnet152(const Entry& entry, const Config& config);
core::Result<Blueprint> build_mobilenetv2(const Entry& entry, const Config& config);
core::Result<Blueprint> build_mobilenetv3_large(const Entry& entry, const Config& config);
core::Result<Blueprint> build_mobilenetv3_small(const Entry& entry, const Config& config);
core::Result<Blueprint> build_squeezenet10(const Entry& entry, const Config& config);
core::Result<Blueprint> build_squeezenet11(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vgg16(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vgg11(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vgg13(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vgg19(const Entry& entry, const Config& config);
core::Result<Blueprint> build_densenet121(const Entry& entry, const Config& config);
core::Result<Blueprint> build_efficientnet_b0(const Entry& entry, const Config& config);
core::Result<Blueprint> build_efficientnet_b1(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vit_b16(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vit_b32(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vit_l16(const Entry& entry, const Config& config);
core::Result<Blueprint> build_vit_l32(const Entry& entry, const Config& config);
core::Result<Blueprint> build_bert(const Entry& entry, const Config& config);
core::Result<Blueprint> build_distilbert(const Entry& entry, const Config& config);
core::Result<Blueprint> build_gpt2(const Entry& entry, const Config& config);
core::Result<Blueprint> build_llama(const Entry& entry, const Config& config);
core::Result<Blueprint> build_mlp(const Entry& entry, const Config& config);
core::Result<Blueprint> build_launch_bound(const Entry& entry, const Config& config);
core::Result<Blueprint> build_memory_bound(const Entry& entry, const Config& config);

// An image classifier's input "input" [batch, 3, size, size] and output "output" [batch, classes].
TensorId image_input(Builder& b, const Entry& entry, const Config& config);
Blueprint finish_classifier(Builder&& b, TensorId logits, std::int64_t classes);

}  // namespace aaco::runner::zoo
