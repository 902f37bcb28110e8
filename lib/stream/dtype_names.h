// What PyTorch and NumPy call the dtypes, for messages.
#pragma once

#include <optional>
#include <string_view>

#include "stream/type.h"

namespace gt {

// The dtype that "float32", "torch.float32", "np.float32", "long" and so on
// stand for; nothing for other words, and for gt's own names.
std::optional<Dtype> dtype_elsewhere(std::string_view word);

}  // namespace gt
