#pragma once

#include <map>
#include <set>
#include <string_view>

namespace aaco::analytics::tracediff {

// Names of `b` that are a kernel of `a` written another way: a profiler writes template arguments and parameters or leaves them
// out ("laplacian_kernel" and "void laplacian_kernel<double>(double*, int)"). Only of names that the other side lacks, where
// one of the two is bare and no other name of either side has the same function. By the name in `b`; views of the arguments.
std::map<std::string_view, std::string_view> written_otherwise(const std::set<std::string_view>& a,
                                                               const std::set<std::string_view>& b);

}  // namespace aaco::analytics::tracediff
