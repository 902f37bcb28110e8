#!/usr/bin/env bats
# Calls of PyTorch, NumPy and JAX typed as lines, and the message that each gets.

load helper

# advised FILE: each line of FILE is "LINE  =>  WORDS"; a program that ends with
# LINE gets a message with these WORDS.
advised() {
  local line words message failed=0
  while IFS= read -r line; do
    words=${line#*  =>  }
    line=${line%%  =>  *}
    message=$({
      printf '%s\n' 'x = ones f32[2,3]' 'm = ones bool[2,3]' \
        'i = zeros i64[2,3]' 't = zeros i64[2]' 's = ones f32[2,3]' "$line"
    } | gt-emit 2>&1 >/dev/null | head -1) || true
    [[ $message == *"$words"* ]] && continue
    printf 'line:  %s\nsays:  %s\nlacks: %s\n' "$line" "$message" "$words" >&2
    failed=1
  done <"$1"
  return $failed
}

@test "numbers among the operands where a key is meant" {
  cat >calls <<'CALLS'
y = transpose x 0 1  =>  numbers stand in a key: axes= (order of the dimensions); usage: y = transpose x [axes=]
y = sum x 0  =>  numbers stand in a key: axis=0
y = sum x 0 1  =>  numbers stand in a key: axis=0,1
y = softmax x -1  =>  numbers stand in a key: axis=-1
y = cumsum x 0  =>  numbers stand in a key: axis=0
y = unsqueeze x 0  =>  numbers stand in a key: axis=0
y = reshape x -1 2  =>  numbers stand in a key: shape=-1,2
y = expand x 2 2 3  =>  numbers stand in a key: shape=2,2,3
v i = topk x 2  =>  numbers stand in a key: size=2
y = one_hot t 10  =>  numbers stand in a key: num_classes=10
y = gather x 1 i  =>  numbers stand in a key: axis=1
y = concat x x 0  =>  numbers stand in a key: axis=0
y = stack x x 0  =>  numbers stand in a key: axis=0
a b = split x 2  =>  axis= (dimensions, negative from the end) or sizes= (length of each piece)
y = norm x 2  =>  or ord= (order of the norm)
y = reshape x 2,3  =>  a list stands in a key, as in shape=2,3
y = zeros [2,3]  =>  sizes in a type, as in f32[2,3]
y = zeros (2,3)  =>  sizes in a type, as in f32[2,3]
y = zeros 2 3  =>  the type is missing, such as f32[2,3]
y = zeros shape=2,3  =>  the type is missing, such as f32[2,3]
y = matmul x 2  =>  expected a tensor's name, got number 2
CALLS
  advised calls
}

@test "keys by the names that other libraries have, and operands as keys" {
  cat >calls <<'CALLS'
v i = topk x k=2  =>  did you mean 'size' (length of the piece)?
y = var x ddof=1  =>  did you mean 'correction' (var divides by n - correction)?
y = var x unbiased=false  =>  did you mean 'correction'
y = flip x dims=0  =>  did you mean 'axis'
y = norm x p=1  =>  did you mean 'ord'
y = pad x pad=1,1  =>  did you mean 'width'
y = clamp x min=0 max=1  =>  min is an operand, not a key: its value alone stands in its place; usage: y = clamp x min max
y = clamp x min=0  =>  did you mean 'maximum' (torch.clamp with min alone) or 'minimum' (torch.clamp with max alone)?
y = dropout x p=0.5  =>  p is an operand, not a key
y = cast x dtype=f32  =>  dtype is an operand, not a key
x = sgd x s lr=0.1  =>  lr is an operand, not a key
y = randn f32[2] seed=1  =>  seed is an operand, not a key
y = cross_entropy x t weight=s  =>  weight is an operand, not a key
y = max x s  =>  did you mean 'maximum' (torch.max of two tensors)?
y = min x s  =>  did you mean 'minimum' (torch.min of two tensors)?
y = clip x 0 1  =>  clamp bounds each element of one tensor
y = neg x x  =>  neg: takes 1 operand, got 2; usage: y = neg x
CALLS
  advised calls
}

@test "ops by the names that other libraries have, and what they are made of" {
  cat >calls <<'CALLS'
y = masked_fill x m 0  =>  did you mean 'where' (where m value x is torch.masked_fill)?
y = masked_fill_ x m 0  =>  did you mean 'where'
y = flatten x  =>  did you mean 'reshape' (with shape=-1 torch.flatten, torch.ravel)?
y = hstack x x  =>  did you mean 'concat' (with axis=1 torch.hstack)?
y = tile x 2  =>  did you mean 'concat'
y = roll x 1  =>  did you mean 'concat' (of two slices it is torch.roll)?
y = repeat_interleave x 2  =>  did you mean 'expand'
y = index_add x i s  =>  did you mean 'scatter_add'
y = tril x  =>  did you mean 'where'
y = linspace 0 1 10  =>  did you mean 'arange'
y = randint f32[2] 0 10  =>  did you mean 'rand' (times n and cast to i64 it is torch.randint)?
y = zeros_like x  =>  did you mean 'zeros'
y = empty f32[2]  =>  did you mean 'zeros'
y = array 1 2  =>  did you mean 'tensor' (numpy.array)?
y = float x  =>  did you mean 'cast' (torch.Tensor.float)?
y = item x  =>  did you mean 'print'
y = clone x  =>  did you mean 'copy' (torch.clone)?
y = multiply x x  =>  did you mean 'mul' (torch.multiply)?
y = subtract x x  =>  did you mean 'sub'
y = true_divide x x  =>  did you mean 'div'
y = square x  =>  did you mean 'mul' (x by itself is torch.square)?
y = reciprocal x  =>  did you mean 'div' (1 by x is torch.reciprocal)?
y = power x 2  =>  did you mean 'pow'
y = einsum x x  =>  did you mean 'matmul'
y = dot x x  =>  did you mean 'mul' (of vectors, then sum, it is torch.dot
y = vdot x x  =>  did you mean 'mul' (of vectors, then sum, it is torch.dot
y = mv x x  =>  did you mean 'matmul' (of x and unsqueeze v axis=1, then squeeze axis=1, it is torch.mv)?
y = outer x x  =>  did you mean 'matmul' (of [n,1] and [1,m] it is torch.outer)?
y = t x  =>  did you mean 'transpose'
y = greater_equal x 0  =>  did you mean 'ge'
y = isnan x  =>  did you mean 'ne' (of x and x it is torch.isnan)?
y = median x  =>  did you mean 'sort'
y = log2 x  =>  did you mean 'log'
y = logsigmoid x  =>  did you mean 'softplus'
y = leaky_relu x 0.1  =>  did you mean 'maximum'
y = swish x  =>  did you mean 'silu'
y = conv1d x x  =>  did you mean 'conv2d' (of images of height 1, torch.nn.functional.conv1d)?
y = unfold x 0 2 1  =>  did you mean 'windows'
y = adaptive_avg_pool2d x 1  =>  did you mean 'mean'
y = batch_norm x  =>  did you mean 'mean'
y = nll_loss x t  =>  did you mean 'cross_entropy'
w m v = adam x s m v t 0.1  =>  did you mean 'adamw' (with decay=0 torch.optim.Adam)?
w = SGD x s 0.1  =>  did you mean 'sgd' (torch.optim.SGD)?
y = clip_grad_norm x 1  =>  did you mean 'clip'
backward x  =>  did you mean 'grad' (torch.Tensor.backward)?
y = select x 0 1  =>  did you mean 'slice'
y = bincount x  =>  did you mean 'one_hot'
y = smooth_l1_loss x s  =>  did you mean 'huber' (divided by delta=, torch.nn.functional.smooth_l1_loss
y = HuberLoss x s  =>  did you mean 'huber' (torch.nn.HuberLoss)?
y = kl_div x s  =>  did you mean 'mul' (of p and log p less x, for p above 0, it is torch.nn.functional.kl_div)?
y = glu x  =>  did you mean 'sigmoid' (of half of x, times the other half, torch.nn.functional.glu)?
y = bilinear x s x  =>  did you mean 'matmul' (x by w, and that by y, is torch.nn.functional.bilinear)?
y = interpolate x  =>  did you mean 'expand'
y = F.upsample x  =>  did you mean 'expand'
y = lerp x s 0.5  =>  did you mean 'add' (of a and the product of b - a and w it is torch.lerp)?
y = std_mean x  =>  did you mean 'std' (with mean it is torch.std_mean)?
y = multinomial x  =>  did you mean 'argmax'
y = arctan2 x s  =>  did you mean 'atan2' (torch.atan2, torch.arctan2)?
y = asin x  =>  did you mean 'atan2' (of x and sqrt of (1 - x) (1 + x) it is torch.asin
y = ConvTranspose2d x s  =>  did you mean 'conv_transpose2d' (torch.nn.ConvTranspose2d)?
CALLS
  advised calls
}

@test "expressions, methods and modules" {
  cat >calls <<'CALLS'
y = x + 1  =>  an op is a word before its operands, as in y = add a b
y = x * 2  =>  an op is a word before its operands, as in y = mul a b
x += 1  =>  an op is a word before its operands, as in y = add a b
y = -x  =>  the op for -x is neg
y = concat [x, x]  =>  operands stand one after another, without brackets or commas, as in y = concat a b
y = x[0]  =>  a part of a tensor is taken by slice, as in y = slice x 0 2:5
y = sum(x)  =>  an op and its operands are words, as in y = sum x axis=0
y = 1.5  =>  numbers are written as in x = tensor f32[2] 1 2
y = f32[2] 1 2  =>  numbers are written as in x = tensor f32[2] 1 2
y = np.sum x  =>  did you mean 'sum'
y = np.concatenate x x  =>  did you mean 'concat' (torch.cat, torch.concatenate)?
y = F.relu x  =>  did you mean 'relu'
y = nn.Linear x x  =>  did you mean 'linear'
y = x.T  =>  did you mean 'transpose'
y = layer.w  =>  a second name for a value is made by copy: y = copy layer.w
CALLS
  advised calls
}
