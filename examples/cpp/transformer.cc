// The character-level transformer of examples/transformer, which says what each
// setting is: this program writes the same lines but for the names of
// registers.
//
//   transformer text=text.npy length=684768 [NAME=VALUE ...]
#include <gt/nn.h>
#include <gt/optim.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace nn = gt::nn;
using gt::Range;
using gt::Tensor;

namespace {

struct Settings {
  std::string text = "text.npy";
  std::map<std::string, double> of = {
      {"length", 684768}, {"held", 65536},     {"vocab", 128},  {"layers", 4},
      {"width", 128},     {"heads", 4},        {"context", 64}, {"batch", 32},
      {"steps", 2000},    {"rate", 2e-3},      {"warmup", 50},  {"decay", 0.1},
      {"clip", 1},        {"dropout", 0},      {"fused", 1},    {"rounds", 10},
      {"sample", 400},    {"temperature", 0.7}};

  bool set(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos) return false;
    if (name == "text") return text = word.substr(equals + 1), true;
    const auto found = of.find(name);
    if (found == of.end()) return false;
    found->second = std::atof(word.c_str() + equals + 1);
    return true;
  }
  double number(const char* name) const { return of.at(name); }
  int64_t operator[](const char* name) const {
    return static_cast<int64_t>(of.at(name));
  }
};

class Model : public nn::Module {
 public:
  explicit Model(const Settings& s)
      : table(this, "table", s["vocab"], s["width"],
              {.init = nn::init::normal(0.02)}),
        norm(this, "norm", s["width"]),
        blocks(this, "blocks") {
    // What adds to the residuals begins smaller, the more layers there are.
    const nn::Init out =
        nn::init::kaiming_normal(1 / std::sqrt(2 * s["layers"]));
    nn::TransformerBlockOptions options;
    options.attention.heads = s["heads"];
    options.attention.fused = s["fused"] == 1;
    options.attention.out_init = out;
    options.mlp.out_init = out;
    options.dropout = s.number("dropout");
    for (int64_t i = 0; i < s["layers"]; ++i) blocks.add(s["width"], options);
  }
  // Logits from characters.
  Tensor operator()(const Tensor& characters) const {
    Tensor x;
    {
      const gt::Signal signal("table");
      x = table(characters);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      const gt::Signal signal("layer" + std::to_string(i));
      x = blocks[i](std::move(x));
    }
    const gt::Signal last("last");
    {
      const gt::Signal signal("norm");
      x = norm(x);
    }
    return table.logits(x);
  }
  // Those with so many dimensions: matrices, or what norms multiply with.
  std::vector<Tensor> weights(int64_t rank) const {
    std::vector<Tensor> out;
    for (const Tensor& w : parameters()) {
      if (w.rank() == rank) out.push_back(w);
    }
    return out;
  }

  nn::Embedding table;
  nn::RMSNorm norm;
  nn::ModuleList<nn::TransformerBlock> blocks;
};

// The text, and windows of it: what is seen, and what comes next.
class Text {
 public:
  explicit Text(const Settings& s)
      : all(gt::load(s.text, gt::u8(s["length"]))),
        batch_(s["batch"]),
        context_(s["context"]),
        window_(gt::arange(gt::i64(context_ + 1))) {}
  // Those that begin at start, i64[batch,1].
  std::pair<Tensor, Tensor> windows(const Tensor& start) const {
    const Tensor at = (start + window_).reshape({batch_ * (context_ + 1)});
    const Tensor found =
        all.gather(at).cast(gt::i64).reshape({batch_, context_ + 1});
    const gt::Signal signal("batch");
    Tensor seen = found(gt::_, Range::to(-1));
    return {seen, found(gt::_, Range::from(1))};
  }
  const Tensor all;

 private:
  int64_t batch_, context_;
  Tensor window_;
};

// The entropy of a character that is known by its frequency alone.
Tensor entropy(const Text& text, const Settings& s) {
  const Tensor i = text.all.cast(gt::i64);
  const Tensor none = gt::zeros({s["vocab"]});
  const Tensor count = none.scatter_add(i, gt::ones({s["length"]}));
  const Tensor p = count / s["length"];
  return -(p * log(maximum(p, 1e-30))).sum();
}

void train(const Model& model, const std::vector<Tensor>& weights,
           gt::optim::AdamW& optimizer, const Text& text, const Settings& s) {
  const int64_t last = s["length"] - s["held"] - s["context"];
  const Tensor start = (gt::rand({s["batch"], 1}) * last).cast(gt::i64);
  const auto [seen, next] = text.windows(start);
  const Tensor loss = gt::cross_entropy(model(seen), next);
  const std::vector<Tensor> gradients = gt::grad(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    Tensor(weights[i]).set_grad(gradients[i]);
  }
  optimizer.clip_grad_norm(s.number("clip"));
  optimizer.step();
  optimizer.zero_grad();
  loss.print("loss");
}

// The loss on the held-out text, window after window.
Tensor evaluate(const Model& model, const Text& text, const Settings& s) {
  const int64_t rows = s["batch"], context = s["context"];
  const int64_t count = (s["held"] - 1) / (rows * context);
  Tensor at = gt::tensor(s["length"] - s["held"]);
  Tensor total = gt::tensor(0.0F);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor start = gt::arange(gt::i64(rows), at, context);
    const auto [seen, next] = text.windows(start.reshape({rows, 1}));
    total += gt::cross_entropy(model(seen), next).detach();
    at += rows * context;
  }
  return total / count;
}

// Writes on from the beginning of the held-out text: a character is drawn by
// adding Gumbel noise to the logits and taking the largest.
void write(const Model& model, const Text& text, const Settings& s) {
  const int64_t context = s["context"], begin = s["length"] - s["held"];
  Tensor w = text.all({begin, begin + context}).cast(gt::i64);
  w.print("prompt");
  w = w.reshape({1, context});
  for (int64_t i = 0; i < s["sample"]; ++i) {
    const Tensor z = model(w)(0, context - 1) / s.number("temperature");
    const Tensor noise = log(-log(gt::rand({s["vocab"]})));
    const Tensor c = (z - noise).argmax();
    c.print("character");
    const Tensor next = c.reshape({1, 1});
    w = gt::concat({w(gt::_, Range::from(1)), next}, {.axis = 1});
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; ++i) {
    if (s.set(argv[i])) continue;
    std::cerr << "transformer: nothing to set: '" << argv[i] << "'\n";
    return 2;
  }
  for (const char* name :
       {"vocab", "layers", "width", "heads", "context", "batch", "rounds"}) {
    if (s[name] > 0) continue;
    std::cerr << "transformer: " << name << "= is no number above 0\n";
    return 2;
  }
  if (s["held"] <= s["batch"] * s["context"] ||
      s["length"] <= s["held"] + s["context"]) {
    std::cerr << "transformer: held= must be above batch times context, and "
                 "length= above held and context together\n";
    return 2;
  }
  const auto rate = gt::optim::cosine(
      s.number("rate"), std::max<int64_t>(s["steps"] - s["warmup"], 1), 0.1);
  Model model(s);
  const auto matrices = model.weights(2), norms = model.weights(1);
  gt::optim::AdamW optimizer(matrices, rate.warmup(s["warmup"]),
                             {.beta2 = 0.99, .decay = s.number("decay")});
  optimizer.add(norms, {.beta2 = 0.99, .decay = 0});
  std::vector<Tensor> weights = matrices;
  weights.insert(weights.end(), norms.begin(), norms.end());

  const Text text(s);
  const Tensor known = entropy(text, s);
  known.print("entropy");
  Tensor held;
  for (int64_t r = 1; r <= s["rounds"]; ++r) {
    model.train();
    for (int64_t i = s["steps"] * (r - 1) / s["rounds"];
         i < s["steps"] * r / s["rounds"]; ++i) {
      train(model, weights, optimizer, text, s);
    }
    model.eval();
    held = evaluate(model, text, s);
    held.print("held");
  }
  write(model, text, s);
  (held / known).print("ratio");
}
