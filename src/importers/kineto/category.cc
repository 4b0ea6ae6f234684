#include "importers/kineto/category.h"

#include <array>
#include <cstddef>
#include <utility>

namespace aaco::importers::kineto {
namespace {

// The 2021 names are capitalised and without their prefix ("Kernel", "Memcpy", "Operator", "Runtime", "async").
constexpr std::array<std::pair<std::string_view, Category>, 41> kCategories = {{
    {"kernel", Category::kernel},
    {"cpu_op", Category::operation},
    {"cuda_runtime", Category::runtime},
    {"ac2g", Category::flow},
    {"python_function", Category::python},
    {"user_annotation", Category::annotation},
    {"gpu_memcpy", Category::copy},
    {"gpu_memset", Category::memset},
    {"gpu_user_annotation", Category::gpu_annotation},
    {"cuda_driver", Category::driver},
    {"cuda_sync", Category::synchronisation},
    {"overhead", Category::overhead},
    {"fwdbwd", Category::other_flow},
    {"Trace", Category::profiler_span},
    {"Kernel", Category::kernel},
    {"Memcpy", Category::copy},
    {"Memset", Category::memset},
    {"Runtime", Category::runtime},
    {"Operator", Category::operation},
    {"async", Category::flow},
    {"async_cpu_to_gpu", Category::flow},
    {"forward_backward", Category::other_flow},
    {"async_gpu", Category::flow},
    {"gpu_op", Category::kernel},
    {"memcpy", Category::copy},
    {"memset", Category::memset},
    {"hip_runtime", Category::runtime},
    {"runtime", Category::runtime},
    {"cpu_instant_event", Category::other},
    {"privateuse1_runtime", Category::runtime},
    {"privateuse1_driver", Category::driver},
    {"Python", Category::python},
    {"operator", Category::operation},
    // What 'aaco export --format chrome' writes.
    {"hip", Category::runtime},
    {"hsa", Category::runtime},
    {"cuda", Category::runtime},
    {"copy", Category::copy},
    {"annotation", Category::annotation},
    {"python", Category::python},
    {"idle", Category::gpu_annotation},
    {"collective", Category::gpu_annotation},
}};

}  // namespace

Category category_of(std::string_view text) {
  for (const auto& [name, category] : kCategories)
    if (name == text) return category;
  return Category::other;
}

}  // namespace aaco::importers::kineto
