// Compiles kernels' texts for the host, by the compiler that gt was built with,
// into shared objects that are kept for the next run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gt::twin {

using Header = std::pair<std::string, std::string>;  // name, text

// The path of a shared object in which each kernel of the text is a function of
// its name, void(const Args*). `headers` are what the text includes, apart from
// target.cuh. Empty if the compiler rejects it; then `log` has its words.
std::string compile(const std::vector<Header>& headers, std::string_view text,
                    std::string& log);

}  // namespace gt::twin
