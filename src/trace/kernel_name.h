#pragma once

#include <string>
#include <string_view>

namespace aaco::trace {

// What tells a GPU kernel from others of its kind, of a demangled C++ signature: the function's own name with its template
// arguments, without return type, parameters, namespaces and lambdas.
//   "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, float)"
//   is "vectorized_elementwise_kernel<4, FillFunctor<float>, Array<char*, 1>>".
// A mangled name ("_ZN5aiter...") is read first. What is no such signature, or whose brackets do not match, comes back as it is.
// Two kernels may get one short name.
std::string short_kernel_name(std::string_view name);

}  // namespace aaco::trace
