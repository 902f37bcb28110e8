// Compiles texts of kernels for the host, with the compiler that built gt, into
// shared objects that are kept for the next run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gt::twin {

using Header = std::pair<std::string, std::string>;  // name, text

// The path of a shared object in which each kernel of the text is a function of
// its name, void(const Args*). `headers` are what the text includes besides
// target.cuh. It is empty if the compiler rejects the text, and then `log` has
// its words.
std::string compile(const std::vector<Header>& headers, std::string_view text,
                    std::string& log);

}  // namespace gt::twin
